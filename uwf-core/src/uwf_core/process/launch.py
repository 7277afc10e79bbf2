"""Start a program under its reaper: the pipes, and the report whether it runs."""

# ruff: noqa: PTH100, PTH116
# On the path of every program; the rest of this room does without pathlib.

import os
import struct
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.errors import AgentInterrupted, InternalFailure, Unavailable
from uwf_core.process import crash_points, reaper
from uwf_core.process.cancel import Cancel
from uwf_core.process.identity import ProcessId, boot_id, start_of_ticks
from uwf_core.process.leftovers import ATTEMPT_VARIABLE
from uwf_core.process.locate import locate, refusal
from uwf_core.process.records import Program

if TYPE_CHECKING:
    import subprocess

_START_SECONDS = 60.0
"""How long a reaper may take to start its program; a dead network folder blocks for ever."""


class RunningProgram(NamedTuple):
    """A started program: its reaper, itself, and our non-blocking ends of the pipes."""

    reaper: "subprocess.Popen[bytes]"
    leader: ProcessId
    control: int
    status: int
    stdin: int | None
    stdout: int
    stderr: int
    news: bytes
    """The reaper's lines after `started`: none yet, or how the program ended."""


class _Pipes:
    """The pipes of one start: our ends and the child's, closed together if the start fails."""

    def __init__(self) -> None:
        self.ours: list[int] = []
        self.theirs: list[int] = []

    def to_child(self) -> tuple[int, int]:
        """A pipe that we write; (our end, the child's end)."""
        theirs, ours = self._pipe()
        self.ours.append(ours)
        self.theirs.append(theirs)
        return ours, theirs

    def from_child(self) -> tuple[int, int]:
        """A pipe that we read; (our end, the child's end)."""
        ours, theirs = self._pipe()
        self.ours.append(ours)
        self.theirs.append(theirs)
        return ours, theirs

    @staticmethod
    def _pipe() -> tuple[int, int]:
        """A pipe above 0, 1 and 2, which are free when uwf was started without them."""
        low = []
        try:
            while True:
                read, write = os.pipe()
                if read > 2 and write > 2:
                    return read, write
                low += [read, write]
        finally:
            for fd in low:
                os.close(fd)

    def close_theirs(self) -> None:
        while self.theirs:
            os.close(self.theirs.pop())

    def close(self) -> None:
        self.close_theirs()
        while self.ours:
            os.close(self.ours.pop())


def launch(program: Program, grace_seconds: float, cancel: Cancel | None) -> RunningProgram:
    """Start a program under a reaper; it runs when this returns.

    Raises:
        Unavailable: the program or folder does not exist, or it cannot be executed.
        BadRequest: a text that cannot be an argument.
        AgentInterrupted: cancelled before it started.
        InternalFailure: the reaper could not be started.
    """
    path = locate(program.argv, program.cwd, program.env)
    if cancel is not None and cancel.is_set():
        raise AgentInterrupted(f"cancelled before {program.argv[0]} was started")
    order = _order(program, path, grace_seconds)
    pipes = _Pipes()
    try:
        return _launch(program, order, pipes, cancel)
    except BaseException:
        pipes.close()
        raise


def _launch(
    program: Program, order: reaper.Order, pipes: _Pipes, cancel: Cancel | None
) -> RunningProgram:
    import subprocess

    try:
        control, their_control = pipes.to_child()
        status, their_status = pipes.from_child()
        stdin, their_stdin = (
            pipes.to_child() if program.stdin != b"" else (None, subprocess.DEVNULL)
        )
        stdout, their_stdout = pipes.from_child()
        stderr, their_stderr = pipes.from_child()
        crash_points.reach("spawn")
        marker = program.env.get(ATTEMPT_VARIABLE)
        mark = () if marker is None else (f"{ATTEMPT_VARIABLE}={marker}",)
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", _script(), str(their_control), str(their_status), *mark],
            stdin=their_stdin,
            stdout=their_stdout,
            stderr=their_stdout if program.one_stream else their_stderr,
            pass_fds=(their_control, their_status),
            env=os.environ,
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise InternalFailure(
            f"cannot start the reaper of {program.argv[0]}: {error}",
            hint="check the system's limits of processes and open files",
        ) from error
    pipes.close_theirs()
    try:
        _send(control, order.encode())
        word, news = _first_word(status, cancel)
        leader = _leader(word, program, order.path, stderr)
    except BaseException:
        pipes.close()  # the lifeline too: the reaper ends whatever it may have started
        _collect(child)
        raise
    crash_points.reach("spawned")
    for fd in pipes.ours:
        os.set_blocking(fd, False)
    return RunningProgram(child, leader, control, status, stdin, stdout, stderr, news)


