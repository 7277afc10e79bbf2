"""The step of a workflow role: a call of another thread, from its first event to the step in which
the caller records its result.
"""

from contextlib import nullcontext
from typing import TYPE_CHECKING

from uwf_core.agents.bindings import Bindings, child_bindings
from uwf_core.api.extract import NO_USAGE
from uwf_core.engine.advance import failed_event, finished_event
from uwf_core.engine.attempt import Attempt
from uwf_core.engine.budget import ledger_of
from uwf_core.engine.call_input import call_input
from uwf_core.engine.fork import fork_at
from uwf_core.engine.location import moved_folder
from uwf_core.engine.nodes import create_thread, save_event
from uwf_core.engine.plan import HeadPosition, moderate
from uwf_core.engine.record import save_failed_step, save_routed_step
from uwf_core.errors import AgentInterrupted, UnknownIdError, WrongStateError
from uwf_core.ids import Ref, ThreadId
from uwf_core.process import crash_points
from uwf_core.process.identity import ProcessId, hostname
from uwf_core.thread.calls import CALL_AGENT, CallResult, OpenCall
from uwf_core.thread.decisions import runs, waits
from uwf_core.thread.head import Head, move_head, read_head
from uwf_core.thread.history import Step, body_of, read_step
from uwf_core.thread.limits import DEPTH, THREAD, ledger_since, named
from uwf_core.thread.lock import thread_lock
from uwf_core.thread.names import attempt_name, attempts_prefix, call_name
from uwf_core.thread.state import OpenAttempt, fold
from uwf_core.workflow.definition import SELF, START

if TYPE_CHECKING:
    from uwf_core.engine.plan import Intent, Task
    from uwf_core.engine.run import Run
    from uwf_core.thread.state import RoleSession, ThreadState
    from uwf_core.thread.types import AttemptPayload, CalledPayload, StartPayload
    from uwf_core.workflow.definition import Definition, Role


def beyond_depth(run: "Run") -> Head | None:
    """The head of a thread that may call no other, suspended; None if it may."""
    state, limit = run.head.state, run.engine.settings.limits.depth
    if state.depth < limit:
        return None
    message = f"depth {limit} is reached: a further call would be {state.depth + 1} below the root"
    to = waits("limit", state.current_role or "", message)
    with run.engine.store.transaction():
        return save_event(
            run.engine,
            run.head,
            "limit",
            limited=state.thread,
            scope=THREAD,
            origin="the configuration",
            limit=DEPTH,
            value=limit,
            used=state.depth + 1,
            reserved=0,
            next=to,
        )


def begin_call(run: "Run", role: "Role", intent: "Intent") -> OpenCall:
    """Store the call: its event, its name, and the called thread, unless the role has one.

    Raises:
        RoutingFailed: the graph leads nowhere; nothing is stored.
        BusyError: another process runs the called thread.
    """
    engine, store = run.engine, run.engine.store
    task = moderate(run, intent)
    if run.cwd is not None:  # `--cwd` is for one command, a call for many
        task = task._replace(cwd=moved_folder(task.cwd, run.cwd, run.head.state.cwd))
    definition = _definition(run, role)
    known = run.head.state.role(role.name).sessions.get(CALL_AGENT)
    earlier, now = _earlier(run, definition, known), engine.now_ms()
    thread = earlier.thread if isinstance(earlier, Head) else ThreadId.new(now)
    lock = thread_lock(store, thread, now) if isinstance(earlier, Head) else nullcontext()
    with lock, store.transaction(durable=False):
        child = earlier
        given = call_input(run, task, definition, child if isinstance(child, Head) else None)
        if not isinstance(child, Head):
            child = _new_thread(run, definition, task, thread, child, given)
        crash_points.reach("call")
        entry = "resume" if child.state.steps else "new"
        head = save_event(
            engine,
            child,
            "called",
            parent=run.head.thread,
            parentHead=run.head.ref,
            number=task.number,
            role=role.name,
            purpose=task.purpose,
            replaces=task.replaces,
            said=store.put_text(task.said) if task.said else None,
            by=task.by,
            edgePrompt=store.put_text(task.base),
            prompt=store.put_text(task.instruction),
            input=given,
            cwd=task.cwd,
            ledger=ledger_of(engine, child.state),
            limits=_limits_of(run, task, child.state),
            next=runs(definition.graph[START][entry].role),
        )
        caller = head.state.caller
        assert caller is not None
        name = call_name(run.head.thread, task.number, thread)
        variable = store.set_variable(name, caller.event, {}, None)
    run.watch.notice(f"#{task.number} {role.name}: calls {definition.name}, thread {thread}")
    return OpenCall(variable, task.number, role.name, thread)


def _limits_of(run: "Run", task: "Task", child: "ThreadState") -> dict[str, float] | None:
    """The limits of the call: those of the edge that leads to it. A call that is poked, or that
    continues after a person's answer, keeps those that it had.
    """
    to = HeadPosition(run, run.head).transition()
    if task.replaces is None and to.status == "completed":
        limits = run.definition.graph[START]["resume"].limits
    elif task.replaces is None and to.status == "idle":
        limits = to.limits
    else:
        before = child.caller and run.engine.store.payload(child.caller.event)
        return before and before["limits"]
    return None if limits is None else dict(named(limits)) or None


