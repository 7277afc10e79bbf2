"""A thread as a document. Reads without ever taking a lock."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.engine.find import find_thread
from uwf_core.errors import CorruptNodeError, UwfError
from uwf_core.ids import ThreadId
from uwf_core.thread.calls import (
    Frame,
    LastCalled,
    OpenCall,
    Waiting,
    asks_below,
    calling_heads,
    is_recorded,
    open_calls,
    state_below,
)
from uwf_core.thread.decisions import Suspension, session_of
from uwf_core.thread.head import read_head
from uwf_core.thread.lock import holder_of
from uwf_core.thread.names import FINISHED
from uwf_core.thread.tags import first_line
from uwf_core.views.recorded import RecordedThread, open_thread
from uwf_core.views.row import corrupt_row, row_of, used_with_calls

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.documents import (
        BranchDocument,
        CalledDocument,
        FrameDocument,
        ThreadDocument,
        ThreadRow,
    )
    from uwf_core.engine.engine import Engine


def show_thread(engine: "Engine", word: str) -> "ThreadDocument":
    """A thread with its task, the form of a pending question and the commands that continue it.

    Raises:
        UnknownIdError: unknown thread.
    """
    try:
        thread = open_thread(engine, word)
    except CorruptNodeError as error:
        row = corrupt_row(find_thread(engine, word), error.message)
        return {**row, **_unread(), "hint": _hint(row, None, None)}  # type: ignore[typeddict-item]
    row = row_of(thread.variable, thread.state, thread.holder)
    row["usage"] = used_with_calls(engine, thread.stored)
    waits = thread.state.suspension if row["status"] == "suspended" else None
    form = thread.form if waits is not None and waits.reason == "role" else None
    commands, hint = _continuation(engine, thread, row, form)
    own = thread.state.worktree
    return {
        **row,
        **(_unread() | (_inside(thread) if thread.is_sound else {})),  # type: ignore[typeddict-item]
        "form": form,
        "worktree": own and {"folder": own.folder, "branch": own.branch, "base": own.base},
        "stack": _stack(engine.store, thread.stack),
        "children": [_called(each) for each in thread.called],
        "next": commands,
        "hint": hint,
    }


def _unread() -> dict[str, Any]:
    """What a document has beside the row, of a thread whose nodes cannot be read."""
    unknown = dict.fromkeys(("task", "input", "agent", "bindings", "form", "worktree"))
    return {
        **unknown, "stack": [], "children": [], "compacted": None, "result": None, "files": [],
        "notices": [], "next": [],
    }  # fmt: skip


def _inside(thread: "RecordedThread") -> dict[str, Any]:
    """What the start of a thread says, and its newest step."""
    found = {"task": thread.task, "input": thread.input, "compacted": thread.compacted}
    found |= {"agent": thread.node["agent"], "bindings": thread.node["bindings"]}
    step = next(thread.newest_first("output", "body"), None)
    if step is None:
        return found
    if thread.status == "completed":
        said = {"output": dict(step.output), "body": step.body}
        found["result"] = {"role": step.role, "status": step.status, **said}
    if step.files:
        from uwf_core.views.steps import files_of_step  # for few threads

        found["files"] = files_of_step(step)
    return {**found, "notices": [*(step.node["notices"] or ())]}


def _frame(frame: Frame) -> "FrameDocument":
    thread, name, role, step, _ = frame
    return {"thread": thread, "workflowName": name, "role": role, "step": step, "branches": None}


def _stack(store: "Store", stack: Sequence[Frame]) -> "list[FrameDocument]":
    """The threads of a stack; a fan-out, which is the last one, has its branches."""
    documents = [_frame(each) for each in stack]
    if stack and stack[-1].branches is not None:
        documents[-1]["branches"] = [_branch(store, each) for each in stack[-1].branches]
    return documents


def _branch(store: "Store", call: OpenCall) -> "BranchDocument":
    below = state_below(store, call.child)
    waits = None if below is None else below.suspension
    return {
        "index": call.place,
        "name": call.name,
        "thread": call.child,
        "status": "corrupt" if below is None else below.status,
        "reason": waits and waits.reason,
    }


def _called(called: LastCalled) -> "CalledDocument":
    thread, role, state = called
    name = "" if state is None else state.workflow_name
    status = "corrupt" if state is None else state.status
    return {"thread": thread, "role": role, "workflowName": name, "status": status}


def task_of(engine: "Engine", thread: str) -> str | None:
    """The first line of a thread's task, for a list; None if it cannot be read."""
    try:
        return first_line(open_thread(engine, thread).task)
    except UwfError:  # the list reports the thread as corrupt
        return None


