"""The command agent of the guide for mini-swe-agent, with the real program."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel

pytestmark = pytest.mark.timeout(600)  # it imports for long

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "agents.md"
WORKFLOW = """
version: 1
name: note
roles:
  writer:
    goal: Write a note
    frontmatter:
      properties: {$status: {const: written}, text: {type: string}}
      required: [$status, text]
graph:
  $START:
    new: {role: writer, prompt: Write.}
    resume: {role: writer, prompt: Write again.}
  writer:
    written: {role: $END, prompt: Done.}
"""
REPLY = "---\\n$status: written\\ntext: for Ada\\n---\\nIt is a note.\\n"
USAGE = {"usage": {"inputTokens": 100, "outputTokens": 7}}


def bash(command):
    return {
        **USAGE,
        "text": "I go on.",
        "toolCalls": [{"name": "bash", "arguments": {"command": command}}],
    }


@pytest.fixture
def place(tmp_path):
    """A project whose agent is the script of the page; the program stands on the PATH."""
    if "UWF_REAL_MINI" not in os.environ:
        pytest.skip("UWF_REAL_MINI names no program")
    (script,) = re.findall(
        r'```python title="mini_agent.py"\n(.*?)```', PAGE.read_text(), re.DOTALL
    )
    (tmp_path / "mini_agent.py").write_text(script)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "mini").symlink_to(os.environ["UWF_REAL_MINI"])
    project = Project(tmp_path / "uwf")
    project.workflow("note", WORKFLOW)
    variables = (
        "MSWEA_MODEL_NAME",
        "OPENAI_API_BASE",
        "OPENAI_API_KEY",
        "LITELLM_LOCAL_MODEL_COST_MAP",
    )
    agent = {
        "command": sys.executable,
        "args": [str(tmp_path / "mini_agent.py")],
        "env": list(variables),
    }
    project.config(json.dumps({"agents": {"mini": agent}}))
    project.env["PATH"] = os.pathsep.join((str(programs), os.environ["PATH"]))
    return project


def run(project, model):
    project.env.update(
        MSWEA_MODEL_NAME="openai/m", OPENAI_API_BASE=model.openai_url, OPENAI_API_KEY="none",
        LITELLM_LOCAL_MODEL_COST_MAP="True",
    )  # fmt: skip
    with project.client(default_agent="mini") as client:
        thread = client.start("note", "To Ada. " * 20_000)["thread"]
        (step,) = client.exec(thread).document["steps"]
        return step, client.step(step["step"])


def test_mini_submits_the_reply_of_a_role(place):
    write = f"printf -- '{REPLY}' > ../reply"
    end = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat ../reply"
    with ScriptedModel([bash(write), bash(end)]) as model:
        _, step = run(place, model)
    assert step["output"] == {"$status": "written", "text": "for Ada"}
    assert step["body"].strip() == "It is a note."
    counted = [step["usage"][name] for name in ("turns", "inputTokens", "outputTokens")]
    assert counted == [2, 200, 14]


def test_mini_without_a_model_is_a_failure(place):
    with ScriptedModel([{"error": {"status": 401, "message": "no such key"}}] * 30) as model:
        step, _ = run(place, model)
    assert step["failure"]["kind"] == "crashed"
