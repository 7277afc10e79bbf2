"""The rows of `thread list`, read from the heads alone and without ever taking a lock."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING

from uwf_core.api.store import Variable, WantedVariables
from uwf_core.api.sums import LARGEST
from uwf_core.errors import CorruptNodeError, FailureKind, UsageError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import shown_state, threads_in_calls
from uwf_core.thread.head import (
    DAMAGE,
    DEPTH,
    GIVEN_TAG,
    ORIGINAL,
    PARENT,
    TRIAL,
    damaged_head,
    head_of,
    summary_of,
    totals_of,
)
from uwf_core.thread.lifecycle import effective
from uwf_core.thread.lock import running_threads
from uwf_core.thread.names import HEADS, OPEN, STATUSES, TASK
from uwf_core.views.row import ThreadFilter, corrupt_row, row_of, used_with_calls

if TYPE_CHECKING:
    from uwf_core.api.store import Holder
    from uwf_core.engine.documents import ThreadRow
    from uwf_core.engine.engine import Engine

PAGE = 512
_NO_TASK = '"task": null}'
MOST_CHANGING = 1000
"""How many names a store is asked for at once."""
_SPECIAL = frozenset({"attempt", "suspension", "wait", DAMAGE})
"""The tags of a head whose status needs more than its tag `status`."""
_NEEDED = frozenset({"status", "workflow", "workflowName", "start", "cwd", DEPTH})
"""The tags that no head lacks."""
_FIXED = ("status", "workflow", "workflowName", "cwd", "currentRole", DEPTH)
"""The tags on which all of a row depends that is not in `_VARYING`."""
_COLUMNS = (".thread", ".value", ".created", ".updated")
"""The parts of a head's text before its tags (no tag begins with a dot)."""
_VARYING = {
    "thread": ".thread",
    "head": ".value",
    "parent": PARENT,
    "steps": "steps",
    "usage": "usage",
    "original": ORIGINAL,
    "startedAtMs": "startedMs",
    "updatedAtMs": ".updated",
    "task": TASK,
}
"""The fields of a row that differ from thread to thread, and the part or tag of each."""

_Run = tuple["_Layout", list[list[str]]]
"""Heads that follow each other and have the same tags, each as the parts of its text: thread,
value, times, then key and value of each tag.
"""

_Writer = tuple[list[str], Callable[[list[str]], Iterable[str]]]
"""The fixed texts of a row, and what takes these and the parts of a head, which come before them,
in the order in which they are written.
"""


def list_threads(engine: "Engine", wanted: ThreadFilter) -> "list[ThreadRow]":
    """Threads, newest first. A damaged one is listed as corrupt and affects no other."""
    rows: list[ThreadRow] = json.loads(f"[{','.join(thread_rows(engine, wanted))}]")
    return rows


def thread_rows(engine: "Engine", wanted: ThreadFilter) -> list[str]:
    """The same, each a `ThreadRow` in JSON: a list of 10,000 is written without being built.

    Raises:
        UsageError: an unknown status or kind of failure, or a number that makes no sense.
    """
    _check(wanted)
    end = None if wanted.limit is None else wanted.limit + wanted.offset
    rows = list(islice(_rows(engine, wanted), wanted.offset, end))
    if any(row.endswith(_NO_TASK) for row in rows):  # heads that an earlier uwf wrote, or damaged
        rows = [_with_task(engine, row) if row.endswith(_NO_TASK) else row for row in rows]
    return rows


def _check(wanted: ThreadFilter) -> None:
    kinds = [each.word for each in FailureKind]
    words = [("status", each, [*STATUSES, "active"]) for each in wanted.statuses]
    words += [("kind of failure", each, kinds) for each in [wanted.failure] if each is not None]
    for what, word, known in words:
        if word not in known:
            raise UsageError(f"unknown {what} {word!r}", hint=f"use {', '.join(known)}")
    for name, number in (("limit", wanted.limit or 0), ("offset", wanted.offset)):
        if not (isinstance(number, int) and 0 <= number <= LARGEST):
            raise UsageError(f"the {name} {number!r} is not in the range from 0 to {LARGEST}")


def _with_task(engine: "Engine", row: str) -> str:
    from uwf_core.views.show import task_of

    found: ThreadRow = json.loads(row)
    return json.dumps({**found, "task": task_of(engine, found["thread"])}, ensure_ascii=False)


