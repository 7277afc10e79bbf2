"""Threads as documents: one, or a list. Reads without ever taking a lock."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.engine.find import find_thread
from uwf_core.engine.results import status_fields
from uwf_core.errors import CorruptNodeError
from uwf_core.ids import Ref, ThreadId
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.chain import read_step
from uwf_core.thread.head import DAMAGE, Head, damaged_head, is_whole, read_head
from uwf_core.thread.lifecycle import effective
from uwf_core.thread.lock import holder_of, running_threads
from uwf_core.thread.names import HEADS, attempts_prefix
from uwf_core.thread.state import Suspension, ThreadState, ThreadSummary
from uwf_core.thread.status import FINISHED, OPEN, STATUSES
from uwf_core.thread.tags import summary_of
from uwf_core.thread.usage import Totals

if TYPE_CHECKING:
    from uwf_core.api.store import Holder, Variable
    from uwf_core.engine.documents import RunningDocument, ThreadDocument, ThreadRow
    from uwf_core.engine.engine import Engine

PAGE = 256


class ThreadFilter(NamedTuple):
    """Which threads to list. Times are ms since 1970, exclusive; `statuses` win over `all`."""

    all: bool = False
    statuses: Sequence[str] = ()
    after_ms: int | None = None
    before_ms: int | None = None
    limit: int | None = None
    offset: int = 0
    workflow: str | None = None


def show_thread(engine: "Engine", word: str) -> "ThreadDocument":
    """A thread, with the form of a pending question and a hint what to do next.

    Raises:
        UnknownIdError: there is no such thread.
    """
    thread = find_thread(engine, word)
    try:
        head = read_head(engine.store, thread)
    except CorruptNodeError as error:
        row = _corrupt(thread, error.message)
        return {**row, "form": None, "hint": _hint(row, None, None)}
    holder = holder_of(engine.store, thread)
    is_sound = head.damage is None and is_whole(engine.store, head)
    state = effective(head.state, is_running=holder is not None, is_sound=is_sound)
    row = _document(head.variable, state, holder)
    waits = state.suspension if row["status"] == "suspended" else None
    failed = None if waits is None else _failed_attempt(engine, head)
    form = form_of(engine, head, waits)
    hint = _hint(row, waits, failed)
    if waits is not None and form is not None:
        hint = _answer_hint(thread, waits)
    return {**row, "form": form, "hint": hint}


def list_threads(engine: "Engine", wanted: ThreadFilter) -> "list[ThreadRow]":
    """Threads, newest first. A damaged one is listed as corrupt and spoils nothing."""
    skip = wanted.offset
    rows: list[ThreadRow] = []
    if wanted.limit is not None and wanted.limit <= 0:
        return rows
    for row in _rows(engine, wanted):
        if skip > 0:
            skip -= 1
            continue
        rows.append(row)
        if wanted.limit is not None and len(rows) >= wanted.limit:
            break
    return rows


def _rows(engine: "Engine", wanted: ThreadFilter) -> "Iterator[ThreadRow]":
    """All rows that fit, newest first; variables are read by the page."""
    statuses = _statuses(wanted)
    running = running_threads(engine.store)
    tags = _tag_filter(wanted)
    after, size = _first_name(wanted), min(PAGE, (wanted.limit or PAGE) + wanted.offset + 8)
    while True:
        page, damaged = engine.store.variables_lenient(
            HEADS, tags=tags, after=after, limit=size, descending=True
        )
        names = [*(variable.name for variable in page), *damaged]
        rows = [*_fitting(engine, page, statuses, running), *_damaged(damaged, statuses)]
        for row in sorted(rows, key=lambda row: row["thread"], reverse=True):
            if wanted.after_ms is not None and 0 < row["startedAtMs"] <= wanted.after_ms:
                return
            yield row
        if len(names) < size:
            return
        after, size = min(names), PAGE


def _fitting(
    engine: "Engine",
    page: "Sequence[Variable]",
    statuses: Sequence[str],
    running: Mapping[str, "Holder"],
) -> "Iterator[ThreadRow]":
    needed = {v.value for v in page} | {v.tags.get("workflow", "") for v in page}
    present = engine.store.present(needed)
    for variable in page:
        holder = running.get(variable.name[len(HEADS) :])
        is_whole = variable.value in present and variable.tags.get("workflow") in present
        if holder is None and is_whole and _is_hidden(variable, statuses):
            continue
        row = _row(variable, holder, is_whole)
        if row["status"] in statuses:
            yield row


def _damaged(names: Sequence[str], statuses: Sequence[str]) -> "Iterator[ThreadRow]":
    """Rows for heads whose record is damaged: nothing is known of them, not even the name."""
    if "corrupt" in statuses:
        for name in names:
            yield _corrupt(
                ThreadId(name.removeprefix(HEADS)),
                "the thread's record is damaged, perhaps its id as well",
            )


def _is_hidden(variable: "Variable", statuses: Sequence[str]) -> bool:
    """Whether a finished thread is not wanted; told without reading its whole index."""
    return variable.tags.get("status") in FINISHED and variable.tags["status"] not in statuses


def _statuses(wanted: ThreadFilter) -> Sequence[str]:
    if wanted.statuses:
        active = ("idle", "running") if "active" in wanted.statuses else ()
        return (*wanted.statuses, *active)
    return STATUSES if wanted.all else OPEN


def _tag_filter(wanted: ThreadFilter) -> dict[str, Sequence[str]]:
    """What the store can leave out by itself. Not by status: any thread may turn out corrupt."""
    if wanted.workflow is None:
        return {}
    key = "workflow" if Ref.matches(wanted.workflow) else "workflowName"
    return {key: (wanted.workflow,)}


def _first_name(wanted: ThreadFilter) -> str | None:
    """The name before which the list begins: a thread's name sorts by its time."""
    if wanted.before_ms is None:
        return None
    return HEADS + ThreadId.first_of(wanted.before_ms)