def _definition(run: "Run", role: "Role") -> "Definition":
    assert role.workflow is not None
    return run.definition if role.workflow == SELF else run.engine.definition(Ref(role.workflow))


def _earlier(
    run: "Run", definition: "Definition", known: "RoleSession | None"
) -> "Head | Step | None":
    """What the role called before: the thread that continues, or its step at which a new one forks
    (in a fork, and where the thread is gone). None if it was cancelled, or of another workflow.
    """
    if known is None or known.mark is None:
        return None
    step = read_step(run.engine.store, Ref(known.mark))
    if step.payload["workflow"] != definition.ref:
        return None
    try:
        head = read_head(run.engine.store, ThreadId(known.id))
    except UnknownIdError:
        return step
    if known.inherited:
        return step
    return head if head.state.status == "completed" else None


def _new_thread(
    run: "Run",
    definition: "Definition",
    task: "Task",
    thread: ThreadId,
    at: "Step | None",
    given: Ref | None,
) -> Head:
    """A new thread for the call, or a fork at the step."""
    engine, state = run.engine, run.head.state
    if at is not None:
        return fork_at(engine, thread, at.ref, depth=state.depth + 1)
    above = Bindings(state.agent, engine.start(state.start)["bindings"] or {})
    bindings = child_bindings(above, task.role)
    start: StartPayload = {
        "workflow": definition.ref,
        "prompt": engine.store.put_text(task.instruction),
        "cwd": task.cwd,
        "agent": bindings.agent,
        "startedAtMs": engine.now_ms(),
        "parent": run.head.ref,
        "depth": state.depth + 1,
        "input": given,
        "bindings": dict(bindings.roles) or None,
        "limits": None,
    }
    return create_thread(engine, thread, definition, start)


def record_result(run: "Run", call: OpenCall, child: Head) -> Attempt:
    """Record the result of a completed call as a step of the caller, whose head moves."""
    engine, store = run.engine, run.engine.store
    attempt = _attempt(run, call, child)
    result = read_step(store, child.ref)
    attempt.output = store.payload(Ref(result.payload["output"]))
    attempt.body = body_of(store, result)
    attempt.mark = child.ref
    attempt.ended_ms = result.payload["completedAtMs"]
    with store.transaction():
        crash_points.reach("return")
        attempt.step = save_routed_step(run, attempt, Ref(result.payload["output"]))
        _forget(run, call)
        state = fold(run.head.state, attempt.step)
        attempt.head = move_head(store, run.head, Ref(attempt.step.ref), state)
    run.watch.event(finished_event(engine, attempt))
    return attempt


def record_cancelled(run: "Run", call: OpenCall, child: Head) -> Attempt:
    """Record that the called thread was cancelled: a failed attempt; the next call creates a new
    thread.
    """
    engine, store = run.engine, run.engine.store
    attempt = _attempt(run, call, child)
    attempt.mark = None if child.at_start else child.ref
    attempt.ended_ms = attempt.payload["startedAtMs"]
    failure = AgentInterrupted(f"the called thread {child.thread} was cancelled")
    with store.transaction():
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


def _forget(run: "Run", call: OpenCall) -> None:
    """Delete the names of the call, and of failed attempts at its step. Within a transaction."""
    store = run.engine.store
    failed = store.variables(attempts_prefix(run.head.thread)) if run.head.state.tries else []
    for variable in (call.variable, *failed):
        store.delete_variable(variable)


def _attempt(run: "Run", call: OpenCall, child: Head) -> Attempt:
    """The call as an attempt at a step of the caller."""
    store, state = run.engine.store, run.head.state
    called: CalledPayload = store.payload(call.variable.value)
    if called["parentHead"] != run.head.ref:
        raise WrongStateError(
            f"thread {child.thread} was called from {called['parentHead']}, which is not the head "
            f"of thread {run.head.thread}",
            hint=f"next: uwf cas verify {run.head.thread}",
        )
    replaced = called["replaces"]
    prev = None if run.head.at_start else run.head.ref
    own = ProcessId.own()
    attempt = Attempt(run.head)
    payload: AttemptPayload = {
        "thread": run.head.thread,
        "seq": state.seq,
        "number": call.number,
        "attempt": state.tries + 1,
        "role": called["role"],
        "agent": CALL_AGENT,
        "purpose": called["purpose"],
        "prev": prev if replaced is None else read_step(store, Ref(replaced)).payload["prev"],
        "replaces": replaced,
        "edgePrompt": called["edgePrompt"],
        "instruction": called["prompt"],
        "prompt": called["prompt"],
        "said": called["said"],
        "answer": None,
        "by": called["by"],
        "cwd": called["cwd"],
        "session": child.thread,
        "ownSession": False,
        "startedAtMs": called["atMs"],
        "engine": {"pid": own.pid, "start": own.start, "host": hostname()},
        "marker": f"{run.head.thread}/{call.number}",
        "reserved": None,
        "step": None,
        "question": None,
    }
    attempt.payload = payload
    attempt.session = child.thread
    attempt.usage = NO_USAGE
    attempt.continuation = _continuation(child.state)
    attempt.call = CallResult(
        None if child.at_start else child.ref,
        ledger_since(ledger_of(run.engine, child.state), called["ledger"]),
    )
    return attempt


def _continuation(child: "ThreadState") -> str:
    caller = child.caller
    assert caller is not None
    if caller.steps == 0:
        return "new"
    return "forked" if caller.steps == child.inherited_steps else "continued"
