"""The state of a thread is what its stored events say, to the last field."""

from collections import Counter

import pytest
from tests.core.engine.conftest import APPROVED, DONE, ONE_ROLE, REJECTED, UNSURE
from tests.step_parts import session_of

from uwf_core.client import Client, ThreadDocument
from uwf_core.testing.project import Project

LIMITED = ONE_ROLE.replace("name: one-role", "name: short\nlimits: {maxSteps: 1}")
AGAIN = {"role": "worker", "output": {"$status": "again"}}


def fail(role: str, kind: str) -> dict[str, object]:
    return {"role": role, "fail": {"kind": kind, "message": "x"}}


def check(uwf: Client, thread: str) -> ThreadDocument:
    """The thread, whose state is what its events say, in the store and in what is shown."""
    found = uwf.verify(thread)
    assert found["valid"], found["problems"]
    shown = uwf.show(thread)
    assert shown["steps"] == uwf.thread(thread).count
    return shown


def used_steps(uwf: Client, thread: str) -> int:
    """The steps that a thread has taken itself, also those that were replaced."""
    return uwf.usage(thread)["total"]["steps"]


def granted(uwf: Client, thread: str) -> dict[str, float]:
    """What persons have added to the limits of the thread itself."""
    found: Counter[str] = Counter()
    for event in uwf.thread(thread).events():
        if event.kind == "granted":
            assert event.payload["scope"] == "thread"
            found.update(event.payload["amounts"])
    return dict(found)


@pytest.mark.parametrize("kind", ["crashed", "context_too_long", "rate_limited", "invalid_output"])
def test_failed_attempts_count_before_and_after_the_step_that_names_them(
    project: Project, uwf: Client, thread: str, kind: str
) -> None:
    project.script([fail("developer", kind)])
    for tries in (1, 2):
        uwf.exec(thread)
        check(uwf, thread)
        assert len(uwf.thread(thread).pending) == tries
    project.script([DONE, APPROVED])
    uwf.exec(thread, until_done=True)
    rebuilt = check(uwf, thread)
    assert (rebuilt["status"], rebuilt["steps"]) == ("completed", 2)
    assert not uwf.thread(thread).pending
    assert "turns" in rebuilt["usage"]["atLeast"] or (rebuilt["usage"]["turns"] or 0) >= 2


def test_a_question_and_its_answer_are_remembered_after_the_step(
    project: Project, uwf: Client
) -> None:
    thread = uwf.start("loop", "The task.", agent="human")["thread"]
    uwf.exec(thread)
    asked = check(uwf, thread)
    assert (asked["suspendReason"], asked["form"] is not None) == ("role", True)
    before = uwf.thread(thread).running_ms
    uwf.resume(thread, answer='{"$status": "done"}')
    answered = check(uwf, thread)
    assert (answered["steps"], uwf.thread(thread).pending) == (1, [])
    assert uwf.thread(thread).running_ms >= before


def test_a_poked_step_still_counts_as_used_and_a_fork_counts_its_own_alone(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, REJECTED, DONE])
    uwf.exec(thread, count=2)
    uwf.poke(thread, "again")
    assert (check(uwf, thread)["steps"], used_steps(uwf, thread)) == (2, 3)
    fork = uwf.fork(uwf.show(thread)["head"])["thread"]
    assert (check(uwf, fork)["steps"], used_steps(uwf, fork)) == (2, 0)
    uwf.poke(fork, "once more")
    assert (check(uwf, fork)["steps"], used_steps(uwf, fork)) == (2, 1)
    uwf.poke(fork, "and again")
    uwf.exec(fork)
    assert (check(uwf, fork)["steps"], used_steps(uwf, fork)) == (3, 3)
    replaced, last = (uwf.step(row["step"]) for row in uwf.steps(fork)[2:])
    assert session_of(replaced)["continuation"] == "continued", "the first poke forked its session"
    assert (last["role"], session_of(last)["continuation"]) == ("developer", "forked")
    check(uwf, thread)


def test_a_poke_that_fails_and_succeeds_later(project: Project, uwf: Client, thread: str) -> None:
    project.script([DONE, UNSURE])
    uwf.exec(thread, count=2)
    project.script([DONE, fail("reviewer", "crashed")])
    uwf.poke(thread, "again")
    assert check(uwf, thread)["status"] == "suspended"
    project.script([DONE, APPROVED])
    uwf.exec(thread)
    assert check(uwf, thread)["status"] == "completed"


def test_a_granted_limit_and_a_cancelled_thread(project: Project, uwf: Client) -> None:
    project.workflow("short", LIMITED)
    project.script([AGAIN] * 5)
    thread = uwf.start("short", "The task.")["thread"]
    assert uwf.exec(thread, count=2).exit_code == 5
    assert check(uwf, thread)["suspendReason"] == "limit"
    uwf.resume(thread)
    check(uwf, thread)
    assert granted(uwf, thread) == {"maxSteps": 1}
    uwf.cancel(thread)
    assert check(uwf, thread)["status"] == "cancelled"


def test_an_attempt_under_way_is_known(project: Project, uwf: Client, thread: str) -> None:
    seen: list[ThreadDocument] = []
    watching = project.client(on_event=lambda _: seen.append(check(uwf, thread)))
    project.script([{**DONE, "turns": [{"role": "assistant", "text": "I begin."}]}])
    with watching:
        watching.exec(thread)
    assert ("running", "developer", 0) in [
        (shown["status"], shown["currentRole"], shown["steps"]) for shown in seen
    ]
