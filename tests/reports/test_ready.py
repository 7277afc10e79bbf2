"""What `doctor`, `agent list` and `agent check` say about an agent, and what its run then does."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.beside import NAMES, beside

from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel

ONE = """
version: 1
name: one
roles:
  writer: {goal: Write., frontmatter: {properties: {$status: {const: done}}, required: [$status]}}
graph:
  $START: {new: {role: writer, prompt: W}, resume: {role: writer, prompt: W}}
  writer: {done: {role: $END, prompt: E}}
"""
SCRIPTS = Path(sys.executable).parent


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.workflow("one", ONE)
    made.env = {**made.env, "PATH": f"{SCRIPTS}{os.pathsep}/usr/bin:/bin"}
    del made.env["UWF_DEFAULT_AGENT"]
    agents = (each for each in NAMES if each.startswith("uwf-agent-"))
    made.env["UWF_BLOCK_PLUGINS"] = beside(*agents, "uwf-llm")
    return made


def verdicts(project: Project, word: str) -> set[bool]:
    """Whether the agent is ready, as each of the commands says."""
    checked = project.uwf("agent", "check", word)
    found = {checked.exit_code == 0}
    rows = project.uwf("agent", "list").document["agents"]
    found |= {row["status"] == "ready" for row in rows if row["name"] == word}
    doctor = project.uwf("doctor").document["checks"]
    return found | {each["state"] == "ok" for each in doctor if each["name"] == "default agent"}


@pytest.mark.parametrize("with_model", [True, False])
@pytest.mark.parametrize(
    "agent",
    [
        {"command": "uwf-builtin", "args": []},
        {"command": str(SCRIPTS / "uwf-builtin")},
        {"command": "uwf-builtin", "args": ["--quiet"]},
        {"command": "uwf-builtin", "args": ["--quiet"], "capabilities": ["model"]},
        {"command": "ELSEWHERE/uwf-builtin"},
        {"command": "ELSEWHERE/uwf-builtin", "capabilities": ["model"]},
        {"command": "ELSEWHERE/uwf-claude-code"},
        {"command": "uwf-claude-code", "args": []},
        {"command": "uwf-claude-code", "args": ["--quiet"]},
        {"command": "uwf-hermes", "args": []},
        {"use": "builtin"},
    ],
    ids=lambda agent: " ".join(map(str, agent.values())).replace(str(SCRIPTS), "…"),
)
def test_an_agent_that_is_ready_runs_and_one_that_is_not_does_not(
    project: Project, agent: Any, with_model: bool
) -> None:
    """The original's own configuration files; kind: agents."""
    elsewhere = project.home.parent / "elsewhere"  # as of another installation
    elsewhere.symlink_to(SCRIPTS)
    if "command" in agent:
        agent = {**agent, "command": agent["command"].replace("ELSEWHERE", str(elsewhere))}
    with ScriptedModel(["---\n$status: done\n---\n"] * 3) as model:
        text = f"agents: {{mine: {json.dumps(agent)}}}\ndefaultAgent: mine\n"
        if with_model:
            text += (
                f"providers: {{local: {{baseUrl: {model.openai_url}}}}}\n"
                "models: {m: {provider: local, name: m}}\ndefaultModel: m\n"
            )
        project.config(text)
        [is_ready] = verdicts(project, "mine")
        done = project.uwf("run", "one", "-p", "go", "--format", "text", seconds=60)
        assert (done.exit_code == 0) is is_ready, done
        if is_ready:
            assert "agent check" not in done.stdout


def test_a_name_that_a_message_recommends_can_be_given(project: Project) -> None:
    with ScriptedModel(["---\n$status: done\n---\n"]) as model:
        project.config(
            f"providers: {{local: {{baseUrl: {model.openai_url}}}}}\n"
            "models: {m: {provider: local, name: m}}\ndefaultModel: m\n"
        )
        done = project.uwf("run", "one", "-p", "go", "--agent", "uwf-builtin", seconds=60)
        assert done.document["status"] == "completed", done


def test_a_command_of_uwf_that_is_no_agent_is_not_offered_as_one(project: Project) -> None:
    names = [row["name"] for row in project.uwf("agent", "list").document["agents"]]
    assert "uwf-eval" not in names
    assert project.uwf("agent", "check", "uwf-eval").exit_code == 2
