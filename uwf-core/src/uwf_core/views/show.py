"""A thread as a document. Reads without ever taking a lock."""

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.api.sums import NOTHING_USED
from uwf_core.engine.find import find_thread
from uwf_core.engine.results import status_fields
from uwf_core.errors import CorruptNodeError, DefinitionError, UwfError
from uwf_core.ids import ThreadId
from uwf_core.thread.head import ThreadSummary
from uwf_core.thread.names import HEADS
from uwf_core.thread.state import Suspension, ThreadState
from uwf_core.views.recorded import ThreadRecord, open_thread

if TYPE_CHECKING:
    from uwf_core.api.store import Holder, Variable
    from uwf_core.engine.documents import RunningDocument, ThreadDocument, ThreadRow
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
        return {
            **row,
            **dict.fromkeys(("task", "input", "agent", "bindings", "form")),  # type: ignore[typeddict-item]
            "next": [],
            "hint": _hint(row, None, None),
        }
    row = row_of(thread.variable, thread.state, thread.holder)
    waits = thread.state.suspension if row["status"] == "suspended" else None
    form = thread.form if waits is not None and waits.reason == "role" else None
    return {
        **row,
        "task": thread.task if thread.is_sound else None,
        "input": thread.input if thread.is_sound else None,
        "agent": thread.node["agent"] if thread.is_sound else None,
        "bindings": thread.node["bindings"] if thread.is_sound else None,
        "form": form,
        "next": _next(row, waits, form),
        "hint": _hint(row, waits, None if waits is None else _failed_attempt(thread)),
    }


def task_of(engine: "Engine", thread: str) -> str | None:
    """The task of a thread, for a list; None if it cannot be read."""
    try:
        return open_thread(engine, thread).task
    except UwfError:  # the list reports the thread as corrupt
        return None


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
        "usage": state.totals,
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
        "usage": NOTHING_USED,
        "running": None,
        "startedAtMs": started_ms,
        "updatedAtMs": started_ms,
    }


def _running(holder: "Holder | None") -> "RunningDocument | None":
    if holder is None:
        return None
    return {"pid": holder.pid, "host": holder.host, "startedAtMs": holder.since_ms}


def _next(
    row: "ThreadRow", suspension: Suspension | None, form: dict[str, Any] | None
) -> list[str]:
    """The commands of which each continues the thread."""
    resume, go_on = f"uwf thread resume {row['thread']}", f"uwf thread exec {row['thread']}"
    if suspension is None:
        follow = {"idle": [go_on], "running": [f"uwf thread wait {row['thread']}"]}
        return follow.get(row["status"], [])
    if suspension.reason != "role":
        return [resume if suspension.reason == "limit" else go_on]
    ways = [f"{resume} {options}" for options in answer_options(form)] if form else []
    return ways if suspension.question is not None else [*ways, f"{resume} -p <text>"]


def _hint(row: "ThreadRow", suspension: Suspension | None, failed: str | None) -> str | None:
    """What the next command does, and what else there is."""
    thread = row["thread"]
    match row["status"]:
        case "idle":
            return f"runs {row['currentRole']}"
        case "running":
            return f"waits for the run; `uwf step turns {thread} --live` follows it"
        case "completed":
            return f"`uwf thread read {thread}` prints all of it"
        case "corrupt":
            return f"`uwf cas verify {thread}` lists what is damaged or missing"
        case "suspended" if suspension is not None:
            return _suspended_hint(suspension, failed)
    return None


def _failed_attempt(thread: ThreadRecord) -> str | None:
    """The newest attempt at the pending step, if it failed."""
    if thread.state.attempt is not None:
        return None
    return next((step.ref for step in reversed(thread.pending)), None)


def _suspended_hint(suspension: Suspension, failed: str | None) -> str:
    if suspension.reason == "limit":
        return "grants the same allowance once more"
    if suspension.question is not None:
        return f"answers {suspension.role}; `form` is the JSON Schema of an answer"
    again = f"runs {suspension.role} again"
    if suspension.until_ms is not None:
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(suspension.until_ms / 1000))
        again += f", refused until {until}"
    return f"{again}; `uwf step show {failed}` shows the failed attempt" if failed else again


_PLACEHOLDERS = {"string": "text", "integer": "number", "number": "number", "boolean": "true|false"}


def answer_options(form: Mapping[str, Any], option: str = "--answer") -> list[str]:
    """The options of `thread resume` for each way to answer a form.

    A value to fill in is `<text>`: a shell that gets the line unchanged reports a syntax error and
    runs nothing. The names of a form are quoted, since an agent may have made it.
    """
    from shlex import quote

    from uwf_core.workflow.variants import STATUS, variants

    def line(first: str, properties: Mapping[str, Any], required: Iterable[str]) -> str:
        named = [name for name in required if name != STATUS]
        filled = [f"{quote(name)}=<{_placeholder(properties.get(name))}>" for name in named]
        return " ".join(filter(None, [first, *(f"{option} {each}" for each in filled)]))

    try:
        ways = variants(form)
    except DefinitionError:  # a form that an agent made need not have statuses
        properties = form.get("properties", {})
        return [line("", properties, form.get("required") or properties) or f"{option} <JSON>"]
    return [
        line(f"--status {quote(way.status)}", way.properties, sorted(way.required)) for way in ways
    ]


def _placeholder(schema: Any) -> str:
    from uwf_core.prompt.deliverable import flattened, main_type
    from uwf_core.workflow.variants import NAME

    flat = flattened(schema)
    choices = flat.get("enum", ())
    if choices and all(isinstance(each, str) and NAME.match(each) for each in choices):
        return "|".join(choices)
    return _PLACEHOLDERS.get(main_type(flat), "JSON")
