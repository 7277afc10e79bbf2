"""The end of a call: the step in which the caller records what the called threads delivered.

A person may grant more to the caller while its calls are open, so its head is read again within the
transaction that moves it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.api.extract import NO_USAGE
from uwf_core.api.sums import NOTHING_COUNTED, LedgerPayload
from uwf_core.engine.advance import failed_event, finished_event
from uwf_core.engine.budget import ledger_of
from uwf_core.engine.context import Attempt
from uwf_core.engine.record import save_failed_step, save_routed_step
from uwf_core.errors import AgentInterrupted, WrongStateError
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
from uwf_core.thread.head import Head, move_head, read_head
from uwf_core.thread.history import body_of, read_step
from uwf_core.thread.limits import ledger_since, ledger_sum
from uwf_core.thread.names import attempt_name, attempts_prefix
from uwf_core.thread.state import fold
from uwf_core.thread.worktree import place_of
from uwf_core.workflow.fan_out import CANCELLED, branch_result, joint_output, joint_status
from uwf_core.workflow.variants import STATUS

if TYPE_CHECKING:
    from uwf_core.engine.context import Run, Task
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import AttemptPayload, BranchPayload, CalledPayload, CallPayload
    from uwf_core.workflow.definition import Role


def record_result(run: "Run", call: OpenCall, child: Head) -> Attempt:
    """Record the result of a completed call as a step of the caller, whose head moves."""
    store = run.engine.store
    called: CalledPayload = store.payload(call.variable.value)
    result = read_step(store, child.ref)
    with store.transaction():
        run = _current(run, called, child)
        if child.state.worktree is not None:
            called = {**called, "cwd": child.state.cwd}
        attempt = _attempt(run, call.number, called, child.thread)
        attempt.continuation = _continuation(child.state)
        attempt.output = store.payload(Ref(result.payload["output"]))
        attempt.artifacts = {**artifacts_of(result.payload)} or None
        attempt.body = body_of(store, result)
        attempt.mark = child.ref
        attempt.ended_ms = result.payload["completedAtMs"]
        attempt.call = {**NO_CALL, "child": child.ref, "usage": _used(run, called, child)}
        crash_points.reach("return")
        _save_result(run, attempt, Ref(result.payload["output"]), [call])
    run.watch.event(finished_event(run.engine, attempt))
    return attempt


def record_join(
    run: "Run", role: "Role", calls: Sequence[OpenCall], children: Sequence[Head]
) -> Attempt:
    """Record the results of all branches, completed or cancelled, as a step of the caller."""
    store = run.engine.store
    events: list[CalledPayload] = [store.payload(call.variable.value) for call in calls]
    with store.transaction():
        run = _current(run, events[0], children[0])
        attempt = _attempt(run, calls[0].number, events[0], None)
        ends = [_Ended(run, each, child) for each, child in zip(events, children, strict=True)]
        attempt.ended_ms = max(each.ended_ms for each in ends)
        attempt.call = _joined(ends)
        _save_join(run, role, attempt, ends, calls)
    run.watch.event(finished_event(run.engine, attempt))
    return attempt


def record_empty(run: "Run", role: "Role", task: "Task") -> Attempt:
    """Record a fan-out over an empty list."""
    store, now = run.engine.store, run.engine.now_ms()
    with store.transaction():
        said = str(store.put_text(task.said)) if task.said else None
        called = {**task._asdict(), "said": said, "atMs": now}
        attempt = _attempt(run, task.number, called, None)
        attempt.ended_ms = now
        attempt.call = _joined([])
        _save_join(run, role, attempt, [], [])
    run.watch.event(finished_event(run.engine, attempt))
    return attempt


def record_cancelled(run: "Run", call: OpenCall, child: Head) -> Attempt:
    """Record that the called thread was cancelled: a failed attempt; the next call creates a new
    thread.
    """
    engine, store = run.engine, run.engine.store
    called: CalledPayload = store.payload(call.variable.value)
    failure = AgentInterrupted(f"the called thread {child.thread} was cancelled")
    with store.transaction():
        run = _current(run, called, child)
        attempt = _attempt(run, call.number, called, child.thread)
        attempt.continuation = _continuation(child.state)
        attempt.mark = None if child.at_start else child.ref
        attempt.ended_ms = attempt.payload["startedAtMs"]
        attempt.call = {**NO_CALL, "child": attempt.mark, "usage": _used(run, called, child)}
        crash_points.reach("return")
        attempt.step = save_failed_step(engine, attempt, failure, keeps_session=False)
        ended = {**attempt.payload, "step": attempt.step.ref}
        opened = OpenAttempt(call.number, run.head.state.tries + 1, attempt.payload["role"])
        name = attempt_name(run.head.thread, opened.name)
        store.set_variable(name, engine.nodes.put("attempt", ended), {}, None)
        store.delete_variable(call.variable)
        state = fold(run.head.state, attempt.step)
        attempt.head = move_head(store, run.head, run.head.ref, state)
    run.watch.event(failed_event(engine, attempt, failure))
    return attempt


class _Ended:
    """A branch that has ended: what it delivered, and what its call used."""

    def __init__(self, run: "Run", called: "CalledPayload", child: Head) -> None:
        store = run.engine.store
        self.child = child
        self.ledger = _used(run, called, child)
        self.ended_ms = called["atMs"]
        self.artifacts: dict[str, str] | None = None
        index = called["index"] or 0
        if child.state.status == "cancelled":
            status = CANCELLED
            self.result = branch_result(index, status, "", None)
        else:
            step = read_step(store, child.ref)
            output = store.payload(Ref(step.payload["output"]))
            status = output[STATUS]
            self.artifacts = {**artifacts_of(step.payload)} or None
            place = place_of(child.state)
            self.result = branch_result(index, status, body_of(store, step), output, place)
            self.ended_ms = step.payload["completedAtMs"]
        self.payload: BranchPayload = {
            "name": called["branch"],
            "role": called["plays"],
            "thread": child.thread,
            "status": status,
        }


def _joined(ends: Sequence[_Ended]) -> "CallPayload":
    total, by_role = NOTHING_COUNTED, dict[str, LedgerPayload]()
    for each in ends:
        role = each.payload["role"]
        total = ledger_sum(total, each.ledger)
        by_role[role] = ledger_sum(by_role.get(role, NOTHING_COUNTED), each.ledger)
    return {
        **NO_CALL,
        "children": [str(each.child.ref) for each in ends],
        "branches": [each.payload for each in ends],
        "usage": total,
        "usageByRole": by_role,
    }


def _save_join(
    run: "Run",
    role: "Role",
    attempt: Attempt,
    ends: Sequence[_Ended],
    calls: Sequence[OpenCall],
) -> None:
    """Store the step of a fan-out, and move the head of the caller. Within a transaction."""
    assert role.fan_out is not None
    statuses = [each.payload["status"] for each in ends]
    names = [each.payload["name"] for each in ends]
    status = joint_status(statuses, role.fan_out.then or ())
    attempt.output = joint_output(status, [each.result for each in ends], names)
    if any([each.artifacts for each in ends]):  # noqa: C419
        from uwf_core.engine.delivery import joint_artifacts

        keys = [str(number) if name is None else name for number, name in enumerate(names)]
        files = [each.artifacts for each in ends]
        attempt.artifacts = joint_artifacts([*zip(keys, files, strict=True)])
    crash_points.reach("join")
    output = run.engine.store.put(role.frontmatter, attempt.output)
    _save_result(run, attempt, output, calls)


def _save_result(run: "Run", attempt: Attempt, output: Ref, calls: Sequence[OpenCall]) -> None:
    """Store the step of calls that returned, move the head of the caller, and delete the names of
    the calls and of failed attempts at the step. Within a transaction.
    """
    store, head = run.engine.store, run.head
    attempt.step = save_routed_step(run, attempt, output)
    failed = store.variables(attempts_prefix(head.thread)) if head.state.tries else []
    for variable in (*(call.variable for call in calls), *failed):
        store.delete_variable(variable)
    attempt.head = move_head(store, head, Ref(attempt.step.ref), fold(head.state, attempt.step))


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


def _used(run: "Run", called: "CalledPayload", child: Head) -> LedgerPayload:
    """What a thread has used since it was called."""
    return ledger_since(ledger_of(run.engine, child.state), called["ledger"])


def _attempt(run: "Run", number: int, called: Mapping[str, Any], session: str | None) -> Attempt:
    """The calls as an attempt at a step of the caller. `session`: the thread that plays its role,
    None for a fan-out: each branch has its own prompt, so the step has only what a person said.
    """
    store, state = run.engine.store, run.head.state
    if session is None:
        blank = str(store.put_text(""))
        own = {"edgePrompt": blank, "prompt": called["said"] or blank, "cwd": run.folder}
        called = {**called, **own}
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
