"""Stage 11: the head of a thread, moved by compare-and-set together with its index."""

from typing import TYPE_CHECKING

from uwf_core.errors import CorruptNodeError, UnknownIdError
from uwf_core.ids import Ref, ThreadId
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.index import ThreadIndex, from_tags, to_tags
from uwf_core.thread.names import HEADS, head_name

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.store import Store


class Head(NamedTuple):
    """Where a thread stands: the newest step (or the start), and the index as `state`."""

    thread: ThreadId
    ref: Ref
    state: ThreadIndex
    variable: "Variable"

    @property
    def at_start(self) -> bool:
        """Whether no step was taken yet."""
        return self.ref == self.state.start


def create_head(store: "Store", thread: ThreadId, start: Ref, index: ThreadIndex) -> Head:
    """The head of a new thread."""
    variable = store.set_variable(head_name(thread), start, to_tags(index), None)
    return Head(thread, start, index, variable)


def read_head(store: "Store", thread: ThreadId) -> Head:
    """The head of `thread`.

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
    return head_of(variable)


def head_of(variable: "Variable") -> Head:
    """The head that a variable holds.

    Raises:
        CorruptNodeError: its tags are not those of a thread.
    """
    thread = ThreadId(variable.name.removeprefix(HEADS))
    try:
        index = from_tags(variable.tags)
    except ValueError as error:
        raise CorruptNodeError(f"the head of thread {thread} is damaged: {error}") from error
    return Head(thread, Ref(variable.value), index, variable)


def is_whole(store: "Store", head: Head) -> bool:
    """Whether the nodes without which nothing can be done are there: the newest and the
    workflow.
    """
    needed = {head.ref, Ref(head.state.workflow)}
    return store.present(needed) == needed


def move_head(store: "Store", head: Head, ref: Ref, index: ThreadIndex) -> Head:
    """Move the head from where `head` saw it, with the index; both or nothing.

    Raises:
        BusyError: somebody else moved it meanwhile.
    """
    variable = store.set_variable(head.variable.name, ref, to_tags(index), head.variable)
    return Head(head.thread, ref, index, variable)
