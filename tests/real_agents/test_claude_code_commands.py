"""`uwf agent check claude-code` and `uwf-claude-code`, with the real program."""

import json
import os
import subprocess
import sys

import pytest
from claude_code_peer import NEWER, OLDER, QUIET

from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel

KEY = "sk-ant-a-key-that-nobody-sees"


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    (tmp_path / "user").mkdir()
    aliases = {"older": OLDER, "newer": NEWER}
    agents = {
        name: {"use": "claude-code", "options": {"command": os.environ[variable]}}
        for name, variable in aliases.items()
    }
    agents["gone"] = {"use": "claude-code", "options": {"command": "no-such-claude"}}
    made.config(json.dumps({"agents": agents}))
    made.env |= QUIET
    return made


@pytest.mark.parametrize("alias", ["older", "newer"])
def test_check_tells_what_there_is_and_tries_it_on_request(project, alias):
    with ScriptedModel(["ready", "ready"]) as model:
        env = {"ANTHROPIC_BASE_URL": model.anthropic_url, "ANTHROPIC_API_KEY": KEY}
        done = project.uwf("agent", "check", alias, "--trial", env=env)
    assert done.exit_code == 0, done.stdout + done.stderr
    found = {each["name"]: each for each in done.document["checks"]}
    assert {each["state"] for each in found.values()} == {"ok"}
    assert found["program"]["message"].endswith("/claude")
    assert found["version"]["message"] in found["program"]["message"]
    assert "ANTHROPIC_API_KEY" in found["account"]["message"]
    assert found["config folder"]["message"].startswith(str(project.home.parent / "user"))
    assert "answers" in found["trial"]["message"]
    assert KEY not in done.stdout + done.stderr


def test_check_says_that_nobody_is_signed_in(project):
    project.env.pop("ANTHROPIC_API_KEY")
    done = project.uwf("agent", "check", "older")
    assert done.exit_code == 6
    assert "claude auth login" in done.document["hint"]


def test_check_says_that_there_is_no_program(project):
    done = project.uwf("agent", "check", "gone")
    assert done.exit_code == 6
    assert "no-such-claude" in done.document["reason"]
    assert [each["name"] for each in done.document["checks"]] == ["program"]


def test_it_is_a_command_of_the_protocol(project, tmp_path):
    program = [sys.executable, "-m", "uwf_agent_claude_code.command"]
    shim = tmp_path / "bin"
    shim.mkdir()
    (shim / "claude").symlink_to(os.environ[OLDER])
    with ScriptedModel(["first", "second", "third"], side_text="A title") as model:
        env = {
            **project.env,
            "PATH": f"{shim}:{os.defpath}",
            "ANTHROPIC_BASE_URL": model.anthropic_url,
        }

        def call(*words):
            done = subprocess.run(
                [*program, "--thread", "T", "--role", "r", "--prompt", "hello", *words],
                cwd=project.folder,
                env=env,
                capture_output=True,
                text=True,
                check=True,
            )
            return json.loads(done.stdout.splitlines()[-1])

        first = call()
        session = first["sessionId"]
        second = call("--session", session)
        fork = call("--mode", "fork", "--session", session)["sessionId"]
        third = call("--mode", "ask", "--session", fork)
    assert (first["output"], first["continuation"]) == ("first", "new")
    assert (second["output"], second["sessionId"]) == ("second", session)
    assert second["proof"]
    assert (third["output"], third["sessionId"]) == ("third", fork)
    assert fork != session
