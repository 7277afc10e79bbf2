"""Keep plugin code off our stdout and from ending the process; detect and report what harms it.

Stdout is only for the result of a command.

Markers "loading X of D" in the home name the plugin if the process dies during its import. A marker
is a file that its writer keeps locked, so that an unlocked marker is one whose writer crashed.
Format: JSON `{"group", "name", "distribution", "version"}`.
"""

# Every step loads a plugin, and pathlib is not imported for that:
# ruff: noqa: PTH106, PTH108, PTH112, PTH120

import contextlib
import fcntl
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final, NamedTuple, NoReturn, TextIO

from uwf_core.errors import AgentInterrupted, TimedOut
from uwf_core.plugins.scan import EntryPoint
from uwf_core.process.folders import make_folder

_STDOUT, _STDERR = 1, 2
end_process_now: Final = os._exit
"""`os._exit` itself, which also works within a guard."""


class PluginGuard:
    """A context in which all writes to stdout go to stderr, and `os._exit` raises SystemExit.

    Both `sys.stdout` and the file descriptor are diverted, since a plugin may print, keep the
    stream for its logger, or start a program. Contexts nest, also across threads: the first one
    diverts, the last one restores.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depths: dict[int, int] = {}
        self._forgotten: set[int] = set()
        self._descriptor: int | None = None
        self._stream: TextIO | None = None

    def __enter__(self) -> None:
        thread = threading.get_ident()
        with self._lock:
            if thread not in self._forgotten:
                if not self._depths:
                    self._divert()
                self._depths[thread] = self._depths.get(thread, 0) + 1

    def __exit__(self, *_error: object) -> None:
        thread = threading.get_ident()
        with self._lock:
            if thread not in self._forgotten:
                self._depths[thread] -= 1
                self._leave(thread, self._depths[thread])

    def forget(self, thread: int) -> None:
        """Leave every context of a thread (its `ident`) that does not return from plugin code."""
        with self._lock:
            self._forgotten.add(thread)
            if thread in self._depths:
                self._leave(thread, 0)

    def _leave(self, thread: int, depth: int) -> None:
        if depth == 0:
            del self._depths[thread]
        if not self._depths:
            self._restore()

    def _divert(self) -> None:
        os._exit = _exit_of_plugin(os.getpid())  # type: ignore[assignment]
        self._stream = sys.stdout
        _flush(sys.stdout)
        self._descriptor = _divert_descriptor()
        sys.stdout = sys.stderr

    def _restore(self) -> None:
        os._exit = end_process_now
        _flush(sys.stdout)
        _flush(self._stream)  # what a plugin wrote to a stream it kept goes to stderr as well
        if self._stream is not None:
            sys.stdout = self._stream
        if self._descriptor is not None:
            # Plugin code may have closed it; the loader reports that.
            with contextlib.suppress(OSError):
                os.dup2(self._descriptor, _STDOUT)
                os.close(self._descriptor)
            self._descriptor = None


def _exit_of_plugin(process: int) -> Callable[[int], NoReturn]:
    """What `os._exit` is for plugin code: this process continues, its forks end."""

    def leave(status: int) -> NoReturn:
        if os.getpid() != process:
            end_process_now(status)
        raise SystemExit(status)

    return leave


def _divert_descriptor() -> int | None:
    """Point descriptor 1 to stderr; return a copy of it, None if it was closed."""
    try:
        saved = os.dup(_STDOUT)
    except OSError:  # started without a stdout
        return None
    try:
        os.dup2(_STDERR, _STDOUT)
    except OSError:  # started without a stderr
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, _STDOUT)
        os.close(nowhere)
    return saved


def _flush(stream: TextIO | None) -> None:
    try:  # six times per step, and a context costs three calls
        if stream is not None:
            stream.flush()
    except (OSError, ValueError):
        pass  # the code that writes the result reports a closed or broken stream


_FOLDER = "loading"


class CrashedLoad(NamedTuple):
    """A plugin whose import killed a process."""

    group: str
    name: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return (
            f"a command crashed while loading {self.name!r} of "
            f"{f'{self.distribution} {self.version}'.rstrip()}; "
            f"if it happens again, block it: uwf config set --add plugins.block {self.name}"
        )


@contextlib.contextmanager
def load_marker(home: str | None, found: EntryPoint) -> Iterator[None]:
    """Keep a marker during the context.

    It is only for diagnosis: without write access to the home there is none. Its folder stays in a
    home (to remove a folder takes some file systems 4 ms); a home made only for it is removed.
    """
    places = [] if home is None or os.path.isdir(home) else _to_be_made(home)
    note = _write(home, found) if home is not None else None
    try:
        yield
    finally:
        if note is not None:
            descriptor, file = note
            with contextlib.suppress(OSError):  # removed by another process
                os.unlink(file)
            with contextlib.suppress(OSError):  # the plugin closed it, which is reported elsewhere
                os.close(descriptor)
            for place in places:
                with contextlib.suppress(OSError):  # in use by another process
                    os.rmdir(place)


def crashed_loads(home: str) -> list[CrashedLoad]:
    """The plugins whose import killed a process; each is reported once."""
    try:
        files = [entry.path for entry in os.scandir(f"{home}/{_FOLDER}")]
    except OSError:  # no folder: no plugin was ever loaded
        return []
    return [crashed for file in sorted(files) if (crashed := _take(file)) is not None]


def _to_be_made(home: str) -> list[str]:
    """The missing folders for a marker in this home, innermost first."""
    places = [f"{home}/{_FOLDER}"]
    while not os.path.isdir(places[-1]):
        places.append(os.path.dirname(places[-1]))
    return places[:-1]


def _write(home: str, found: EntryPoint) -> tuple[int, str] | None:
    folder = f"{home}/{_FOLDER}"
    file = f"{folder}/{os.getpid()}-{found.group}-{found.name.replace('/', '_')}"
    try:
        make_folder(folder)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError:
        return None
    with contextlib.suppress(
        OSError
    ):  # a file system without locks: the marker is then reported twice
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    crashed = CrashedLoad(found.group, found.name, found.distribution, found.version)
    with contextlib.suppress(OSError):  # a full disk
        os.write(descriptor, json.dumps(crashed._asdict()).encode())
    return descriptor, file


def _take(file: str) -> CrashedLoad | None:
    """Remove and return the marker in `file` if it is unlocked."""
    try:
        descriptor = os.open(file, os.O_RDWR)
    except OSError:  # just removed by its writer
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        text = os.read(descriptor, 65536)
        if not text:  # its writer has not locked it yet
            return None
        os.unlink(file)
        return CrashedLoad(**json.loads(text))
    except (OSError, ValueError, TypeError):  # still locked, or not our marker
        return None
    finally:
        os.close(descriptor)


OBSERVER_THREAD = "uwf-observer "
"""How the names of the observers' threads begin."""
_DESCRIPTORS = "/dev/fd"
_STANDARD = (0, _STDOUT, _STDERR)

