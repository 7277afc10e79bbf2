"""Threads from outside: stop a run, wait for it."""

import signal
import time
from typing import TYPE_CHECKING

from uwf_core.engine.find import find_thread
from uwf_core.engine.results import Outcome, exec_document, read_run
from uwf_core.errors import BusyError, WrongStateError
from uwf_core.ids import ThreadId
from uwf_core.process.identity import ProcessId, hostname, send_signal
from uwf_core.thread.head import read_head
from uwf_core.thread.lifecycle import effective, exit_code
from uwf_core.thread.lock import holder_of
from uwf_core.views.show import show_thread

if TYPE_CHECKING:
    from uwf_core.api.store import Holder
    from uwf_core.engine.documents import ThreadDocument
    from uwf_core.engine.engine import Engine

POLL_SECONDS = 0.1
STOP_PATIENCE_SECONDS = 10.0
"""How much longer than the agent's own grace a run may take to stop."""
NAMING_SECONDS = 1.0
"""How long whoever has taken a lock may take to say so."""


def stop_thread(engine: "Engine", word: str) -> "ThreadDocument":
    """Stop a run, in the background or elsewhere on this machine; exec goes on later.

    Raises:
        WrongStateError: nobody runs it, or it runs on another machine.
        BusyError: it does not stop in time.
    """
    thread = find_thread(engine, word)
    if not stop_run(engine, thread):
        raise WrongStateError(
            f"nobody runs thread {thread}", hint=f"`uwf thread show {thread}` says where it stands"
        )
    return show_thread(engine, thread)


def wait_thread(engine: "Engine", word: str, timeout_s: float | None = None) -> Outcome:
    """Wait until nobody runs the thread; the run's own document and exit code.

    A run that died has left none: then the document has no steps and says how it stands.

    Raises:
        BusyError: it was not finished in time.
    """
    thread = find_thread(engine, word)
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    while holder_of(engine.store, thread) is not None:
        if deadline is not None and time.monotonic() >= deadline:
            raise BusyError(
                f"thread {thread} still runs after {timeout_s:g} s",
                hint=f"`uwf thread wait {thread}` waits on; `uwf thread stop {thread}` stops it",
            )
        time.sleep(POLL_SECONDS)
    head = read_head(engine.store, thread)
    state = effective(head.state, is_running=False, is_sound=head.damage is None)
    last = read_run(engine.home, thread)
    if last is not None and last.document.get("status") == state.status:
        return last
    return Outcome(exec_document(head._replace(state=state), []), exit_code(state))


def stop_run(engine: "Engine", thread: ThreadId) -> bool:
    """Stop whoever runs the thread; whether somebody did.

    Raises:
        WrongStateError: it runs on another machine. BusyError: it does not stop in time.
    """
    holder = _holder(engine, thread)
    if holder is None:
        return False
    if holder.pid and holder.host != hostname():
        raise WrongStateError(
            f"thread {thread} runs on {holder.host}", hint="stop it on that machine"
        )
    send_signal(ProcessId(holder.pid, holder.start), signal.SIGTERM)
    patience = engine.settings.limits.grace_seconds * 3 + STOP_PATIENCE_SECONDS
    _wait_for_release(engine, thread, holder, patience)
    return True


def _holder(engine: "Engine", thread: ThreadId) -> "Holder | None":
    """Who runs the thread. A lock is taken a moment before its holder is written down: until then
    nobody is named, or one who is dead.
    """
    deadline = time.monotonic() + NAMING_SECONDS
    while (holder := holder_of(engine.store, thread)) is not None:
        is_here = holder.host == hostname() and ProcessId(holder.pid, holder.start).is_alive()
        if is_here or (holder.pid and holder.host != hostname()) or time.monotonic() >= deadline:
            return holder
        time.sleep(POLL_SECONDS / 10)
    return None


def _wait_for_release(
    engine: "Engine", thread: ThreadId, holder: "Holder", patience: float
) -> None:
    deadline = time.monotonic() + patience
    while holder_of(engine.store, thread) == holder:
        if time.monotonic() >= deadline:
            raise BusyError(
                f"process {holder.pid} has not stopped thread {thread} within {patience:g} s",
                hint=f"`kill -9 {holder.pid}` is safe: the next `uwf thread exec` cleans up",
            )
        time.sleep(POLL_SECONDS / 2)