def _continuation(
    engine: "Engine", thread: RecordedThread, row: "ThreadRow", form: dict[str, Any] | None
) -> tuple[list[str], str | None]:
    """The commands of which each continues a thread, and what they do."""
    below, waits, leaf = thread.stack[1:], thread.state.suspension, thread
    if row["original"] is not None:
        return [f"uwf thread fork {thread.head}"], _FORK_ORIGINAL
    if row["status"] != "suspended":
        waits = None
    if row["parent"] is not None and (ended := _after_call(engine, thread)) is not None:
        return ended
    fan_out = thread.stack[-1].branches if thread.stack else None
    if fan_out is not None and row["status"] in ("idle", "running", "suspended"):
        return _of_branches(engine, row, thread.stack[-1], form)
    if below and row["status"] != "cancelled":
        if row["status"] == "running" and row["running"] is None:
            running = (each.thread for each in below if holder_of(engine.store, each.thread))
            row = {**row, "thread": next(running, below[-1].thread)}
            return _next(engine, row, None, None), _FOLLOW
        roles = [each.role for each in thread.stack if each.role is not None]
        row = {**row, "currentRole": "/".join(roles)}
        if row["status"] == "idle" and below[-1].role is None:
            return _next(
                engine, row, None, None
            ), f"records the result of thread {below[-1].thread}"
        if waits is not None:
            waits = waits._replace(role="/".join(roles))
            leaf = open_thread(engine, below[-1].thread)
    if waits is None:
        return _next(engine, row, None, None), _hint(row, None, None)
    return commands_of(engine, row["thread"], leaf, waits, form), _hint(row, waits, leaf)


def _of_branches(
    engine: "Engine", row: "ThreadRow", frame: Frame, form: dict[str, Any] | None
) -> tuple[list[str], str | None]:
    """What continues a thread at a fan-out: a run of the branches that are left, and for each that
    waits for a person what `show` of it says.
    """
    store, calls = engine.store, frame.branches or []
    states = [(call, state_below(store, call.child)) for call in calls]
    if row["status"] == "running":
        return [f"uwf thread wait {row['thread']}"], _FOLLOW_BRANCHES
    left = [state for _, state in states if state is None or state.status not in FINISHED]
    people = [
        (call, state.suspension)
        for call, state in states
        if state and state.suspension and state.suspension.reason in ("role", "limit")
    ]
    commands: list[str] = []
    if len(left) > len(people) or not left:
        commands = [f"uwf thread exec {row['thread']}"]
    limited = _at_limit(engine, ThreadId(row["thread"]))
    if limited:
        root = _root_of(engine, ThreadId(row["thread"]))
        commands = [_grants(engine, root, _at_limit(engine, root))]  # the others run as well
    asking = [(call, waits) for call, waits in people if waits.reason == "role"]
    if len(asking) == 1 and not limited and row["suspendReason"] == "role":
        commands += _next(engine, row, asking[0][1], form)
    else:
        commands += [f"uwf thread show {call.child}" for call, _ in asking[:_SHOWN]]
    if not left:
        return commands, f"records the results of {len(calls)} branches"
    waiting = f"; waiting for a person: {len(people)}" if people else ""
    return commands, f"branches left: {len(left)} of {len(calls)}{waiting}"


def _at_limit(engine: "Engine", thread: ThreadId) -> list[Waiting]:
    """The threads in a tree that wait at a limit."""
    found = asks_below(engine.store, read_head(engine.store, thread))
    return [each for each in found if each.suspension.reason == "limit"]


def _grants(engine: "Engine", root: ThreadId, waiting: "Sequence[Waiting]") -> str:
    from uwf_core.engine.grants import grant_command  # for threads with limits

    return grant_command(engine, root, waiting)


_SHOWN = 5
_FORK_ORIGINAL = "a new thread continues from its last step: it came from the original uwf"
_OTHER_AGENT = (
    "asks an agent of another service or model: this one would reject the same request again, "
    "unless you change its configuration"
)
_FOLLOW_BRANCHES = "waits for the run of the branches"
_FOLLOW = "waits for the run of the called thread"


def _after_call(engine: "Engine", thread: RecordedThread) -> tuple[list[str], str | None] | None:
    """What continues a called thread that takes no further step itself; None if it can."""
    store, state = engine.store, thread.stored
    assert state.caller is not None
    parent, number = state.caller.thread, state.caller.number
    fork = [f"uwf thread fork {thread.head}"]
    cancelled = [head for head in calling_heads(store, state) if head.state.status == "cancelled"]
    if cancelled:
        above = cancelled[0].thread
        return fork, f"a new thread continues from its last step: thread {above} is cancelled"
    if state.status == "completed" and is_recorded(store, state):
        where = f"step {number} of thread {parent}"
        return fork, f"a new thread continues from its last step: its result is {where}"
    if state.status in FINISHED and any(
        call.child == thread.id for call in open_calls(store, ThreadId(parent))
    ):
        what = "the result" if state.status == "completed" else "the cancellation"
        return [f"uwf thread exec {parent}"], f"records {what} in thread {parent}"
    return None