_Opened = dict[int, tuple[int, int]]


class _Overdue(KeyboardInterrupt):
    """The time limit of `interruptible`, which ends plugin code as Ctrl-C does."""


@contextlib.contextmanager
def interruptible(found: EntryPoint, seconds: float | None = None) -> Iterator[None]:
    """Let Ctrl-C and a time limit end the import of a plugin that hangs, also if signals are only
    recorded. Only in the main thread, since other threads get no signals.

    Raises:
        AgentInterrupted: it was interrupted; the message names the plugin.
        TimedOut: it took longer than `seconds`.
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
        with contextlib.nullcontext() if seconds is None else _alarm(seconds):
            yield
    except _Overdue as overdue:
        if seconds is None:
            raise
        from uwf_core.plugins.loading import cure

        raise TimedOut(
            f"{found} was not ready within {round(seconds, 1):g} s",
            hint=f"raise the role's `timeout` or `limits -> runSeconds`, or {cure(found)}",
        ) from overdue
    except KeyboardInterrupt as interruption:
        from uwf_core.plugins.loading import cure

        raise AgentInterrupted(
            f"interrupted while loading {found}", hint=f"if it hangs there, {cure(found)}"
        ) from interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise `_Overdue` in the context once `seconds` have passed."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise _Overdue

    handler = signal.signal(signal.SIGALRM, ring)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


@contextlib.contextmanager
def keeps_descriptors(found: EntryPoint) -> Iterator[None]:
    """Report a plugin that closes descriptors that it did not open.

    If one other than the standard streams is gone, the process ends at once (exit code 1), as if
    killed: the files and locks of the store may be among them. The marker of the import stays,
    so that the next command names the plugin. (If other threads run, such as those of a program
    that uses the client, they close descriptors too, and the guard of one of them may divert
    stdout: the plugin may not be the cause. Then only missing standard streams are reported.)

    Raises:
        PluginBroken: a standard stream is gone.
    """
    before = _opened()
    alone, collects = _is_alone(), gc.isenabled()
    gc.disable()  # what the caller's program left unclosed must not be closed meanwhile
    spare = os.dup(_STDERR) if _STDERR in before else None
    try:
        yield
    finally:
        after = _opened()
        if collects:
            gc.enable()
        _mend(before, after, spare)
        lost = sorted(
            number
            for number, file in before.items()
            if (after.get(number) != file if alone else number in _STANDARD and number not in after)
        )
        if lost:
            from uwf_core.plugins.loading import broken

            numbers = ", ".join(map(str, lost))
            error = broken(found, f"it closed file descriptors that it did not open ({numbers})")
            if lost[-1] not in _STANDARD:
                os.write(_STDERR, f"error: {error.message}\n  hint: {error.hint}\n".encode())
                end_process_now(error.exit_code)
            raise error


def _is_alone() -> bool:
    """Whether no other thread can open or close files meanwhile: none of an observer does, and
    what starts one waits until it is loaded.
    """
    current = threading.current_thread()
    others = [
        each
        for each in threading.enumerate()
        if each is not current and not each.name.startswith(OBSERVER_THREAD)
    ]
    return len(others) == (1 if current.name.startswith(OBSERVER_THREAD) else 0)


@contextlib.contextmanager
def stays_one_process(found: EntryPoint) -> Iterator[None]:
    """End a process that the plugin forked if it returns here: only the parent continues."""
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:
            from uwf_core.plugins.loading import broken

            error = broken(found, "it forks while loading; the second process was ended")
            os.write(2, f"note: {error.message} ({error.hint})\n".encode())
            end_process_now(0)


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
