"""The part of `cas verify` for calls: their names, and what both ends record."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api.store import Variable
from uwf_core.errors import StoreError, UnknownIdError
from uwf_core.ids import ThreadId
from uwf_core.thread.calls import STARTED
from uwf_core.thread.head import IMPORTED, PARENT, Head, read_head
from uwf_core.thread.links import Recorded, name_problem, recorded_calls, result_problem
from uwf_core.thread.names import CALLS, HEADS, call_name, thread_of

if TYPE_CHECKING:
    from uwf_core.cas.store import Store


class StoreProblem(NamedTuple):
    """An error; the fields are those of `ProblemDocument`."""

    kind: str
    message: str
    node: str | None = None
    variable: str | None = None
    threads: tuple[str, ...] = ()


def call_problems(store: "Store", rows: Sequence[Variable]) -> Iterator[StoreProblem]:
    """The errors of the calls in these variables, where both ends can be read: what cannot is
    another error. One that a running thread has changed meanwhile is none.
    """
    recorded: dict[str, tuple[str, Recorded]] = {}
    for row in rows:
        try:
            if row.name.startswith(CALLS):
                yield from _of_name(store, row)
            elif row.name.startswith(HEADS) and PARENT in row.tags and IMPORTED not in row.tags:
                yield from _of_result(store, ThreadId(row.name.removeprefix(HEADS)), recorded)
        except StoreError:
            continue


def _of_name(store: "Store", row: Variable) -> Iterator[StoreProblem]:
    parent, called = thread_of(row.name), store.payload(row.value)
    if parent is None or not _is_called(called):
        yield StoreProblem("stray", "this is not the name of a call", variable=row.name)
        return
    message = name_problem(row.name, row.value, called, _head(store, row.name.rpartition("/")[2]))
    if message is not None and store.variable(row.name) == row:
        yield StoreProblem("call", message, None, row.name, (parent,))


def _of_result(
    store: "Store", thread: ThreadId, recorded: dict[str, tuple[str, Recorded]]
) -> Iterator[StoreProblem]:
    """Those of a thread and the one that called it, if this was here: that of an imported thread
    may be another copy.
    """
    child = read_head(store, thread)
    caller = child.state.caller
    parent = None if caller is None else _head(store, caller.thread)
    if caller is None or parent is None:
        return
    if recorded.get(parent.thread, ("",))[0] != parent.ref:
        recorded[parent.thread] = parent.ref, recorded_calls(store, parent)
    message = result_problem(store, child, parent, recorded[parent.thread][1])
    now = _head(store, thread), _head(store, parent.thread)
    if message is not None and now == (child, parent):
        lost = lost_name(store, child, parent)
        name = lost[0] if lost is not None else child.variable.name
        yield StoreProblem("call", message, None, name, (thread,))


def lost_name(store: "Store", child: Head, parent: Head) -> tuple[str, str] | None:
    """The name of an open call that is gone, and its event: the caller is as it was when the call
    began. None if the threads prove no such call.
    """
    caller = child.state.caller
    assert caller is not None
    called = store.payload(caller.event)
    is_open = called["parentHead"] == parent.ref and caller.thread == parent.thread
    # That of a cancelled branch stays until all have ended; then the caller moves.
    may_be_recorded = child.state.status == "cancelled" and called["index"] is None
    if not is_open or called["purpose"] == STARTED or may_be_recorded:
        return None
    name = call_name(caller.thread, caller.number, child.thread)
    return None if store.rows(name, limit=1) else (name, caller.event)


def _is_called(payload: Any) -> bool:
    return isinstance(payload, dict) and {"parent", "parentHead", "purpose"} <= payload.keys()


def _head(store: "Store", thread: str) -> Head | None:
    """The head of a thread, None if there is none."""
    if not ThreadId.matches(thread):
        return None
    try:
        return read_head(store, ThreadId(thread))
    except UnknownIdError:
        return None