def _next(
    engine: "Engine", row: "ThreadRow", suspension: Suspension | None, form: dict[str, Any] | None
) -> list[str]:
    """The commands of which each continues the thread."""
    if suspension is None:
        early = " --now" if row["waitingUntil"] is not None else ""
        command = {"idle": f"exec {row['thread']}{early}", "running": f"wait {row['thread']}"}
        return [f"uwf thread {each}" for each in [command.get(row["status"])] if each]
    return _answers(engine, row["thread"], suspension, form)


def commands_of(
    engine: "Engine", thread: str, leaf: RecordedThread, waits: Suspension,
    form: dict[str, Any] | None,
) -> list[str]:  # fmt: skip
    """The commands of which each continues `thread`, which waits, itself or in the call `leaf`."""
    commands = _answers(engine, thread, waits, form)
    again = _repeats_itself(leaf, waits)
    return [f"{each} --agent <agent>" for each in commands] if again else commands


def _answers(
    engine: "Engine", thread: str, waits: Suspension, form: dict[str, Any] | None
) -> list[str]:
    if waits.reason == "limit":  # granted at the root, which runs all that it holds up
        root = _root_of(engine, ThreadId(thread))
        return [_grants(engine, root, _at_limit(engine, root))]
    if waits.reason != "role":
        return [f"uwf thread exec {thread}"]
    resume = f"uwf thread resume {thread}"
    ways = []
    if form:
        from uwf_core.views.form import answer_options  # for questions alone

        ways = [f"{resume} {options}" for options in answer_options(form)]
    return ways if waits.question is not None else [*ways, f"{resume} -p <text>"]


def _root_of(engine: "Engine", thread: ThreadId) -> ThreadId:
    """The thread at the top of the open calls above a thread."""
    above = calling_heads(engine.store, read_head(engine.store, thread).state)
    return above[-1].thread if above else thread


def until_done(commands: Sequence[str], thread: str) -> list[str]:
    """The commands that continue a thread, each until its end."""
    return [command.replace(thread, f"{thread} --until-done", 1) for command in commands]


def _hint(
    row: "ThreadRow", suspension: Suspension | None, leaf: RecordedThread | None
) -> str | None:
    """What the next command does, and what else there is."""
    thread = row["thread"]
    match row["status"]:
        case "idle":
            early = " at once; `--until-done` waits for its time" if row["waitingUntil"] else ""
            return f"runs {row['currentRole']}{early}"
        case "running":
            return f"waits for the run; `uwf step turns {thread} --live` follows it"
        case "completed":
            return f"`uwf thread read {thread}` prints all of it"
        case "corrupt":
            return f"`uwf cas verify {thread}` lists what is damaged or missing"
        case "suspended" if suspension is not None and leaf is not None:
            hint = _suspended_hint(suspension, _failed_attempt(leaf))
            return f"{_OTHER_AGENT}; {hint}" if _repeats_itself(leaf, suspension) else hint
    return None


def _failed_attempt(thread: RecordedThread) -> str | None:
    """The newest attempt at the pending step, if it failed."""
    if thread.state.attempt is not None:
        return None
    return next((step.ref for step in reversed(thread.pending)), None)


def _repeats_itself(thread: RecordedThread, waits: Suspension) -> bool:
    """Whether the next attempt at the pending step sends what was rejected: it was the whole prompt
    already, in a new session.
    """
    if waits.kind != "bad_request":
        return False
    if not thread.pending or thread.pending[-1].node["agent"] == "program":
        return False
    *before, failed = [*thread.newest_first(), *thread.pending]
    session = session_of(failed.node)["id"]
    return session is None or all(session_of(each.node)["id"] != session for each in before)


def asks_to_install(message: str) -> bool:
    """Whether the hint of a failure, in the parentheses that end its message, is to install."""
    depth = 0
    for at in range(len(message) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(message[at], 0)
        if depth <= 0:
            return "install" in message[at:].lower()
    return False


def _suspended_hint(suspension: Suspension, failed: str | None) -> str:
    if suspension.reason == "limit":
        return "grants the same allowance once more; another amount after `--grant` is possible"
    if suspension.question is not None:
        return f"answers {suspension.role}; `form` is the JSON Schema of an answer"
    again = f"runs {suspension.role} again"
    if suspension.reason == "role":
        again += " with your answer; `--without-answer` in its place continues without one"
    if suspension.kind == "unavailable" and asks_to_install(suspension.message):
        again += ", once what is missing is installed"
    if suspension.until_ms is not None:
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(suspension.until_ms / 1000))
        again += f", refused until {until}"
    return f"{again}; `uwf step show {failed}` shows the failed attempt" if failed else again
