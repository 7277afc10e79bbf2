"""The variables of a thread and of those that it called, as a bundle contains them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from uwf_core.api.store import Variable
from uwf_core.cas.manifest import root_from
from uwf_core.errors import BusyError
from uwf_core.ids import ThreadId
from uwf_core.thread.calls import descendants_of
from uwf_core.thread.head import (
    IMPORTED,
    SESSION_HOSTS,
    TRIAL,
    Head,
    read_head,
)
from uwf_core.thread.lock import holder_of
from uwf_core.thread.names import CALLS, FILES, QUEUED, UNATTENDED, prefixes_of

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

_TRIES = 5


def own_variables(store: "Store", thread: ThreadId) -> tuple[Head, Sequence[Variable]]:
    """A consistent view of the head and all variables of a thread, without the marks of a trial, of
    an import and of workers: these hold only in this store.
    """
    for _ in range(_TRIES):
        head = read_head(store, thread)
        if holder_of(store, thread) is not None:
            break
        here = {TRIAL, IMPORTED, QUEUED, SESSION_HOSTS, UNATTENDED}
        tags = {tag: text for tag, text in head.variable.tags.items() if tag not in here}
        variables = [head.variable._replace(tags=tags)]
        for prefix in prefixes_of(thread):
            if not prefix.startswith(FILES):  # for machines that share this store
                variables += store.variables(prefix)
        if read_head(store, thread).variable == head.variable:
            return head, variables
    raise BusyError(f"thread {thread} is running", hint=f"next: uwf thread wait {thread}")


def tree_variables(store: "Store", thread: ThreadId) -> tuple[list[Head], list[Variable]]:
    """The same of a thread and all threads below it; its own head is the first.

    Raises:
        BusyError: one of them is running.
    """
    for _ in range(_TRIES):
        threads = [thread, *descendants_of(store, thread)]
        heads, variables = list[Head](), list[Variable]()
        for each in threads:
            head, own = own_variables(store, each)
            heads.append(head)
            variables += own
        called = {each.name.rpartition("/")[2] for each in variables if each.name.startswith(CALLS)}
        is_same = all(read_head(store, head.thread).variable == head.variable for head in heads)
        if is_same and called <= {*threads}:
            return heads, variables
    raise BusyError(f"thread {thread} is running", hint=f"next: uwf thread wait {thread}")


def thread_root(store: "Store", head: Head) -> str | None:
    """The root of the thread's bundle, None while it runs, or if it has another head by now.

    Raises:
        CorruptNodeError, MissingNodeError: a node of it is damaged or missing.
    """
    try:
        (now, *_), variables = tree_variables(store, head.thread)
    except BusyError:
        return None
    if now.ref != head.ref:
        return None
    return root_from(store, now.ref, [each.value for each in variables])
