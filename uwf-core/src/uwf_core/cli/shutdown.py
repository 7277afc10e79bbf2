"""End a process: by signals, and at once if only our own code ran.

Ctrl-C and other signals are an exception that ends a command; while an agent works, a token that
stops it cleanly, and at the second signal an immediate exit. Loaded plugins can neither print on
stdout after the result nor keep the process alive.
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Final

from uwf_core.cli.session import Session
from uwf_core.errors import BusyError, ExitCode
from uwf_core.process.cancel import BY_CTRL_C, Cancel

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

_STDOUT, _STDERR = 1, 2
_end_now: Final = os._exit  # kept here, since it raises in our code too while a plugin's runs
_PATIENCE_SECONDS = 2.0
_OWN_SECONDS = 1.75
_TICK_SECONDS = 0.25


def leave(session: Session, code: int) -> None:
    """Send what plugins print from here on (when the interpreter ends) to stderr, and end the
    process if their threads would keep it alive.
    """
    _divert_stdout()
    left = [each for each in threading.enumerate() if _keeps_alive(each)]
    for each in left:
        each.join(_PATIENCE_SECONDS / len(left))
    still = [each.name for each in left if each.is_alive()]
    if still:
        names = ", ".join(still)
        session.note(
            f"note: a plugin's thread is still running ({names}); the command ends without it"
        )
        os._exit(code)


def send_notices(engine: "Engine") -> None:
    """Start the sender of notices if an earlier one has left some and this command has started
    none; a look at a folder if nothing is left.
    """
    due = f"{engine.home}/notices/due"
    try:
        is_due = bool(os.listdir(due))  # noqa: PTH208 (pathlib is not needed here)
    except OSError:  # nothing was ever due
        return
    if is_due and not engine.has_sent_notices:
        from uwf_core.engine.notices import send_left

        send_left(engine)


def end_process(code: int) -> int:
    """End this process, which has printed and closed everything, without the interpreter's
    cleanup, which takes a fifth of a short command. Functions registered with `atexit` run first:
    the interpreter would call them when no thread or executor can be started any more.

    Returns:
        The exit code, if the process must end normally: plugins were loaded, which may rely on
        the cleanup for open files, or a thread is still running.
    """
    if any(map(_keeps_alive, threading.enumerate())):
        return code
    atexit._run_exitfuncs()
    loading = sys.modules.get("uwf_core.plugins.loading")
    if loading and loading.loaded_third_party:
        return code
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # the writer has reported it
                stream.flush()
    os._exit(code)


def _keeps_alive(thread: threading.Thread) -> bool:
    return not thread.daemon and thread is not threading.current_thread()


def _divert_stdout() -> None:
    if sys.stdout is None:  # our caller closed it
        return
    with suppress(OSError, ValueError):  # the reader has gone
        sys.stdout.flush()
    with suppress(OSError):  # no stderr to divert to
        os.dup2(_STDERR, _STDOUT)


def _say_nothing_of_interrupts(dropped: "sys.UnraisableHookArgs") -> None:
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)


_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def raise_on_signals(session: Session) -> None:
    """Make SIGINT and SIGTERM a KeyboardInterrupt, and remember it: Python drops exceptions that
    are raised within its callbacks.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        session.interrupted = True
        sys.unraisablehook = _say_nothing_of_interrupts
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # a shell's `&` ignores SIGINT
            signal.signal(number, interrupt)


@contextmanager
def cancel_on_signals(session: Session) -> Iterator[Cancel]:
    """A token that SIGINT, SIGTERM and a lost terminal set; a second signal ends this process,
    and the agent's tree with it, since the tree's reaper watches us. Once nothing of an agent runs,
    our own work gets two seconds to end, and then is interrupted.
    """
    cancel = Cancel()
    if session.interrupted:
        cancel.set("interrupted before it began")

    def stop(number: int, _frame: FrameType | None) -> None:
        if cancel.is_set():
            cancel.kill_groups()
            _end_now(ExitCode.INTERRUPTED)
        cancel.set(BY_CTRL_C if number == signal.SIGINT else "stopped by a signal")
        signal.setitimer(signal.ITIMER_REAL, _TICK_SECONDS, _TICK_SECONDS)

    ticks = 0

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal ticks
        ticks = 0 if cancel.working else ticks + 1
        if ticks * _TICK_SECONDS >= _OWN_SECONDS:
            signal.setitimer(signal.ITIMER_REAL, 0)
            session.interrupted = True
            raise KeyboardInterrupt

    # A signal that we inherit as ignored stays ignored: nohup, and a shell's `&`.
    numbers = [each for each in _STOPS if signal.getsignal(each) is not signal.SIG_IGN]
    before = [(number, signal.signal(number, stop)) for number in numbers]
    before.append((signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt)))
    try:
        with cancel.governing():
            yield cancel
    except BusyError:
        if cancel.is_set():  # it did not wait for another process any longer
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before:
            signal.signal(number, handler)
