"""The rows of `thread list`, read from the heads alone and without ever taking a lock."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from uwf_core.ids import Ref, ThreadId
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.head import DAMAGE, damaged_head, summary_of
from uwf_core.thread.lifecycle import effective
from uwf_core.thread.lock import running_threads
from uwf_core.thread.names import HEADS
from uwf_core.thread.totals import Totals
from uwf_core.thread.types import OPEN, STATUSES
from uwf_core.views.show import corrupt_row, row_of

if TYPE_CHECKING:
    from uwf_core.api.store import Holder, Variable
    from uwf_core.engine.documents import ThreadRow
    from uwf_core.engine.engine import Engine

PAGE = 2048
_SPECIAL = frozenset({"attempt", "suspension", DAMAGE})
"""The tags of a head whose status needs more than its tag `status`."""
_NEEDED = frozenset({"status", "workflow", "workflowName", "start", "cwd"})
"""The tags that no head lacks."""


class ThreadFilter(NamedTuple):
    """Which threads to list. Times are ms since 1970, exclusive; `statuses` win over `all`."""

    all: bool = False
    statuses: Sequence[str] = ()
    after_ms: int | None = None
    before_ms: int | None = None
    limit: int | None = None
    offset: int = 0
    workflow: str | None = None


ALL = ThreadFilter(all=True)


def list_threads(engine: "Engine", wanted: ThreadFilter) -> "list[ThreadRow]":
    """Threads, newest first. A damaged one is listed as corrupt and affects no other."""
    rows: list[ThreadRow] = json.loads(f"[{','.join(thread_rows(engine, wanted))}]")
    return rows


def thread_rows(engine: "Engine", wanted: ThreadFilter) -> list[str]:
    """The same, each a `ThreadRow` in JSON: a list of 10,000 is written without being built."""
    end = None if wanted.limit is None else max(wanted.limit, 0) + wanted.offset
    return list(islice(_rows(engine, wanted), wanted.offset, end))


def _rows(engine: "Engine", wanted: ThreadFilter) -> Iterator[str]:
    """All rows that match, newest first; heads are read by the page."""
    statuses, tags = _statuses(wanted), _tag_filter(wanted)
    running = running_threads(engine.store)
    after = None if wanted.before_ms is None else HEADS + ThreadId.first_of(wanted.before_ms)
    size = PAGE if wanted.limit is None else min(PAGE, wanted.limit + wanted.offset + 8)
    while True:
        page, damaged = engine.store.variables_lenient(
            HEADS, tags=tags, after=after, limit=size, descending=True
        )
        heads = page
        if wanted.after_ms is not None:
            heads = list(takewhile(partial(_began_after, wanted.after_ms), page))
        rows = _rows_of(engine, heads, statuses, running)
        yield from rows if not damaged else _merged(rows, damaged, statuses)
        if len(heads) < len(page) or len(page) + len(damaged) < size:
            return
        after, size = min([*(each.name for each in page[-1:]), *damaged]), PAGE


def _rows_of(
    engine: "Engine",
    heads: "Sequence[Variable]",
    statuses: Collection[str],
    running: "Mapping[str, Holder]",
) -> Iterator[str]:
    needed = {each.value for each in heads} | {each.tags.get("workflow", "") for each in heads}
    present = engine.store.present(needed)
    for head in heads:
        holder, tags = running.get(head.name[len(HEADS) :]), head.tags
        is_whole = head.value in present and tags.get("workflow") in present
        if holder is None and is_whole and _SPECIAL.isdisjoint(tags) and tags.keys() >= _NEEDED:
            if tags["status"] in statuses:
                yield _plain_row(head)
            continue
        row = _row(head, holder, is_whole=is_whole)
        if row["status"] in statuses:
            yield json.dumps(row, ensure_ascii=False)


def _merged(
    rows: Iterator[str], damaged: Sequence[str], statuses: Collection[str]
) -> Iterable[str]:
    """The rows of a page, and those of heads whose record is damaged: nothing is known of them,
    not even the name.
    """
    if "corrupt" not in statuses:
        return rows
    message = "the thread's record is damaged, perhaps its id as well"
    more = [corrupt_row(ThreadId(name.removeprefix(HEADS)), message) for name in damaged]
    every = [*map(json.loads, rows), *more]
    every.sort(key=lambda row: str(row["thread"]), reverse=True)
    return [json.dumps(row, ensure_ascii=False) for row in every]


def _began_after(moment_ms: int, head: "Variable") -> bool:
    started = head.tags.get("startedMs", "")
    return not started.isdecimal() or int(started) > moment_ms


def _plain_row(head: "Variable") -> str:
    """The row of a thread that nothing runs and that waits for nothing: `row_of` as JSON text."""
    name, value, tags, _, updated_ms, _ = head
    return (
        f'{{"thread": "{name[len(HEADS) :]}", '
        f'{_fixed_fields(tags["workflow"], tags["workflowName"], tags["cwd"])}, "head": "{value}", '
        f"{_status_fields(tags['status'], tags.get('currentRole'))}, "
        f'"steps": {tags.get("steps", 0)}, "usage": {_usage(tags.get("usage"))}, '
        f'"running": null, "startedAtMs": {tags.get("startedMs", 0)}, "updatedAtMs": {updated_ms}}}'
    )


@lru_cache(64)
def _fixed_fields(workflow: str, name: str, cwd: str) -> str:
    fields = {"workflow": workflow, "workflowName": name, "cwd": cwd}
    return json.dumps(fields, ensure_ascii=False)[1:-1]


@lru_cache(64)
def _status_fields(status: str, role: str | None) -> str:
    fields = {
        "status": status,
        "currentRole": role,
        "suspendedRole": None,
        "suspendMessage": None,
        "suspendReason": None,
        "done": status == "completed",
    }
    return json.dumps(fields, ensure_ascii=False)[1:-1]


@lru_cache(64)
def _usage(text: str | None) -> str:
    totals = Totals.none() if text is None else Totals(*json.loads(text))
    return json.dumps(totals.payload())


def _row(head: "Variable", holder: "Holder | None", *, is_whole: bool) -> "ThreadRow":
    try:
        stored = summary_of(head.tags)
    except ValueError as error:
        thread = ThreadId(head.name[len(HEADS) :])
        return corrupt_row(thread, damaged_head(thread, error).message)
    is_sound = is_whole and DAMAGE not in head.tags
    state = effective(stored, is_running=holder is not None, is_sound=is_sound)
    return row_of(head, state, holder)


def _statuses(wanted: ThreadFilter) -> Collection[str]:
    if wanted.statuses:
        active = ("idle", "running") if "active" in wanted.statuses else ()
        return {*wanted.statuses, *active}
    return STATUSES if wanted.all else OPEN


def _tag_filter(wanted: ThreadFilter) -> dict[str, Sequence[str]]:
    """What the store can leave out by itself. Not by status: any thread may turn out corrupt."""
    if wanted.workflow is None:
        return {}
    key = "workflow" if Ref.matches(wanted.workflow) else "workflowName"
    return {key: (wanted.workflow,)}