def _row(variable: "Variable", holder: "Holder | None", is_whole: bool) -> "ThreadRow":
    try:
        stored = summary_of(variable.tags)
    except ValueError as error:
        thread = ThreadId(variable.name[len(HEADS) :])
        return _corrupt(thread, damaged_head(thread, error).message)
    is_sound = is_whole and DAMAGE not in variable.tags
    return _document(
        variable, effective(stored, is_running=holder is not None, is_sound=is_sound), holder
    )


def _document(
    variable: "Variable", state: ThreadState | ThreadSummary, holder: "Holder | None"
) -> "ThreadRow":
    return {
        "thread": variable.name[len(HEADS) :],
        "workflow": state.workflow,
        "workflowName": state.workflow_name,
        "head": variable.value,
        **status_fields(state),
        "steps": state.steps,
        "usage": state.totals.payload(),
        "running": _running(holder),
        "startedAtMs": state.started_ms,
        "updatedAtMs": variable.updated_ms,
    }


def _corrupt(thread: ThreadId, message: str) -> "ThreadRow":
    # Damage may have made of an id what is none: it was begun at 0, nobody knows when.
    started_ms = thread.created_ms if ThreadId.matches(thread) else 0
    return {
        "thread": thread,
        "workflow": "",
        "workflowName": "",
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
    """The JSON Schema of an answer: of the pending question, or of a role that yielded with one."""
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
            return f"`uwf thread read {thread}` shows all of it"
        case "corrupt":
            return f"`uwf cas verify {thread}` says what is damaged or missing"
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
    words = f"`uwf thread resume {thread} --answer field=value` answers; `form` says what fits"
    return words if suspension.question is not None else f"{words}; -p TEXT goes on without"


def _suspended_hint(thread: str, suspension: Suspension, failed: str | None) -> str:
    if suspension.reason == "role":
        return f"`uwf thread resume {thread} -p TEXT` lets {suspension.role} go on"
    if suspension.reason == "limit":
        return f"`uwf thread resume {thread}` grants the same allowance once more"
    again = f"`uwf thread exec {thread}` runs {suspension.role} again"
    if suspension.until_ms is not None:
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(suspension.until_ms / 1000))
        again += f", refused until {until}"
    return f"{again}; `uwf step show {failed}` shows the failed attempt" if failed else again
