"""Stage 11: the head of a thread, moved by compare-and-set together with its state."""

from typing import TYPE_CHECKING

from uwf_core.errors import CorruptNodeError, UnknownIdError
from uwf_core.ids import Ref, ThreadId
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.history import state_of_thread
from uwf_core.thread.names import HEADS, head_name
from uwf_core.thread.state import ThreadState
from uwf_core.thread.tags import from_tags, is_current, to_tags

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.store import Store

DAMAGE = "damage"
"""The tag by which `cas verify` marks a thread: it is no part of the state."""


class Head(NamedTuple):
    """Where a thread stands: the newest step (or the start), and its state.

    `damage` is what `cas verify` has found, None where nothing is known to be wrong.
    """

    thread: ThreadId
    ref: Ref
    state: ThreadState
    damage: str | None
    variable: "Variable"

    @property
    def at_start(self) -> bool:
        """Whether no step was taken yet."""
        return self.ref == self.state.start


def create_head(store: "Store", ref: Ref, state: ThreadState) -> Head:
    """The head of a new thread."""
    thread = ThreadId(state.thread)
    variable = store.set_variable(head_name(thread), ref, to_tags(state), None)
    return Head(thread, ref, state, None, variable)


def read_head(store: "Store", thread: ThreadId) -> Head:
    """The head of `thread`; a state of an older fold is folded anew.

    Raises:
        UnknownIdError: there is no such thread.
        CorruptNodeError: its record is damaged.
    """
    variable = store.variable(head_name(thread))
    if variable is None:
        raise UnknownIdError(
            f"there is no thread {thread} in {store.location()}",
            hint="`uwf thread list --all` shows the threads",
        )
    if not is_current(variable.tags):
        state = state_of_thread(store, thread, Ref(variable.value))
        return Head(thread, Ref(variable.value), state, variable.tags.get(DAMAGE), variable)
    return head_of(variable)


def head_of(variable: "Variable") -> Head:
    """The head that a variable holds.

    Raises:
        CorruptNodeError: its tags are not those of a thread.
    """
    thread = ThreadId(variable.name.removeprefix(HEADS))
    try:
        state = from_tags(thread, variable.tags)
    except ValueError as error:
        raise damaged_head(thread, error) from error
    return Head(thread, Ref(variable.value), state, variable.tags.get(DAMAGE), variable)


def damaged_head(thread: str, why: ValueError) -> CorruptNodeError:
    """The error for a head whose tags are not those of a thread."""
    return CorruptNodeError(f"the head of thread {thread} is damaged: {why}")


def is_whole(store: "Store", head: Head) -> bool:
    """Whether the nodes without which nothing can be done are there: the newest and the
    workflow.
    """
    needed = {head.ref, Ref(head.state.workflow)}
    return store.present(needed) == needed


def move_head(store: "Store", head: Head, ref: Ref, state: ThreadState) -> Head:
    """Move the head from where `head` saw it, with the state; both or nothing.

    Raises:
        BusyError: another process moved it in the meantime.
    """
    return _moved(store, head, ref, state, head.damage)


def mark_head(store: "Store", head: Head, damage: str | None) -> Head:
    """Mark a thread as damaged, or take the mark away; raises as `move_head`."""
    return _moved(store, head, head.ref, head.state, damage)


def _moved(store: "Store", head: Head, ref: Ref, state: ThreadState, damage: str | None) -> Head:
    tags = to_tags(state)
    if damage is not None:
        tags[DAMAGE] = damage
    variable = store.set_variable(head.variable.name, ref, tags, head.variable)
    return Head(head.thread, ref, state, damage, variable)
