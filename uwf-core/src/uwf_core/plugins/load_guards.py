"""Detect and report plugin code that harms the process while it is loaded."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from uwf_core.errors import AgentInterrupted
from uwf_core.plugins.loading import broken, cure
from uwf_core.plugins.scan import EntryPoint

_DESCRIPTORS = "/dev/fd"
_STDERR = 2
_STANDARD = (0, 1, _STDERR)

_Opened = dict[int, tuple[int, int]]


@contextmanager
def interruptible(found: EntryPoint) -> Iterator[None]:
    """Let Ctrl-C end the import of a plugin that hangs, also if signals are only recorded.

    Raises:
        AgentInterrupted: it was interrupted; the message names the plugin.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, frame: FrameType | None) -> None:
        noted = before[signal.Signals(number)]
        if callable(noted):
            noted(number, frame)
        raise KeyboardInterrupt

    for number in before:
        signal.signal(number, stop)
    try:
        yield
    except KeyboardInterrupt as interruption:
        raise AgentInterrupted(
            f"interrupted while loading {found}", hint=f"if it hangs there, {cure(found)}"
        ) from interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def keeps_descriptors(found: EntryPoint) -> Iterator[None]:
    """Report a plugin that closes descriptors that it did not open.

    If one other than the standard streams is gone, the process ends at once (exit code 1), as if
    killed: the files and locks of the store may be among them. The marker of the import stays,
    so that the next command names the plugin. (If other threads run, such as those of a program
    that uses the client, they close descriptors too, and the plugin may not be the cause:
    then only the standard streams are checked.)

    Raises:
        PluginBroken: a standard stream is gone.
    """
    before = _opened()
    alone = threading.active_count() == 1
    spare = os.dup(_STDERR) if _STDERR in before else None
    try:
        yield
    finally:
        after = _opened()
        _mend(before, after, spare)
        lost = sorted(
            number
            for number, file in before.items()
            if after.get(number) != file and (alone or number in _STANDARD)
        )
        if lost:
            numbers = ", ".join(map(str, lost))
            error = broken(found, f"it closed file descriptors that it did not open ({numbers})")
            if lost[-1] not in _STANDARD:
                os.write(_STDERR, f"error: {error.message}\n  hint: {error.hint}\n".encode())
                os._exit(error.exit_code)
            raise error


@contextmanager
def stays_one_process(found: EntryPoint) -> Iterator[None]:
    """End a process that the plugin forked if it returns here: only the parent continues."""
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:
            error = broken(found, "it forks while loading; the second process was ended")
            os.write(2, f"note: {error.message} ({error.hint})\n".encode())
            os._exit(0)


def _mend(before: _Opened, after: _Opened, spare: int | None) -> None:
    """Reopen missing standard descriptors on stderr or the null device: otherwise the next file
    that is opened, such as the store's, would get their numbers and all printed output.
    """
    for number in _STANDARD:
        if number in before and number not in after:
            if spare is not None and spare in after:
                os.dup2(spare, number)
            else:
                nothing = os.open(os.devnull, os.O_RDWR)  # gets the lowest number, often this one
                if nothing != number:
                    os.dup2(nothing, number)
                    os.close(nothing)
    if spare is not None and spare in after:
        os.close(spare)


def _opened() -> _Opened:
    """The open descriptors with the device and inode of each file."""
    try:
        numbers = os.listdir(_DESCRIPTORS)  # noqa: PTH208 (pathlib is not needed to run a step)
    except OSError:  # the listing cannot be opened, or the system has none
        return {}
    found: _Opened = {}
    for number in map(int, numbers):
        try:
            status = os.fstat(number)
        except OSError:  # the listing's own
            continue
        found[number] = (status.st_dev, status.st_ino)
    return found
