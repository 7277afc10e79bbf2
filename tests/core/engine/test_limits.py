"""Limits stop what goes on by itself; what a person asks for is neither held up nor lost."""

from collections.abc import Callable

import pytest
from tests.core.engine.conftest import APPROVED, DONE, LOOP, REJECTED, UNSURE
from tests.core.engine.test_resume_and_poke import ASKED_AND_ANSWERED, instruction

from uwf_core.client import Client
from uwf_core.errors import ConfigError, RoutingFailed, UnknownIdError
from uwf_core.testing.project import Project

TWO_STEPS = "limits: {maxSteps: 2}\n"


@pytest.fixture
def start(project: Project, uwf: Client) -> Callable[[str], str]:
    """Starts a thread of `loop` with other limits."""

    def begin(limits: str) -> str:
        project.workflow("limited", LOOP.replace("name: loop", "name: limited") + limits)
        return uwf.start("limited", "x")["thread"]

    return begin


def test_a_question_is_not_lost_when_a_limit_is_reached_with_it(
    project: Project, uwf: Client, start: Callable[[str], str]
) -> None:
    project.script([DONE, UNSURE, REJECTED])
    thread = start(TWO_STEPS)
    assert uwf.exec(thread, until_done=True).exit_code == 3
    outcome = uwf.resume(thread, "blue")
    assert (outcome.exit_code, outcome.document["status"]) == (0, "idle")
    assert instruction(uwf, thread) == ASKED_AND_ANSWERED
    assert uwf.exec(thread).exit_code == 5, "what goes on by itself is stopped"


def test_a_completed_thread_that_has_used_its_allowance_can_be_resumed_and_poked(
    project: Project, uwf: Client, start: Callable[[str], str]
) -> None:
    project.script([DONE, APPROVED, DONE])
    thread = start(TWO_STEPS)
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    assert uwf.poke(thread, "sure?").document["status"] == "completed"
    assert uwf.resume(thread, "more").document["status"] == "idle"
    assert instruction(uwf, thread) == "There is more to do.\n\nmore"


def test_a_limit_reached_by_a_failed_attempt_does_not_forget_what_was_asked_for(
    project: Project, uwf: Client, start: Callable[[str], str]
) -> None:
    fail = {"fail": {"kind": "crashed", "message": "x"}, "usage": {"inputTokens": 999}}
    review = {"role": "reviewer", "outputs": [APPROVED["output"], fail, APPROVED["output"]]}
    project.script([DONE, review])
    thread = start("limits: {maxTokens: 999}\n")
    uwf.exec(thread, until_done=True)
    poked = uwf.steps(thread)[-1]["step"]
    assert uwf.poke(thread, "sure?").exit_code == 6
    stopped = uwf.exec(thread)
    assert (stopped.exit_code, uwf.show(thread)["suspendReason"]) == (5, "limit")
    assert uwf.resume(thread).document["status"] == "completed"
    step = uwf.step(uwf.steps(thread)[-1]["step"])
    assert (step["attempt"]["replaces"], len(step["previousAttempts"])) == (poked, 1)
    asked = "Review it.\n\nA person asks you to redo your last reply:\n\nsure?"
    assert instruction(uwf, thread) == asked


def test_a_limit_that_cannot_be_known_is_said_after_the_very_step(
    project: Project, start: Callable[[str], str]
) -> None:
    project.script([{**DONE, "usage": {"inputTokens": 1, "outputTokens": 1}}])
    thread = start("limits: {maxTokens: 9, maxCostUsd: 1}\n")
    said: list[str] = []
    with project.client(on_notice=said.append) as uwf:
        assert uwf.exec(thread).exit_code == 0
    assert said == ["limit maxCostUsd is not enforceable: the agent does not report it"]


def test_a_question_to_a_person_costs_nothing_and_leaves_limits_enforceable(
    project: Project, start: Callable[[str], str]
) -> None:
    thread = start("limits: {maxTokens: 9, maxCostUsd: 1}\n")
    said: list[str] = []
    with project.client(on_notice=said.append) as uwf:
        asked = uwf.exec(thread, agent="human").document["steps"][0]
        assert (asked["usage"]["inputTokens"], asked["usage"]["costUsd"]) == (0, 0)
        uwf.resume(thread, answer="$status=done", agent="human")
        assert uwf.show(thread)["usage"]["inputTokens"] == 0
    assert said == []


def test_a_resume_that_cannot_run_grants_nothing(
    project: Project, uwf: Client, start: Callable[[str], str]
) -> None:
    project.script([DONE, REJECTED])
    thread = start(TWO_STEPS)
    uwf.exec(thread, until_done=True)
    before = uwf.show(thread)
    assert before["suspendReason"] == "limit"
    with pytest.raises(UnknownIdError):
        uwf.resume(thread, "go on", agent="nobody")
    project.config("agents: {odd: {use: mock, options: {scirpt: x}}}\n")
    with project.client() as other, pytest.raises(ConfigError, match="scirpt"):
        other.resume(thread, "go on", agent="odd")
    project.folder.rename(project.folder.with_name("moved"))
    with pytest.raises(RoutingFailed):
        uwf.resume(thread, "go on")
    assert uwf.show(thread) == before


def test_a_run_that_a_limit_stops_names_the_limit_its_value_and_what_was_used(
    project: Project, start: Callable[[str], str]
) -> None:
    project.script([DONE, REJECTED])
    thread = start(TWO_STEPS)
    for steps in (2, 0):
        run = project.uwf("thread", "exec", thread, "--until-done")
        assert (run.exit_code, len(run.document["steps"])) == (5, steps)
        assert run.document["suspendReason"] == "limit"
        assert (
            run.document["suspendMessage"] == "maxSteps 2 of workflow limited is reached (2 used)"
        )
    shown = project.uwf("thread", "exec", thread, "--format", "text").stdout
    assert shown.count("maxSteps 2 of workflow limited is reached (2 used)") == 1


@pytest.mark.parametrize("limit", ["maxSteps: 2", "maxTokens: 20", "maxCostUsd: 2"])
def test_a_fork_has_the_whole_allowance_for_itself(
    limit: str, project: Project, uwf: Client, start: Callable[[str], str]
) -> None:
    """What its parent has used counts against the parent alone."""
    usage = {"inputTokens": 5, "outputTokens": 5, "costUsd": 1}
    done, rejected = {**DONE, "usage": usage}, {**REJECTED, "usage": usage}
    project.script([done, rejected], repeat=True)
    parent = start(f"limits: {{{limit}}}\n")
    assert uwf.exec(parent, until_done=True).exit_code == 5
    fork = uwf.fork(uwf.steps(parent)[-1]["step"])["thread"]
    again = uwf.exec(fork, until_done=True)
    assert (again.exit_code, len(again.document["steps"])) == (5, 2)