def _rows(engine: "Engine", wanted: ThreadFilter) -> Iterator[str]:
    """All rows that match, newest first; heads are read by the page."""
    statuses, tags = _statuses(wanted), _tag_filter(wanted)
    store, layouts = engine.variables, _Layouts()
    running, calling = running_threads(store), threads_in_calls(store)
    one_of = _candidates(statuses, {*running, *calling})
    after = None if wanted.before_ms is None else HEADS + ThreadId.first_of(wanted.before_ms)
    size = PAGE if wanted.limit is None else min(PAGE, wanted.limit + wanted.offset + 8)
    while True:
        texts, damaged = store.variable_texts(
            HEADS, tags=tags, one_of=one_of, after=after, limit=size, descending=True
        )
        young = texts
        if wanted.after_ms is not None:
            young = list(takewhile(partial(_began_after, wanted.after_ms), texts))
        runs = layouts.runs_of(young)
        if not wanted.trials:
            runs = [run for run in runs if not run[0].is_trial]
        if not wanted.children:
            runs = [(layout, layout.roots(heads)) for layout, heads in runs]
        if wanted.looks_inside:
            from uwf_core.views.thread_filter import matches  # not for every list

            runs = [
                (layout, [each for each in heads if matches(engine, _variable(each), wanted)])
                for layout, heads in runs
            ]
            damaged_shown: Sequence[str] = ()
        else:
            damaged_shown = damaged
        rows = _rows_of(engine, runs, statuses, running, calling)
        yield from rows if not damaged_shown else _merged(rows, damaged_shown, statuses)
        if len(young) < len(texts) or len(texts) + len(damaged) < size:
            return
        after, size = min([*(text.partition("\0")[0] for text in texts[-1:]), *damaged]), PAGE


def _candidates(statuses: Collection[str], changing: Collection[str]) -> WantedVariables | None:
    """The heads that can be those of threads with one of these statuses; None if each can, since
    any thread may turn out corrupt. An inbox needs few of many.

    Args:
        statuses: the wanted ones.
        changing: threads whose status is not the stored one: they run, or are part of a call.
    """
    if "corrupt" in statuses or len(changing) > MOST_CHANGING:
        return None
    names = [HEADS + thread for thread in changing]
    return WantedVariables(names, {"status": statuses, "attempt": None})


def _rows_of(
    engine: "Engine",
    runs: "Sequence[_Run]",
    statuses: Collection[str],
    running: "Mapping[str, Holder]",
    calling: Collection[str],
) -> Iterator[str]:
    needed = {parts[1] for _, heads in runs for parts in heads}
    needed.update(parts[layout.workflow] for layout, heads in runs for parts in heads)
    missing = needed - engine.variables.present(needed)
    as_stored = not (missing or running or calling)  # most often, and twice as fast
    for layout, heads in runs:
        if as_stored and layout.is_plain:
            yield from layout.rows(heads, statuses)
            continue
        for parts in heads:
            holder = running.get(parts[0]) if running else None
            is_whole = not missing or missing.isdisjoint((parts[1], parts[layout.workflow]))
            in_call = calling and parts[0] in calling
            if holder is None and is_whole and layout.is_plain and not in_call:
                yield from layout.rows((parts,), statuses)
                continue
            if in_call:
                row = _row_in_call(engine, _variable(parts), holder, is_whole=is_whole)
            else:
                row = _row(_variable(parts), holder, is_whole=is_whole)
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


def _began_after(moment_ms: int, text: str) -> bool:
    started = _variable(text[len(HEADS) :].split("\0")).tags.get("startedMs", "")
    return not started.isdecimal() or int(started) > moment_ms


