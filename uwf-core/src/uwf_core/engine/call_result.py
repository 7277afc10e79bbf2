"""The end of a call: the step in which the caller records what the called threads delivered.

A person may grant more to the caller while its calls are open, so its head is read again within the
transaction that moves it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from uwf_core.api.extract import NO_USAGE
from uwf_core.api.sums import NOTHING_COUNTED, LedgerPayload
from uwf_core.engine.advance import failed_event, finished_event
from uwf_core.engine.budget import ledger_of
from uwf_core.engine.context import Attempt
from uwf_core.engine.failed_step import follow_failure
from uwf_core.engine.given_up import close, failure_below
from uwf_core.engine.record import save_failed_step, save_routed_step
from uwf_core.engine.retry import policy_of_call
from uwf_core.errors import AgentFailure, AgentInterrupted, FailureKind, WrongStateError
from uwf_core.ids import Ref
from uwf_core.process import crash_points
from uwf_core.process.identity import ProcessId, hostname
from uwf_core.thread.calls import CALL_AGENT, OpenCall
from uwf_core.thread.decisions import (
    NO_CALL,
    OpenAttempt,
    artifacts_of,
    called_attempt,
    session_payload,
)
from uwf_core.thread.fold import fold
from uwf_core.thread.head import Head, move_head, read_head
from uwf_core.thread.history import body_of, read_step
from uwf_core.thread.limits import ledger_since, ledger_sum
from uwf_core.thread.names import attempt_name, attempts_prefix
from uwf_core.thread.worktree import place_of
from uwf_core.workflow.fan_out import CANCELLED, branch_result, joint_output, joint_status
from uwf_core.workflow.variants import STATUS

if TYPE_CHECKING:
    from uwf_core.engine.context import Run, Task
    from uwf_core.thread.decisions import Event, Suspension
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import AttemptPayload, BranchPayload, CalledPayload, CallPayload
    from uwf_core.workflow.definition import Role


def record_children(
    run: "Run",
    role: "Role",
    calls: Sequence[OpenCall],
    children: Sequence[Head],
    task: "Task | None",
) -> Attempt:
    """Record how all called threads ended as a step of the caller, whose head moves: what one
    delivered passes through, what branches delivered is joined. A called thread that was cancelled
    is a failed attempt, and the next call creates a new thread. So is one that waits after a
    failure: it is closed, with all that it called, and the edge of the failure is taken.

    `task`: of a fan-out that has no branch.
    """
    engine, store = run.engine, run.engine.store
    events: list[CalledPayload] = [store.payload(call.variable.value) for call in calls]
    with store.transaction():
        if children:
            run = _current(run, events[0], children[0])
        failed = [failure_below(store, each) for each in children]
        children = [
            each if failure is None else close(engine, each)
            for each, failure in zip(children, failed, strict=True)
        ]
        head, ends = run.head, [*map(partial(_Ended, run), events, children)]
        if role.fan_out is None:
            [end] = ends
            attempt, output = _passed_through(run, end), end.ref
        else:
            attempt = _joined(run, role, ends, events[0] if events else _no_call(run, task))
            output = store.put(role.frontmatter, attempt.output)
        began_ms = attempt.payload["startedAtMs"]
        attempt.ended_ms = max((each.ended_ms for each in ends), default=began_ms)
        gone, to = [call.variable for call in calls], head.ref
        if output is None:
            attempt.step = _save_cancelled(run, attempt, failed[0])
        else:
            attempt.step = save_routed_step(run, attempt, output)
            gone += store.variables(attempts_prefix(head.thread)) if head.state.tries else []
            to = Ref(attempt.step.ref)
        for variable in gone:
            store.delete_variable(variable)
        attempt.head = move_head(store, head, to, fold(head.state, attempt.step))
        if output is None:
            attempt.head = follow_failure(engine, attempt.head, attempt.ended_ms)
    if attempt.failure is None:
        run.watch.event(finished_event(engine, attempt))
    else:
        run.watch.event(failed_event(engine, attempt, attempt.failure))
    return attempt


class _Ended:
    """A called thread that has ended: what it delivered, and what its call used.

    Attributes:
        ref: of its output; None if it was cancelled.
    """

    def __init__(self, run: "Run", called: "CalledPayload", child: Head) -> None:
        store = run.engine.store
        self.child, self.called = child, called
        self.ledger = ledger_since(ledger_of(run.engine, child.state), called["ledger"])
        self.ended_ms, self.status, self.body = called["atMs"], CANCELLED, ""
        self.ref: Ref | None = None
        self.output: dict[str, Any] | None = None
        self.artifacts: dict[str, str] | None = None
        if child.state.status != "cancelled":
            step = read_step(store, child.ref)
            self.ref = Ref(step.payload["output"])
            self.output = store.payload(self.ref)
            self.status, self.body = self.output[STATUS], body_of(store, step)
            self.artifacts = {**artifacts_of(step.payload)} or None
            self.ended_ms = step.payload["completedAtMs"]


def _passed_through(run: "Run", end: _Ended) -> Attempt:
    """The attempt of a call, with what the called thread delivered."""
    child, called = end.child, end.called
    if child.state.worktree is not None and end.ref is not None:
        called = {**called, "cwd": child.state.cwd}
    attempt = _attempt(run, called, child.thread)
    attempt.continuation = _continuation(child.state)
    attempt.output, attempt.body, attempt.artifacts = end.output, end.body, end.artifacts
    attempt.mark = None if child.at_start else child.ref
    attempt.call = {**NO_CALL, "child": attempt.mark, "usage": end.ledger}
    crash_points.reach("return")
    return attempt


def _save_cancelled(run: "Run", attempt: Attempt, failed: "Suspension | None") -> "Event":
    """Store the failed attempt of a call whose thread was cancelled, or has `failed`."""
    engine, payload = run.engine, attempt.payload
    failure: AgentFailure = AgentInterrupted(f"the called thread {attempt.session} was cancelled")
    if failed is not None:
        failure = AgentFailure.of(FailureKind.of(failed.kind or ""), failed.message)
        attempt.policy = policy_of_call(attempt)
    step = save_failed_step(engine, attempt, failure, keeps_session=False)
    opened = OpenAttempt(payload["number"], run.head.state.tries + 1, payload["role"])
    ended = engine.nodes.put("attempt", {**payload, "step": step.ref})
    engine.store.set_variable(attempt_name(run.head.thread, opened.name), ended, {}, None)
    return step


def _joined(run: "Run", role: "Role", ends: Sequence[_Ended], called: Mapping[str, Any]) -> Attempt:
    """The attempt of a fan-out, with the joint result of its branches. Its prompt is only what a
    person said, since each branch has its own.
    """
    assert role.fan_out is not None
    blank = str(run.engine.store.put_text(""))
    own = {"edgePrompt": blank, "prompt": called["said"] or blank, "cwd": run.folder}
    attempt = _attempt(run, {**called, **own}, None)
    attempt.call = _call_of_branches(ends)
    status = joint_status([each.status for each in ends], role.fan_out.then or ())
    names = [each.called["branch"] for each in ends]
    attempt.output = joint_output(status, [*map(_result, ends)], names)
    if any([each.artifacts for each in ends]):  # noqa: C419
        from uwf_core.engine.delivery import joint_artifacts

        keys = [str(number) if name is None else name for number, name in enumerate(names)]
        files = [each.artifacts for each in ends]
        attempt.artifacts = joint_artifacts([*zip(keys, files, strict=True)])
    crash_points.reach("join")
    return attempt


def _result(end: _Ended) -> dict[str, Any]:
    place = None if end.output is None else place_of(end.child.state)
    return branch_result(end.called["index"] or 0, end.status, end.body, end.output, place)


def _no_call(run: "Run", task: "Task | None") -> dict[str, Any]:
    """The beginning of a fan-out over an empty list."""
    assert task is not None
    said = str(run.engine.store.put_text(task.said)) if task.said else None
    return {**task._asdict(), "said": said, "atMs": run.engine.now_ms()}


def _call_of_branches(ends: Sequence[_Ended]) -> "CallPayload":
    total, by_role = NOTHING_COUNTED, dict[str, LedgerPayload]()
    branches: list[BranchPayload] = []
    for each in ends:
        name, role = each.called["branch"], each.called["plays"]
        thread, status = str(each.child.thread), each.status
        branches.append({"name": name, "role": role, "thread": thread, "status": status})
        total = ledger_sum(total, each.ledger)
        by_role[role] = ledger_sum(by_role.get(role, NOTHING_COUNTED), each.ledger)
    return {
        **NO_CALL,
        "children": [str(each.child.ref) for each in ends],
        "branches": branches,
        "usage": total,
        "usageByRole": by_role,
    }


def _current(run: "Run", called: "CalledPayload", child: Head) -> "Run":
    """The run at the newest head of the caller, from which it has called the child."""
    head = read_head(run.engine.store, run.head.thread)
    if called["parentHead"] != head.ref:
        raise WrongStateError(
            f"thread {child.thread} was called from {called['parentHead']}, which is not the head "
            f"of thread {head.thread}",
            hint=f"next: uwf cas verify {head.thread}",
        )
    return run._replace(head=head)


def _attempt(run: "Run", called: Mapping[str, Any], session: str | None) -> Attempt:
    """The calls as an attempt at a step of the caller. `session`: the thread that plays its role,
    None for a fan-out.
    """
    store, state, number = run.engine.store, run.head.state, called["number"]
    replaced = called["replaces"]
    prev = None if run.head.at_start else run.head.ref
    process = ProcessId.own()
    attempt = Attempt(run.head)
    payload: AttemptPayload = {
        "thread": run.head.thread,
        "seq": state.seq,
        "number": number,
        "role": called["role"],
        "agent": CALL_AGENT,
        "prev": prev if replaced is None else read_step(store, Ref(replaced)).payload["prev"],
        "startedAtMs": called["atMs"],
        "session": session_payload(session),
        "attempt": called_attempt(called, state.tries + 1),
        "files": None,
        "engine": {"pid": process.pid, "start": process.start, "host": hostname()},
        "marker": f"{run.head.thread}/{number}",
        "reserved": None,
        "step": None,
        "question": None,
    }
    attempt.payload = payload
    attempt.session = session
    attempt.usage = NO_USAGE
    return attempt


def _continuation(child: "ThreadState") -> str:
    caller = child.caller
    assert caller is not None
    if caller.steps == 0:
        return "new"
    return "forked" if caller.steps == child.inherited_steps else "continued"
