"""Control a run from outside: stop it, or wait for it."""

import signal
import time
from typing import TYPE_CHECKING

from uwf_core.engine.find import find_thread
from uwf_core.engine.results import Outcome, exec_document, read_run
from uwf_core.errors import BusyError, UsageError, WrongStateError
from uwf_core.ids import ThreadId
from uwf_core.process.identity import ProcessId, hostname, send_signal
from uwf_core.thread.calls import open_below, shown_state
from uwf_core.thread.head import mark_unattended, read_head
from uwf_core.thread.lifecycle import check_head, continues_alone, effective, exit_code
from uwf_core.thread.lock import holder_of
from uwf_core.thread.names import UNATTENDED
from uwf_core.views.show import show_thread

if TYPE_CHECKING:
    from uwf_core.api.store import Holder
    from uwf_core.engine.documents import ThreadDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.head import Head

POLL_SECONDS = 0.1
STOP_PATIENCE_SECONDS = 10.0
"""How long a run may take to stop, beyond the grace period of its agent."""
NAMING_SECONDS = 1.0
"""How long a process that has acquired a lock may take to record itself as its holder."""


def stop_thread(engine: "Engine", word: str, head: str | None = None) -> "ThreadDocument":
    """Stop a run, in the background or elsewhere on this machine, and let `tick` leave the thread
    alone; exec continues it later.

    Raises:
        WrongStateError: the thread is not running, or runs on another machine; or its head is not
            the one that the person has seen.
        BusyError: it does not stop in time.
    """
    thread = find_thread(engine, word)
    check_head(read_head(engine.store, thread), head)
    was_running = stop_runs(engine, thread)
    now = read_head(engine.store, thread)
    if not was_running and not _continues(engine, now):
        raise WrongStateError(
            f"thread {thread} is not running", hint=f"next: uwf thread show {thread}"
        )
    mark_unattended(engine.store, now, is_unattended=False)
    return show_thread(engine, thread)


def _continues(engine: "Engine", head: "Head") -> bool:
    """Whether `tick` would continue a thread that nobody runs, now or at its time."""
    state = shown_state(engine.store, effective(head.state, is_running=False))
    return UNATTENDED in head.variable.tags and continues_alone(state)


def wait_thread(engine: "Engine", word: str, timeout_s: float | None = None) -> Outcome:
    """Wait until the thread is not running; return the outcome of its last run.

    A run that was killed has left none: then the outcome has no steps and the current status.

    Raises:
        BusyError: it did not finish in time.
    """
    thread = find_thread(engine, word)
    if not isinstance(timeout_s, int | float | None):
        raise UsageError(f"{timeout_s!r} is not a time to wait", hint="give a number of seconds")
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    while is_run(engine, thread):
        if deadline is not None and time.monotonic() >= deadline:
            raise BusyError(
                f"thread {thread} is still running after {timeout_s:g} s",
                hint=f"`uwf thread wait {thread}` waits; `uwf thread stop {thread}` stops it",
            )
        time.sleep(POLL_SECONDS)
    head = read_head(engine.store, thread)
    state = effective(head.state, is_running=False, is_sound=head.damage is None)
    state = shown_state(engine.store, state)
    last = read_run(engine.home, thread)
    if last is not None and last.document.get("status") == state.status:
        return last
    return Outcome(exec_document(head._replace(state=state), []), exit_code(state))


def is_run(engine: "Engine", thread: ThreadId) -> bool:
    """Whether a process runs the thread or one in its open calls, or a worker will. A process that
    resumes one of these releases it a moment before it locks the thread itself.
    """
    for _ in range(2):
        below = open_below(engine.store, thread)
        if any(holder_of(engine.store, each) is not None for each in (thread, *below)):
            return True
        if engine.has_workers and _is_queued(engine, [thread, *below]):
            return True
        if not below or read_run(engine.home, thread) is not None:
            return False
        time.sleep(POLL_SECONDS)
    return False


def _is_queued(engine: "Engine", threads: list[ThreadId]) -> bool:
    from uwf_core.views.unserved import queued_among  # for threads of workers

    return bool(queued_among(engine, threads))


def stop_runs(engine: "Engine", thread: ThreadId) -> bool:
    """Stop the run of the thread, and those of threads in its open calls; return whether there was
    one.

    Raises:
        WrongStateError: one is on another machine. BusyError: one does not stop in time.
    """
    threads = [thread, *open_below(engine.store, thread)]
    stopped = [_stop_run(engine, each) for each in threads]
    return any(stopped)


def _stop_run(engine: "Engine", thread: ThreadId) -> bool:
    if read_head(engine.store, thread).is_queued:
        from uwf_core.threads.queued import stop_queued  # for threads of workers

        if stop_queued(engine, thread):
            return True
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
    """The process that runs the thread. It acquires the lock a moment before it records itself:
    until then the recorded holder is missing or dead.
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
                f"process {holder.pid} did not stop thread {thread} within {patience:g} s",
                hint=f"`kill -9 {holder.pid}` is safe: the next `uwf thread exec` cleans up",
            )
        time.sleep(POLL_SECONDS / 2)
