"""One writer per thread: the lock, and who holds it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from uwf_core.errors import BusyError
from uwf_core.ids import ThreadId
from uwf_core.thread.names import lock_name

if TYPE_CHECKING:
    from uwf_core.api.store import Holder
    from uwf_core.cas.store import Store
    from uwf_core.cas.variables import VariableStore


@contextmanager
def thread_lock(store: "Store", thread: ThreadId, now_ms: int) -> Iterator[None]:
    """Hold the lock of `thread`. The system frees it when this process dies.

    Raises:
        BusyError: somebody holds it; the message names the process.
    """
    from uwf_core.api.store import Holder
    from uwf_core.process.identity import ProcessId, hostname

    own = ProcessId.own()
    try:
        handle = store.lock(lock_name(thread), Holder(own.pid, own.start, hostname(), now_ms))
    except BusyError as error:
        from uwf_core.cas.refusals import holder_words

        raise BusyError(
            f"thread {thread} is already running ({holder_words(holder_of(store, thread))})",
            hint=f"`uwf thread wait {thread}` waits for it; `uwf thread stop {thread}` stops it",
        ) from error
    try:
        yield
    finally:
        handle.release()


def holder_of(store: "Store", thread: ThreadId) -> "Holder | None":
    """Who runs `thread` now. Never takes the lock, so that a watcher makes no run fail."""
    return store.holder(lock_name(thread))


def running_threads(store: "VariableStore") -> "dict[str, Holder]":
    """All threads that run now, with who runs them."""
    prefix = lock_name(ThreadId(""))
    return {
        name.removeprefix(prefix): holder
        for name, holder in store.held().items()
        if name.startswith(prefix)
    }
