"""Failures, corrections and what a later exec does about them."""

import time

import pytest
from tests.core.engine.conftest import APPROVED, DONE
from tests.step_parts import session_of

from uwf_core.client import Client
from uwf_core.errors import FailureKind
from uwf_core.testing.project import Project

SOON = int(time.time()) * 1000 + 3 * 86_400_000
BAD = "no frontmatter at all"
ENGINE_OWN = {FailureKind.SESSION_LOST, FailureKind.INVALID_OUTPUT, FailureKind.ROUTING}


@pytest.mark.parametrize("kind", [kind for kind in FailureKind if kind not in ENGINE_OWN])
def test_each_kind_of_failure_has_its_exit_code_and_the_next_exec_goes_on(
    kind: FailureKind, project: Project, uwf: Client, thread: str
) -> None:
    fail = {"fail": {"kind": kind.word, "message": "as scripted"}}
    project.script([{"role": "developer", "outputs": [fail, {"$status": "done"}]}, APPROVED])
    outcome = uwf.exec(thread, until_done=True)
    result = outcome.document["steps"][0]
    assert outcome.exit_code == kind.exit_code
    assert outcome.document["status"] == "suspended"
    assert result["failure"] is not None
    assert (result["failure"]["kind"], result["step"] is not None) == (kind.word, True)
    assert "as scripted" in result["failure"]["message"]
    assert uwf.steps(thread)[1:] == [], "the head has not moved"
    assert uwf.show(thread)["suspendMessage"] == result["failure"]["message"]
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    first = uwf.step(uwf.steps(thread)[1]["step"])
    assert first["previousAttempts"] == [result["step"]]


def test_a_failed_attempt_can_be_looked_at(project: Project, uwf: Client, thread: str) -> None:
    fail = {"fail": {"kind": "rate_limited", "message": "slow down", "untilMs": SOON}}
    project.script([{"role": "developer", "outputs": [fail], "turns": ["Reading"]}])
    result = uwf.exec(thread).document["steps"][0]
    assert result["failure"] is not None and result["failure"]["until"] == SOON
    assert result["step"] is not None
    step = uwf.step(result["step"])
    assert step["failure"] is not None and step["failure"]["kind"] == "rate_limited"
    assert step["status"] is None


def test_invalid_output_is_corrected_in_the_same_session_quoting_the_errors(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script(
        [{"role": "developer", "outputs": [BAD, {"$status": "dnoe"}, {"$status": "done"}]}]
    )
    outcome = uwf.exec(thread)
    assert outcome.exit_code == 0
    step = uwf.step(uwf.steps(thread)[-1]["step"])
    assert [each["raw"].splitlines()[0] for each in step["corrections"]] == [BAD, "---"]
    assert "dnoe" in step["corrections"][1]["prompt"]
    assert "done" in step["corrections"][1]["errors"][0]
    assert session_of(step)["continuation"] == "new"


def test_after_two_corrections_the_attempt_has_failed_with_exit_4(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([{"role": "developer", "outputs": [BAD, BAD, BAD, {"$status": "done"}]}])
    outcome = uwf.exec(thread)
    result = outcome.document["steps"][0]
    assert outcome.exit_code == 4
    assert result["failure"] is not None and result["failure"]["kind"] == "invalid_output"
    assert result["step"] is not None
    assert len(uwf.step(result["step"])["corrections"]) == 2
    assert uwf.exec(thread).exit_code == 0


def test_usage_is_summed_over_a_run_and_its_corrections(
    project: Project, uwf: Client, thread: str
) -> None:
    usage = {"inputTokens": 10, "outputTokens": 3, "costUsd": 0.5}
    outputs = [{"output": BAD, "usage": usage}, {"output": {"$status": "done"}, "usage": usage}]
    project.script([{"role": "developer", "outputs": outputs}])
    used = uwf.exec(thread).document["steps"][0]["usage"]
    assert (used["inputTokens"], used["outputTokens"], used["costUsd"]) == (20, 6, 1.0)
    assert used["cacheReadTokens"] is None, "what was not reported is unknown, not 0"


def test_previous_attempts_are_oldest_first(project: Project, uwf: Client, thread: str) -> None:
    kinds = ["crashed", "empty", "refused"]
    outputs = [{"fail": {"kind": kind, "message": kind}} for kind in kinds]
    project.script([{"role": "developer", "outputs": [*outputs, {"$status": "done"}]}])
    failed = [uwf.exec(thread).document["steps"][0]["step"] for _ in kinds]
    uwf.exec(thread)
    assert uwf.step(uwf.steps(thread)[-1]["step"])["previousAttempts"] == failed


def test_context_too_long_starts_a_fresh_session_and_a_timeout_keeps_it(
    project: Project, uwf: Client, thread: str
) -> None:
    for kind, kept in (("timeout", True), ("context_too_long", False)):
        fresh = uwf.start("loop", "x")["thread"]
        fail = {"fail": {"kind": kind, "message": "x"}}
        project.script([{"role": "developer", "outputs": [fail, {"$status": "done"}]}])
        uwf.exec(fresh)
        uwf.exec(fresh)
        step = uwf.step(uwf.steps(fresh)[-1]["step"])
        failed = uwf.step(step["previousAttempts"][0])
        assert (session_of(step)["id"] == session_of(failed)["id"]) is kept
        assert session_of(step)["continuation"] == ("continued" if kept else "new")


def test_garbage_is_corrected_like_any_invalid_output(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([{"role": "developer", "outputs": [{"garbage": True}, {"$status": "done"}]}])
    assert uwf.exec(thread).exit_code == 0


def test_a_wrong_role_is_an_error_that_names_both(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([APPROVED])
    failure = uwf.exec(thread).document["steps"][0]["failure"]
    assert failure is not None and failure["kind"] == "bad_request"
    assert "developer" in failure["message"] and "reviewer" in failure["message"]


def test_an_unknown_agent_is_exit_2_and_nothing_is_stored(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE])
    before = uwf.show(thread)
    with pytest.raises(Exception, match="mokc") as caught:
        uwf.exec(thread, agent="mokc")
    assert getattr(caught.value, "exit_code", None) == 2
    assert uwf.show(thread) == before


def test_show_names_the_failed_attempt(project: Project, uwf: Client, thread: str) -> None:
    project.script([{"role": "developer", "fail": {"kind": "crashed", "message": "x"}}])
    failed = uwf.exec(thread).document["steps"][0]["step"]
    hint = uwf.show(thread).get("hint")
    assert hint is not None and f"uwf step show {failed}" in hint


def test_a_rate_limit_says_until_when(project: Project, uwf: Client, thread: str) -> None:
    fail = {"kind": "rate_limited", "message": "slow down", "untilMs": SOON}
    project.script([{"role": "developer", "fail": fail}])
    failure = uwf.exec(thread).document["steps"][0]["failure"]
    assert failure is not None and failure["until"] == SOON
    assert time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(SOON / 1000)) in str(
        uwf.show(thread)["hint"]
    )
    told = project.uwf("thread", "exec", thread, "--format", "text")
    assert (
        told.exit_code,
        f"until {time.strftime('%Y-%m-%d', time.localtime(SOON / 1000))}" in told.stdout,
    ) == (6, True)


def test_a_failure_without_an_until_says_null(project: Project, uwf: Client, thread: str) -> None:
    project.script([{"role": "developer", "fail": {"kind": "crashed", "message": "x"}}])
    failure = uwf.exec(thread).document["steps"][0]["failure"]
    assert failure == {"kind": "crashed", "message": "x", "until": None}
