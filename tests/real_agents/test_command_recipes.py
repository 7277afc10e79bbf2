"""The command agents of the guide for mini-swe-agent and aider, with the real programs.

aider is not in each run: `UWF_REAL_MORE=1 nox -s real_agents` installs it.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from note_workflow import NOTE

from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel

pytestmark = pytest.mark.timeout(600)  # it imports for long

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "agents.md"
REPLY = "---\\n$status: written\\ntext: for Ada\\n---\\nIt is a note.\\n"
MODEL = ("OPENAI_API_BASE", "OPENAI_API_KEY", "LITELLM_LOCAL_MODEL_COST_MAP")
USAGE = {"usage": {"inputTokens": 100, "outputTokens": 7}}


def bash(command):
    return {
        **USAGE,
        "text": "I go on.",
        "toolCalls": [{"name": "bash", "arguments": {"command": command}}],
    }


def project_of(tmp_path, program, variable, names):
    """A project whose agent is the script of the page; the program stands on the PATH."""
    if variable not in os.environ:
        pytest.skip(f"{variable} names no program")
    title = f"{program}_agent.py"
    (script,) = re.findall(rf'```python title="{title}"\n(.*?)```', PAGE.read_text(), re.DOTALL)
    (tmp_path / title).write_text(script)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / program).symlink_to(os.environ[variable])
    project = Project(tmp_path / "uwf")
    project.workflow("note", NOTE)
    agent = {"command": sys.executable, "args": [str(tmp_path / title)], "env": names}
    project.config(json.dumps({"agents": {"it": agent}}))
    project.env["PATH"] = os.pathsep.join((str(programs), os.environ["PATH"]))
    return project


def run(project, model, **variables):
    project.env.update(
        variables, OPENAI_API_BASE=model.openai_url, OPENAI_API_KEY="none",
        LITELLM_LOCAL_MODEL_COST_MAP="True",
    )  # fmt: skip
    with project.client(default_agent="it") as client:
        thread = client.start("note", "To Ada. " * 20_000)["thread"]
        (step,) = client.exec(thread).document["steps"]
        return step, client.step(step["step"])


@pytest.fixture
def mini(tmp_path):
    return project_of(tmp_path, "mini", "UWF_REAL_MINI", ["MSWEA_MODEL_NAME", *MODEL])


@pytest.fixture
def aider(tmp_path):
    """It would look for the prices of models, for long where there is no network."""
    project = project_of(tmp_path, "aider", "UWF_REAL_AIDER", ["AIDER_MODEL", *MODEL])
    prices = Path(project.env["HOME"], ".aider/caches/model_prices_and_context_window.json")
    prices.parent.mkdir(parents=True)
    prices.write_text('{"none": {}}')
    return project


def test_mini_submits_the_reply_of_a_role(mini):
    write = f"printf -- '{REPLY}' > ../reply"
    end = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat ../reply"
    with ScriptedModel([bash(write), bash(end)]) as model:
        _, step = run(mini, model, MSWEA_MODEL_NAME="openai/m")
    assert step["output"] == {"$status": "written", "text": "for Ada"}
    assert step["body"].strip() == "It is a note."
    counted = [step["usage"][name] for name in ("turns", "inputTokens", "outputTokens")]
    assert counted == [2, 200, 14]


def test_mini_without_a_model_is_a_failure(mini):
    with ScriptedModel([{"error": {"status": 401, "message": "no such key"}}] * 30) as model:
        step, _ = run(mini, model, MSWEA_MODEL_NAME="openai/m")
    assert step["failure"]["kind"] == "crashed"


def test_aider_edits_files_and_replies(aider):
    """The model mentions a file, so aider adds it and asks again: the last answer is the reply."""
    (aider.folder / "hello.py").write_text("print()\n")
    subprocess.run(["git", "init", "-q"], cwd=aider.folder, check=True)
    subprocess.run(["git", "add", "hello.py"], cwd=aider.folder, check=True)
    first = "I need hello.py."
    last = "---\n$status: written\ntext: for Ada\n---\n# A note\n\nnote.txt\n```\nDear Ada\n```\n"
    with ScriptedModel([{**USAGE, "text": first}, {**USAGE, "text": last}]) as model:
        step, _ = run(aider, model, AIDER_MODEL="openai/m")
        assert "you do not trust" in step["failure"]["message"] and model.requests == []
        assert aider.uwf("config", "trust").exit_code == 0
        _, step = run(aider, model, AIDER_MODEL="openai/m")
    assert step["output"] == {"$status": "written", "text": "for Ada"}
    assert step["body"].strip().startswith("# A note\n\nnote.txt")
    assert (aider.folder / "note.txt").read_text() == "Dear Ada\n"
    counted = [step["usage"][name] for name in ("turns", "inputTokens", "outputTokens")]
    assert counted == [2, 200, 14]


def test_aider_without_a_model_is_a_failure(aider):
    aider.uwf("config", "trust")
    with ScriptedModel([{"error": {"status": 401, "message": "no such key"}}] * 30) as model:
        step, _ = run(aider, model, AIDER_MODEL="openai/m")
    assert step["failure"]["kind"] in ("auth", "bad_request")
    assert "no such key" in step["failure"]["message"]