def _script() -> str:
    """The reaper's file: the compiled one if it is that of this source, which saves 3 ms.

    Its header is four times four bytes: magic number, flags, the source's time and size (PEP 552).
    """
    compiled = reaper.__spec__.cached if reaper.__spec__ else None
    try:
        with open(compiled or os.devnull, "rb") as file:
            header = file.read(16)
        source = os.stat(reaper.__file__)
    except OSError:
        return reaper.__file__
    belongs = struct.pack("<III", 0, int(source.st_mtime) & 0xFFFFFFFF, source.st_size)
    return compiled if compiled and header[4:] == belongs else reaper.__file__


def _order(program: Program, path: bytes, grace_seconds: float) -> reaper.Order:
    order = reaper.Order(os.getpid(), grace_seconds, program.first_signal or 0)
    order.path = path
    order.cwd = os.fsencode(os.path.abspath(program.cwd))
    order.argv = [word.encode() for word in program.argv]
    order.env = {os.fsencode(name): os.fsencode(value) for name, value in program.env.items()}
    return order


def _send(control: int, data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(control, view) :]
    except BrokenPipeError:
        return  # the reaper is dead, which its status pipe reports as well


def _first_word(status: int, cancel: Cancel | None) -> tuple[list[bytes], bytes]:
    """The reaper's first line, in words, and what follows it; no words if it has died."""
    import select

    poll = select.poll()
    poll.register(status, select.POLLIN)
    deadline = time.monotonic() + _START_SECONDS
    data = b""
    while b"\n" not in data:
        if poll.poll(50):
            chunk = os.read(status, 4096)
            if not chunk:
                return [], b""
            data += chunk
        elif cancel is not None and cancel.is_set():
            raise AgentInterrupted("cancelled while the program was being started")
        elif time.monotonic() > deadline:
            raise Unavailable(
                f"the program did not start within {_START_SECONDS:.0f} s",
                hint="check that its folder is not on a network drive that does not respond",
            )
    line, _, news = data.partition(b"\n")
    return line.split(), news


def _leader(word: list[bytes], program: Program, path: bytes, stderr: int) -> ProcessId:
    """The program, or raise the reason why it does not run."""
    match word:
        case [b"started", pid, ticks]:
            if sys.platform != "linux":
                return ProcessId.of(int(pid)) or ProcessId(int(pid), "ended")
            return ProcessId(int(pid), start_of_ticks(ticks.decode(), boot_id()))
        case [b"failed", stage, number]:
            text = os.fsdecode(path)
            raise refusal(program.argv[0], text, program.cwd, stage.decode(), int(number))
        case _:
            os.set_blocking(stderr, False)
            try:
                said = os.read(stderr, 65536).decode(errors="replace").strip()
            except BlockingIOError:
                said = ""
            raise InternalFailure(
                f"the reaper of {program.argv[0]} died before it could start it"
                + (f": {said}" if said else "")
            )


def abandon(running: RunningProgram) -> None:
    """Abandon a program that cannot be watched: cut its lifeline, so that its reaper ends it."""
    for fd in (running.control, running.status, running.stdin, running.stdout, running.stderr):
        if fd is not None:
            os.close(fd)
    _collect(running.reaper)


def _collect(child: "subprocess.Popen[bytes]") -> None:
    """Wait for the end of a reaper, in the background if it takes long."""
    import subprocess
    import threading

    try:
        child.wait(1)
    except subprocess.TimeoutExpired:
        threading.Thread(target=child.wait, name=f"collect-{child.pid}", daemon=True).start()