class _Layouts:
    """The layouts of a list's heads, by their tags."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], _Layout] = {}

    def runs_of(self, texts: Iterable[str]) -> "list[_Run]":
        """The heads of texts. Most have the same tags as the one before."""
        skipped, first_tag, last = len(HEADS), len(_COLUMNS), [""]
        found: list[_Run] = []
        heads: list[list[str]] = []
        for text in texts:
            parts = text[skipped:].split("\0")
            tags = parts[first_tag::2]
            if tags != last:
                layout = self._known.get(tuple(tags)) or _Layout(tags)
                self._known[tuple(tags)] = layout
                last, heads = tags, []
                found.append((layout, heads))
            heads.append(parts)
        return found


class _Layout:
    """How to write the rows of heads that have the same tags.

    A row that is built takes five times as long as all else. So that of the first head is the
    template for those that differ only in the fields of `_VARYING`.
    """

    def __init__(self, tags: Sequence[str]) -> None:
        places = {name: index for index, name in enumerate(_COLUMNS)}
        places |= {tag: len(_COLUMNS) + 1 + 2 * index for index, tag in enumerate(tags)}
        self.is_trial = TRIAL in places
        self.is_plain = places.keys() >= _NEEDED and _SPECIAL.isdisjoint(places)
        self.status, self.workflow = places.get("status", 0), places.get("workflow", 0)
        self.depth = places.get(DEPTH, 0)
        self._usage, self._task = places.get("usage"), places.get(TASK)
        given = [tag for tag in tags if tag.startswith(GIVEN_TAG)]
        fixed = [places[tag] for tag in (*_FIXED, *given) if tag in places]
        self._fixed = itemgetter(*fixed or [0])
        self._varying = {field: places[name] for field, name in _VARYING.items() if name in places}
        self._writers: dict[tuple[str, ...], _Writer] = {}

    def roots(self, heads: list[list[str]]) -> list[list[str]]:
        """Those of `heads` that no other thread has called."""
        depth = self.depth
        return [parts for parts in heads if parts[depth] == "0"] if depth else heads

    def rows(self, heads: Iterable[list[str]], statuses: Collection[str]) -> list[str]:
        """The rows of threads with one of `statuses` that nothing runs, and that wait for nothing
        and lack no node.
        """
        found: list[str] = []
        last: tuple[str, ...] | None = None
        kind_of, status, join = self._fixed, self.status, "".join
        usage, task = self._usage, self._task
        for parts in heads:
            if parts[status] not in statuses:
                continue
            kind = kind_of(parts)
            if kind != last:
                last = kind
                fixed, in_order = self._writers.get(kind) or self._writer_like(parts)
                self._writers[kind] = fixed, in_order
            if usage is not None:
                parts[usage] = _usage(parts[usage])
            if task is not None:
                parts[task] = _text(parts[task])
            found.append(join(in_order(parts + fixed)))
        return found

    def _writer_like(self, parts: list[str]) -> "_Writer":
        """How to write the kind of a head."""
        row = _row(_variable(parts), None, is_whole=True)
        fixed: list[str] = []
        order: list[int] = []
        text = "{"
        for field, value in row.items():
            text += f"{json.dumps(field)}: "
            if field in self._varying:
                mark = '"' if isinstance(value, str) and field != "task" else ""
                order += [len(parts) + len(fixed), self._varying[field]]
                fixed.append(text + mark)
                text = f"{mark}, "
            else:
                text += f"{json.dumps(value, ensure_ascii=False)}, "
        order.append(len(parts) + len(fixed))
        fixed.append(f"{text[:-2]}}}")
        return fixed, itemgetter(*order)


def _variable(parts: list[str]) -> Variable:
    name, value, created, updated, *tags = parts
    columns = HEADS + name, value, dict(zip(tags[::2], tags[1::2], strict=False))
    return Variable(*columns, int(created), int(updated), b"")


_text = json.JSONEncoder(ensure_ascii=False).encode


@lru_cache(64)
def _usage(text: str) -> str:
    return json.dumps(totals_of(text))


def _row(head: Variable, holder: "Holder | None", *, is_whole: bool) -> "ThreadRow":
    try:
        stored = summary_of(head.tags)
    except ValueError as error:
        thread = ThreadId(head.name[len(HEADS) :])
        return corrupt_row(thread, damaged_head(thread, error).message)
    is_sound = is_whole and DAMAGE not in head.tags
    state = effective(stored, is_running=holder is not None, is_sound=is_sound)
    return row_of(head, state, holder)


def _row_in_call(
    engine: "Engine", variable: Variable, holder: "Holder | None", *, is_whole: bool
) -> "ThreadRow":
    """The row of a thread that calls another or is called: it depends on these as well."""
    try:
        head = head_of(variable)
    except CorruptNodeError as error:
        return corrupt_row(ThreadId(variable.name[len(HEADS) :]), error.message)
    is_sound = is_whole and head.damage is None
    state = effective(head.state, is_running=holder is not None, is_sound=is_sound)
    row = row_of(variable, shown_state(engine.store, state), holder)
    return {**row, "usage": used_with_calls(engine, head.state)}


def _statuses(wanted: ThreadFilter) -> frozenset[str]:
    if wanted.statuses:
        active = ("idle", "running") if "active" in wanted.statuses else ()
        return frozenset((*wanted.statuses, *active))
    return frozenset(STATUSES if wanted.all else OPEN)


def _tag_filter(wanted: ThreadFilter) -> dict[str, Sequence[str]]:
    """What the store can leave out by itself. Not by status: any thread may turn out corrupt."""
    found: dict[str, Sequence[str]] = {GIVEN_TAG + k: (v,) for k, v in wanted.tags.items()}
    if wanted.workflow is not None:
        key = "workflow" if Ref.matches(wanted.workflow) else "workflowName"
        found[key] = (wanted.workflow,)
    return found
