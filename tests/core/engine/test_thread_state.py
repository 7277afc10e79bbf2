"""The state of a thread is what its stored events say, to the last field."""

import pytest
from tests.core.engine.conftest import APPROVED, DONE, ONE_ROLE, REJECTED, UNSURE

from uwf_core.client import Client
from uwf_core.ids import ThreadId
from uwf_core.testing.project import Project
from uwf_core.thread.decisions import OpenAttempt
from uwf_core.thread.head import read_head
from uwf_core.thread.history import differences, state_of_thread
from uwf_core.thread.state import RoleSession, ThreadState

LIMITED = ONE_ROLE.replace("name: one-role", "name: short\nlimits: {maxSteps: 1}")
AGAIN = {"role": "worker", "output": {"$status": "again"}}


def fail(role: str, kind: str) -> dict[str, object]:
    return {"role": role, "fail": {"kind": kind, "message": "x"}}


def stored_and_folded(uwf: Client, thread: str) -> tuple[ThreadState, ThreadState]:
    store = uwf._engine.store
    head = read_head(store, ThreadId(thread))
    return head.state, state_of_thread(store, head.thread, head.ref)


def check(uwf: Client, thread: str) -> ThreadState:
    stored, folded = stored_and_folded(uwf, thread)
    assert stored == folded
    return folded


@pytest.mark.parametrize("kind", ["crashed", "context_too_long", "rate_limited", "invalid_output"])
def test_failed_attempts_count_before_and_after_the_step_that_names_them(
    project: Project, uwf: Client, thread: str, kind: str
) -> None:
    project.script([fail("developer", kind)])
    for tries in (1, 2):
        uwf.exec(thread)
        assert check(uwf, thread).tries == tries
    project.script([DONE, APPROVED])
    uwf.exec(thread, until_done=True)
    rebuilt = check(uwf, thread)
    assert (rebuilt.status, rebuilt.tries, rebuilt.steps) == ("completed", 0, 2)
    assert "turns" in rebuilt.totals["atLeast"] or (rebuilt.totals["turns"] or 0) >= 2


def test_a_question_and_its_answer_are_remembered_after_the_step(
    project: Project, uwf: Client
) -> None:
    thread = uwf.start("loop", "The task.", agent="human")["thread"]
    uwf.exec(thread)
    asked = check(uwf, thread)
    assert asked.suspension is not None
    assert asked.suspension.question is not None
    uwf.resume(thread, answer='{"$status": "done"}')
    answered = check(uwf, thread)
    assert (answered.steps, answered.tries) == (1, 0)
    assert answered.running_ms >= asked.running_ms


def test_a_poked_step_still_counts_as_used_and_a_fork_counts_its_own_alone(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, REJECTED, DONE])
    uwf.exec(thread, count=2)
    uwf.poke(thread, "again")
    assert check(uwf, thread).steps == 2
    fork = uwf.fork(uwf.show(thread)["head"])["thread"]
    assert check(uwf, fork).inherited_steps == 2
    uwf.poke(fork, "once more")
    rebuilt = check(uwf, fork)
    assert (rebuilt.steps, rebuilt.inherited_steps) == (2, 1)
    uwf.poke(fork, "and again")
    uwf.exec(fork)
    rebuilt = check(uwf, fork)
    assert (rebuilt.steps, rebuilt.inherited_steps) == (3, 1)
    assert not rebuilt.roles["reviewer"].sessions["mock"].inherited
    check(uwf, thread)


def test_a_poke_that_fails_and_succeeds_later(project: Project, uwf: Client, thread: str) -> None:
    project.script([DONE, UNSURE])
    uwf.exec(thread, count=2)
    project.script([DONE, fail("reviewer", "crashed")])
    uwf.poke(thread, "again")
    assert check(uwf, thread).status == "suspended"
    project.script([DONE, APPROVED])
    uwf.exec(thread)
    assert check(uwf, thread).status == "completed"


def test_a_granted_limit_and_a_cancelled_thread(project: Project, uwf: Client) -> None:
    project.workflow("short", LIMITED)
    project.script([AGAIN] * 5)
    thread = uwf.start("short", "The task.")["thread"]
    assert uwf.exec(thread, count=2).exit_code == 5
    limited = check(uwf, thread)
    assert limited.suspension is not None
    assert limited.suspension.reason == "limit"
    uwf.resume(thread)
    assert check(uwf, thread).grants == {"thread": {"maxSteps": 1}}
    uwf.cancel(thread)
    assert check(uwf, thread).status == "cancelled"


def test_an_attempt_under_way_is_known(project: Project, uwf: Client, thread: str) -> None:
    seen: list[ThreadState] = []
    watching = project.client(on_event=lambda _: seen.append(check(uwf, thread)))
    project.script([{**DONE, "turns": [{"role": "assistant", "text": "I begin."}]}])
    with watching:
        watching.exec(thread)
    assert OpenAttempt(1, 1, "developer") in [state.attempt for state in seen]


def test_every_field_that_is_wrong_is_named(project: Project, uwf: Client, thread: str) -> None:
    project.script([DONE])
    uwf.exec(thread)
    _, right = stored_and_folded(uwf, thread)
    other = {
        "status": "completed",
        "workflow": "0" * 13,
        "steps": 7,
        "current_role": "developer",
        "running_ms": right.running_ms + 1,
        "grants": {"thread": {"maxSteps": 1}},
    }
    for name, value in other.items():
        found = differences(right._replace(**{name: value}), right)
        assert [each.split()[0] for each in found] == [name]
    another = RoleSession("another", 1, False, None)
    other_session = right.role("developer").with_session("mock", another)
    roles = right.with_role("developer", other_session)
    assert differences(roles, right)[0].startswith("roles is ")
    spent = right._replace(totals={**right.totals, "turns": 99})
    assert differences(spent, right)[0].startswith("totals is ")
