"""Ctrl-C and other signals: an exception that ends a command; while an agent works, a token that
stops it cleanly, and at the second signal an immediate exit.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode
from uwf_core.process.cancel import Cancel

_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def raise_on_signals(session: Session) -> None:
    """Make SIGINT and SIGTERM a KeyboardInterrupt, and remember it: Python drops exceptions that
    are raised within its callbacks.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        session.interrupted = True
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # a shell's `&` ignores SIGINT
            signal.signal(number, interrupt)


@contextmanager
def cancel_on_signals(session: Session) -> Iterator[Cancel]:
    """A token that SIGINT, SIGTERM and a lost terminal set; a second signal ends this process,
    and the agent's tree with it, since the tree's reaper watches us.
    """
    cancel = Cancel()
    if session.interrupted:
        cancel.set("interrupted before it began")

    def stop(number: int, _frame: FrameType | None) -> None:
        if cancel.is_set():
            os._exit(ExitCode.INTERRUPTED)
        cancel.set("interrupted by Ctrl-C" if number == signal.SIGINT else "stopped by a signal")

    # A signal that we inherit as ignored stays ignored: nohup, and a shell's `&`.
    numbers = [each for each in _STOPS if signal.getsignal(each) is not signal.SIG_IGN]
    before = [(number, signal.signal(number, stop)) for number in numbers]
    try:
        yield cancel
    finally:
        for number, handler in before:
            signal.signal(number, handler)
