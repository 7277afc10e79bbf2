"""The step of a workflow role: a call of another thread, from its first event to the step in which
the caller records its result.
"""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from uwf_core.agents.bindings import Bindings, branch_bindings, child_bindings
from uwf_core.cas.schemas import violations
from uwf_core.engine.budget import ledger_of, save_limit
from uwf_core.engine.events import create_thread, save_call
from uwf_core.engine.fork import fork_at
from uwf_core.engine.location import lasting_folder
from uwf_core.engine.plan import HeadPosition
from uwf_core.errors import RoutingFailed, UnknownIdError
from uwf_core.extract.typed import problem_words
from uwf_core.ids import Ref, ThreadId
from uwf_core.process import crash_points
from uwf_core.thread.calls import CALL_AGENT, NewCall, OpenCall
from uwf_core.thread.decisions import runs
from uwf_core.thread.head import Head, queue_head, read_head
from uwf_core.thread.history import Step, read_input, read_step
from uwf_core.thread.limits import DEPTH, THREAD, Limit, Reached, named
from uwf_core.thread.lock import thread_lock
from uwf_core.thread.names import call_name
from uwf_core.workflow.definition import SELF, START
from uwf_core.workflow.fields import reduced_input

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uwf_core.cas.store import Store
    from uwf_core.engine.context import Run, Task
    from uwf_core.thread.state import RoleSession
    from uwf_core.thread.types import StartPayload
    from uwf_core.workflow.definition import Definition, Role


def beyond_depth(run: "Run", role: "Role") -> Head | None:
    """The head of a thread whose `role` may call no other, suspended; None if it may."""
    state, limit = run.head.state, run.engine.settings.limits.depth
    if state.depth < limit:
        return None
    message = f"depth {limit} is reached: a further call would be {state.depth + 1} below the root"
    depth = Limit(state.thread, THREAD, "the configuration", DEPTH, limit)
    reached = Reached(depth, role.name, state.depth + 1, 0)
    return save_limit(run.engine, run.head, reached, message)


def call_of_role(run: "Run", role: "Role", task: "Task") -> NewCall:
    """The call of a role that a workflow plays: of a new thread, unless the role has one."""
    task = task._replace(cwd=lasting_folder(run, task.cwd))
    assert role.workflow is not None
    definition = called_definition(run, role.workflow)
    known = run.head.state.role(role.name).sessions.get(CALL_AGENT)
    earlier = earlier_call(run, definition, known)
    before = earlier if isinstance(earlier, Head) else None
    return NewCall(
        plays=role.name,
        definition=definition,
        base=task.base,
        instruction=task.instruction,
        cwd=task.cwd,
        given=None if definition.input is None else _output_of_call(run, task, before),
        limits=_limits_of(run, task, before),
        earlier=earlier,
    )


def begin_calls(
    run: "Run", role: "Role", task: "Task", calls: "Sequence[NewCall]"
) -> list[OpenCall]:
    """Store the calls of one step: their events and names, and the threads that are new.

    Raises:
        RoutingFailed: an input does not fit; nothing is stored.
        BusyError: another process runs a thread that continues.
    """
    engine, store = run.engine, run.engine.store
    calls, now = _with_bases(run, role, calls), engine.now_ms()
    # Their names are in the order of branches.
    threads = sorted(engine.thread_ids.new(now) for _ in calls)
    with ExitStack() as stack:
        for number, new in enumerate(calls):
            if isinstance(new.earlier, Head):
                threads[number] = new.earlier.thread
                stack.enter_context(thread_lock(store, new.earlier.thread, now))
        # A worker writes next that a queued caller waits for these calls; it would wait forever if
        # a crash of the server forgot them before.
        stack.enter_context(store.transaction(durable=run.head.is_queued))
        each = zip(calls, threads, strict=True)
        begun = [_begin(run, task, new, thread) for new, thread in each]
        crash_points.reach("calls")
    return begun


def _begin(run: "Run", task: "Task", new: NewCall, thread: ThreadId) -> OpenCall:
    engine, store = run.engine, run.engine.store
    given = _call_input(store, new.given, new.definition, new.plays)
    child = new.earlier
    if not isinstance(child, Head):
        child = _new_thread(run, new, thread, given)
    crash_points.reach("call")
    entry = "resume" if child.state.steps else "new"
    head, variable = save_call(
        engine,
        run.head,
        child,
        call_name(run.head.thread, task.number, thread),
        **{name: getattr(task, name) for name in ("number", "role", "purpose", "replaces", "by")},
        plays=new.plays,
        index=new.place,
        branch=new.name,
        said=store.put_text(task.said) if task.said else None,
        edgePrompt=store.put_text(new.base),
        prompt=store.put_text(new.instruction),
        input=given,
        cwd=new.cwd,
        base=new.commit,
        ledger=ledger_of(engine, child.state),
        limits=new.limits,
        next=runs(new.definition.graph[START][entry].role),
    )
    if run.head.is_queued:
        queue_head(store, head)
    branch = new.place or 0, new.name
    return OpenCall(variable, task.number, task.role, thread, None, *branch)


