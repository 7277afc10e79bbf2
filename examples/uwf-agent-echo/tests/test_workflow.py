"""As a user would: install it, and run a workflow with it."""

from pathlib import Path

import pytest

from uwf_core.testing.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.uwf("workflow", "new", "hello")
    return made


def test_a_workflow_runs_to_its_end(project: Project) -> None:
    outcome = project.uwf("run", "./hello.yaml", "-p", "Say hello", "--agent", "echo")
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed"), outcome
    assert "Say hello" in project.uwf("thread", "read", "@last").stdout


def test_it_answers_from_the_session_of_a_past_step(project: Project) -> None:
    project.uwf("run", "./hello.yaml", "-p", "Say hello", "--agent", "echo")
    answer = project.uwf("step", "ask", "@last", "-p", "What was it?", "--format", "json")
    assert answer.document["continuation"] == "original", answer


def test_an_alias_with_options_is_another_agent(project: Project) -> None:
    options = "{program: tr, arguments: [a-z, A-Z]}"
    project.uwf("config", "set", "agents.shout", f"{{use: echo, options: {options}}}")
    outcome = project.uwf("run", "./hello.yaml", "-p", "Say hello", "--agent", "shout")
    assert outcome.document["status"] == "completed", outcome
    assert "SAY HELLO" in project.uwf("thread", "read", "@last").stdout
