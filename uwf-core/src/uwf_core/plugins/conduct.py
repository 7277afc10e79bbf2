"""How plugin code may not behave while it is loaded, found out at once and told with its name."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from uwf_core.errors import AgentInterrupted
from uwf_core.plugins.loading import broken, cure
from uwf_core.plugins.scan import Found

_DESCRIPTORS = "/dev/fd"
_STDERR = 2
_STANDARD = (0, 1, _STDERR)

_Opened = dict[int, tuple[int, int]]


@contextmanager
def interruptible(found: Found) -> Iterator[None]:
    """Ctrl-C ends the import of a plugin that hangs, also where a signal is otherwise only noted.

    Raises:
        AgentInterrupted: it was interrupted; says where.
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
            f"interrupted while {found} was loaded", hint=f"if it hangs there, {cure(found)}"
        ) from interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def keeps_descriptors(found: Found) -> Iterator[None]:
    """Whoever closes descriptors that are not its own is told.

    Where one beyond the standard streams is gone, the process ends at once (exit code 1), as if it
    were killed: the store's files and locks may be among them. The note about the import stays,
    so that the next command names the plugin. (Where other threads run, such as those of a program
    that drives uwf by the client, they close descriptors of their own, and nobody can tell whose
    fault it is: then the standard streams alone are looked at.)

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
            error = broken(found, f"it closes file descriptors that are not its own ({numbers})")
            if lost[-1] not in _STANDARD:
                os.write(_STDERR, f"error: {error.message}\n  hint: {error.hint}\n".encode())
                os._exit(error.exit_code)
            raise error


@contextmanager
def stays_one_process(found: Found) -> Iterator[None]:
    """A process that the plugin forks, and that comes back here, ends: only one goes on."""
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:
            error = broken(found, "it forks while it is loaded; the second process was ended")
            os.write(2, f"note: {error.message} ({error.hint})\n".encode())
            os._exit(0)


def _mend(before: _Opened, after: _Opened, spare: int | None) -> None:
    """Standard descriptors that are gone lead to stderr again, or to nothing: else the next file
    that is opened, such as the store's, would get their numbers and all that is printed.
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
    """What is open: for each descriptor the device and number of its file."""
    try:
        numbers = os.listdir(_DESCRIPTORS)  # noqa: PTH208 (pathlib is not needed to run a step)
    except OSError:  # not even the listing can be opened, or a system without one
        return {}
    found: _Opened = {}
    for number in map(int, numbers):
        try:
            status = os.fstat(number)
        except OSError:  # the listing's own
            continue
        found[number] = (status.st_dev, status.st_ino)
    return found
