"""When `tick` has to look at a thread: an index that is ordered by time, one variable for each.

The times follow from the state and the mark of unattended threads alone. A move of the head moves
them as well, in the same transaction; most moves change none.
"""

from typing import TYPE_CHECKING

from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.names import UNATTENDED

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.variables import VariableStore
    from uwf_core.thread.head import Head
    from uwf_core.thread.state import ThreadState

DUE = "@uwf/due/"
_DIGITS = 15
_ALWAYS = frozenset((0,))
_NEVER = frozenset[int]()
_PAGE = 200
REMINDER, DEADLINE = "reminder", "deadline"
"""The tags of a time at which a person is reminded: of what, and of which question. It is deleted
then, also if the question was answered meanwhile.
"""
_REMINDERS = (
    (0.5, "half of the time for an answer has passed"),
    (0.9, "nine tenths of the time for an answer have passed"),
)


def due_times(state: "ThreadState", *, is_unattended: bool) -> frozenset[int]:
    """When to look at a thread, in ms since 1970: 0 at each pass, since only the lock tells whether
    an unattended thread still runs; at the deadline of its question; none if a person has to act.
    """
    alone = _ALWAYS if is_unattended else _NEVER
    waits = state.suspension
    if state.attempt is not None or (waits is not None and waits.reason == "interrupted"):
        return alone
    if waits is not None:
        return _NEVER if waits.expires is None else frozenset((waits.expires["deadline"],))
    if state.status != "idle":
        return _NEVER
    return frozenset((state.wait.until_ms,)) if state.wait and is_unattended else alone


def move_with_times(
    store: "VariableStore", head: "Head", ref: Ref, state: "ThreadState", tags: dict[str, str]
) -> "Head":
    """The head moved to another node, state and tags, and with it the times of its thread."""
    with store.writing():
        variable = store.set_variable(head.variable.name, ref, tags, head.variable)
        moved = head._replace(ref=ref, state=state, variable=variable)
        move_due(store, head, moved)
    return moved


def move_due(store: "VariableStore", old: "Head | None", now: "Head") -> None:
    """Replace the times of a thread, which comes from elsewhere without `old`. Within a transaction
    or batch.
    """
    before, after = _NEVER if old is None else _times(old), _times(now)
    new, now_ms = now.state, now.variable.updated_ms
    for at_ms in before - after:
        variable = store.variable(_name(at_ms, new.thread))
        if variable is not None:
            store.delete_variable(variable)
    for at_ms in after - before:
        _set(store, new, at_ms, {})
        if new.suspension is not None and new.suspension.expires is not None:
            for share, about in _REMINDERS:
                tags = {REMINDER: about, DEADLINE: f"{at_ms}"}
                _set(store, new, now_ms + int(share * (at_ms - now_ms)), tags)


def _times(head: "Head") -> frozenset[int]:
    return due_times(head.state, is_unattended=UNATTENDED in head.variable.tags)


def _set(store: "VariableStore", state: "ThreadState", at_ms: int, tags: dict[str, str]) -> None:
    name = _name(at_ms, state.thread)
    store.set_variable(name, state.start, tags, store.variable(name))


def due_until(
    store: "VariableStore", now_ms: int
) -> "tuple[list[tuple[ThreadId, Variable]], int | None]":
    """The threads to look at now, those that are due for longest first; and the next time."""
    found: list[tuple[ThreadId, Variable]] = []
    after = None
    while page := store.rows(DUE, after=after, limit=_PAGE):
        for variable in page:
            at, _, thread = variable.name.removeprefix(DUE).partition("/")
            if int(at) > now_ms:
                return found, int(at)
            found.append((ThreadId(thread), variable))
        after = page[-1].name
    return found, None


def _name(at_ms: int, thread: str) -> str:
    return f"{DUE}{at_ms:0{_DIGITS}}/{thread}"