def _call_input(store: "Store", given: Any, called: "Definition", role: str) -> Ref | None:
    """Store the input of a call, None if the called workflow declares none. Within a transaction.

    Args:
        store: of the threads.
        given: an output or an item, of which the input is a part.
        called: the workflow. role: that it plays.

    Raises:
        RoutingFailed: what is given does not satisfy the schema.
    """
    schema = called.input
    if schema is None:
        return None
    fields = reduced_input(given, schema) if isinstance(given, dict) else given
    wrong = violations(schema, fields)
    if wrong:
        words = "; ".join(map(problem_words, wrong))
        raise RoutingFailed(
            f"the output does not satisfy the input of the workflow {called.name}, which the role "
            f"{role!r} calls: {words}",
            hint="next: uwf workflow check FILE",
        )
    return store.put(store.put_schema(dict(schema)), fields)


def _output_of_call(run: "Run", task: "Task", child: "Head | None") -> Any:
    """The output that took the edge to the role. At $START it is the caller's own input, and after
    a suspension of the role the input that the role had in `child`, the thread of its last call.
    """
    store = run.engine.store
    last = None if task.prev is None else read_step(store, Ref(task.prev)).payload
    if last is not None and last["next"]["status"] == "idle":
        return store.payload(Ref(last["output"]))
    is_again = last is not None and last["next"]["status"] == "suspended"
    source = child.state if is_again and child is not None else run.head.state
    return read_input(store, source) or {}


def _with_bases(run: "Run", role: "Role", calls: "Sequence[NewCall]") -> "Sequence[NewCall]":
    """The calls, of which those that begin in worktrees all begin at the same commit."""
    edge, workflows = role.fan_out, [run.definition, *(each.definition for each in calls)]
    if not any([edge and edge.workspace, *(each.workspace for each in workflows)]):
        return calls
    from uwf_core.engine.worktree import base_of_calls, calls_in_worktree  # for worktrees

    def is_apart(call: NewCall) -> bool:
        lacks = not isinstance(call.earlier, Head) or call.earlier.state.worktree is None
        return lacks and calls_in_worktree(run, role, call.definition)

    wanted = [is_apart(each) for each in calls]
    folder = calls[0].cwd if edge is None else run.folder
    base = base_of_calls(run, folder) if any(wanted) else None
    pairs = zip(calls, wanted, strict=True)
    return [each._replace(commit=base) if apart else each for each, apart in pairs]


def _limits_of(run: "Run", task: "Task", child: Head | None) -> dict[str, float] | None:
    """The limits of the call: those of the edge that leads to it. A call that is poked, or that
    continues after a person's answer, keeps those that it had.
    """
    to = HeadPosition(run, run.head).transition()
    if task.replaces is None and to.status == "completed":
        limits = run.definition.graph[START]["resume"].limits
    elif task.replaces is None and to.status == "idle":
        limits = to.limits
    else:
        caller = child and child.state.caller
        return run.engine.store.payload(caller.event)["limits"] if caller else None
    return None if limits is None else dict(named(limits)) or None


def called_definition(run: "Run", workflow: str) -> "Definition":
    """The workflow that a role calls: a reference, or `$SELF`."""
    return run.definition if workflow == SELF else run.engine.definition(Ref(workflow))


def earlier_call(
    run: "Run", definition: "Definition", known: "RoleSession | None"
) -> "Head | Step | None":
    """What a role or branch called before: the thread that continues, or its step at which a new
    one forks (in a fork, and where the thread is gone). None if it was cancelled, or of another
    workflow.
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


def _new_thread(run: "Run", new: NewCall, thread: ThreadId, given: Ref | None) -> Head:
    """A new thread for the call, or a fork at a step of the one before."""
    engine, state = run.engine, run.head.state
    if isinstance(new.earlier, Step):
        return fork_at(engine, thread, new.earlier.ref, depth=state.depth + 1)
    above = Bindings(state.agent, engine.start(state.start)["bindings"] or {})
    passed_on = branch_bindings if new.definition.branch else child_bindings
    bindings = passed_on(above, new.plays)
    start: StartPayload = {
        "workflow": new.definition.ref,
        "prompt": engine.store.put_text(new.instruction),
        "cwd": new.cwd,
        "agent": bindings.agent,
        "startedAtMs": engine.now_ms(),
        "parent": run.head.ref,
        "depth": state.depth + 1,
        "input": given,
        "bindings": dict(bindings.roles) or None,
        "limits": None,
    }
    return create_thread(engine, thread, new.definition, start)
