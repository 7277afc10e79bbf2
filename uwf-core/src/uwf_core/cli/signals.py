"""Ctrl-C and its like while an agent works: stop it in good order, at the second time at once."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from uwf_core.errors import ExitCode
from uwf_core.process.cancel import Cancel


@contextmanager
def cancel_on_signals() -> Iterator[Cancel]:
    """A token that SIGINT, SIGTERM and a lost terminal set; a second signal ends this process,
    and the agent's tree with it, since the tree's reaper watches us.
    """
    cancel = Cancel()

    def stop(number: int, _frame: FrameType | None) -> None:
        if cancel.is_set():
            os._exit(ExitCode.INTERRUPTED)
        cancel.set("interrupted by Ctrl-C" if number == signal.SIGINT else "stopped by a signal")

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # nohup ignores it on purpose
        numbers.append(signal.SIGHUP)
    before = [(number, signal.signal(number, stop)) for number in numbers]
    try:
        yield cancel
    finally:
        for number, handler in before:
            signal.signal(number, handler)
