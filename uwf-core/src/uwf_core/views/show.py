"""A thread as a document. Reads without ever taking a lock."""

import json
import time
from typing import TYPE_CHECKING, Any

from uwf_core.engine.find import find_thread
from uwf_core.engine.results import status_fields
from uwf_core.errors import CorruptNodeError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.head import Head, nodes_present, read_head
from uwf_core.thread.history import read_start, read_step
from uwf_core.thread.lifecycle import effective
from uwf_core.thread.lock import holder_of
from uwf_core.thread.names import HEADS, attempts_prefix
from uwf_core.thread.state import Suspension, ThreadState, ThreadSummary
from uwf_core.thread.totals import Totals

if TYPE_CHECKING:
    from uwf_core.api.store import Holder, Variable
    from uwf_core.engine.documents import RunningDocument, ThreadDocument, ThreadRow
    from uwf_core.engine.engine import Engine


def show_thread(engine: "Engine", word: str) -> "ThreadDocument":
    """A thread with its task, the form of a pending question and the next command.

    Raises:
        UnknownIdError: unknown thread.
    """
    thread = find_thread(engine, word)
    try:
        head = read_head(engine.store, thread)
    except CorruptNodeError as error:
        row = corrupt_row(thread, error.message)
        return {**row, "task": None, "form": None, "hint": _hint(row, None, None)}
    holder = holder_of(engine.store, thread)
    is_sound = head.damage is None and nodes_present(engine.store, head)
    state = effective(head.state, is_running=holder is not None, is_sound=is_sound)
    row = row_of(head.variable, state, holder)
    waits = state.suspension if row["status"] == "suspended" else None
    failed = None if waits is None else _failed_attempt(engine, head)
    form = form_of(engine, head, waits)
    hint = _hint(row, waits, failed)
    if waits is not None and form is not None:
        hint = _answer_hint(thread, waits)
    return {**row, "task": _task(engine, head) if is_sound else None, "form": form, "hint": hint}


def _task(engine: "Engine", head: Head) -> str:
    start = read_start(engine.store, Ref(head.state.start))
    return engine.store.text(Ref(start["prompt"]))


def row_of(
    variable: "Variable", state: ThreadState | ThreadSummary, holder: "Holder | None"
) -> "ThreadRow":
    """The row of a thread."""
    return {
        "thread": variable.name[len(HEADS) :],
        "workflow": state.workflow,
        "workflowName": state.workflow_name,
        "cwd": variable.tags["cwd"],
        "head": variable.value,
        **status_fields(state),
        "steps": state.steps,
        "usage": state.totals.payload(),
        "running": _running(holder),
        "startedAtMs": state.started_ms,
        "updatedAtMs": variable.updated_ms,
    }


def corrupt_row(thread: ThreadId, message: str) -> "ThreadRow":
    """The row of a thread of which nothing but the id is known."""
    # A damaged id has no time of creation; 0 stands for unknown.
    started_ms = thread.created_ms if ThreadId.matches(thread) else 0
    return {
        "thread": thread,
        "workflow": "",
        "workflowName": "",
        "cwd": "",
        "head": "",
        "status": "corrupt",
        "currentRole": None,
        "suspendedRole": None,
        "suspendMessage": message,
        "suspendReason": None,
        "done": False,
        "steps": 0,
        "usage": Totals.none().payload(),
        "running": None,
        "startedAtMs": started_ms,
        "updatedAtMs": started_ms,
    }


def _running(holder: "Holder | None") -> "RunningDocument | None":
    if holder is None:
        return None
    return {"pid": holder.pid, "host": holder.host, "startedAtMs": holder.since_ms}


def form_of(engine: "Engine", head: Head, suspension: Suspension | None) -> dict[str, Any] | None:
    """The JSON Schema of an answer: that of the pending question, or of a role that yielded."""
    if suspension is None or suspension.reason != "role":
        return None
    store = engine.store
    if suspension.question is not None:
        question = store.get(Ref(suspension.question)).payload
        form = json.loads(store.text(Ref(question["form"])))
    elif head.at_start:
        return None
    else:
        output = store.get(Ref(read_step(store, head.ref).payload["output"])).payload
        form = output.get("form") if output.get("$status") == "$SUSPEND" else None
    return form if isinstance(form, dict) else None


def _hint(row: "ThreadRow", suspension: Suspension | None, failed: str | None) -> str | None:
    thread = row["thread"]
    match row["status"]:
        case "idle":
            return f"`uwf thread exec {thread}` runs {row['currentRole']}"
        case "running":
            return f"`uwf step turns {thread} --live` follows it; `uwf thread wait {thread}` waits"
        case "completed":
            return f"`uwf thread read {thread}` prints all of it"
        case "corrupt":
            return f"`uwf cas verify {thread}` lists what is damaged or missing"
        case "suspended" if suspension is not None:
            return _suspended_hint(thread, suspension, failed)
    return None


def _failed_attempt(engine: "Engine", head: Head) -> str | None:
    """The newest failed attempt at the pending step."""
    found = engine.store.variables(attempts_prefix(head.thread))
    newest = max(found, key=lambda each: int(each.name.rpartition(".")[2]), default=None)
    if newest is None:
        return None
    step: str | None = engine.store.get(newest.value).payload["step"]
    return step


def _answer_hint(thread: str, suspension: Suspension) -> str:
    words = f"`uwf thread resume {thread} --answer field=value` answers; `form` is its JSON Schema"
    return words if suspension.question is not None else f"{words}; -p TEXT runs without one"


def _suspended_hint(thread: str, suspension: Suspension, failed: str | None) -> str:
    if suspension.reason == "role":
        return f"`uwf thread resume {thread} -p TEXT` runs {suspension.role} again with that text"
    if suspension.reason == "limit":
        return f"`uwf thread resume {thread}` grants the same allowance once more"
    again = f"`uwf thread exec {thread}` runs {suspension.role} again"
    if suspension.until_ms is not None:
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(suspension.until_ms / 1000))
        again += f", refused until {until}"
    return f"{again}; `uwf step show {failed}` shows the failed attempt" if failed else again
