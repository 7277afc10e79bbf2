"""An agent that may not be used, or cannot be made: exit 2, and nothing is stored."""

import pytest

from uwf_core.client import Client
from uwf_core.errors import ConfigError, PluginError
from uwf_core.testing.project import Project


@pytest.fixture
def blocking(project: Project) -> Project:
    """The project, in which `human` is blocked."""
    project.env["UWF_BLOCK_PLUGINS"] = "human"
    return project


def test_a_blocked_agent_starts_no_thread(blocking: Project) -> None:
    with blocking.client() as uwf:
        with pytest.raises(PluginError, match="blocked"):
            uwf.start("loop", "x", agent="human")
        assert uwf.list() == []


def test_a_blocked_agent_is_refused_before_anything_is_stored(
    project: Project, uwf: Client, thread: str
) -> None:
    before = uwf.show(thread)
    project.env["UWF_BLOCK_PLUGINS"] = "human"
    with project.client() as blocked, pytest.raises(PluginError, match="blocked"):
        blocked.exec(thread, agent="human")
    assert uwf.show(thread) == before


def test_an_agent_with_wrong_options_leaves_the_thread_as_it_was(
    project: Project, uwf: Client, thread: str
) -> None:
    before = uwf.show(thread)
    project.config("agents:\n  boss: {use: human, options: {colour: red}}\n")
    with project.client() as wrong, pytest.raises(ConfigError, match="no options"):
        wrong.exec(thread, agent="boss")
    after = uwf.show(thread)
    assert {**after, "updatedAtMs": 0} == {**before, "updatedAtMs": 0}


def test_a_question_survives_an_answer_to_an_agent_that_cannot_be_made(
    project: Project, uwf: Client, thread: str
) -> None:
    project.config("agents:\n  boss: {use: human}\n")
    with project.client() as right:
        right.exec(thread, agent="boss")
    asked = uwf.show(thread)
    project.config("agents:\n  boss: {use: human, options: {colour: red}}\n")
    with project.client() as wrong, pytest.raises(ConfigError):
        wrong.resume(thread, answer="$status=done")
    assert {**uwf.show(thread), "updatedAtMs": 0} == {**asked, "updatedAtMs": 0}
    answered = uwf.resume(thread, answer="$status=done")
    assert (answered.exit_code, answered.document["status"]) == (0, "idle")


@pytest.mark.parametrize("command", ["run", "thread start"])
def test_without_an_agent_for_the_first_role_nothing_is_left_behind(
    project: Project, command: str
) -> None:
    """Not even the nodes of the workflow."""
    del project.env["UWF_DEFAULT_AGENT"]
    file = next((project.folder / ".workflow").glob("loop.yaml"))
    before = project.uwf("cas", "verify").document["nodes"]
    told = project.uwf(*command.split(), str(file), "-p", "x")
    assert told.exit_code == 2 and "no agent set for the role 'developer'" in told.stderr
    assert project.uwf("thread", "list", "--all").document == {"threads": []}
    assert project.uwf("cas", "verify").document["nodes"] == before
    project.config("agentOverrides: {loop: {developer: mock}}\n")
    assert project.uwf("thread", "start", str(file), "-p", "x").exit_code == 0
