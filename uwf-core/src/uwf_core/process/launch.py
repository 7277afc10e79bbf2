"""Starting a program under its reaper: the pipes between, and the word whether it runs."""

# ruff: noqa: PTH100, PTH110
# On the path of every program; the rest of this room does without pathlib.

import os
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.errors import AgentInterrupted, InternalFailure, Unavailable
from uwf_core.process import reaper
from uwf_core.process.cancel import Cancel
from uwf_core.process.identity import ProcessId, boot_id, start_of_ticks
from uwf_core.process.leftovers import ATTEMPT_VARIABLE
from uwf_core.process.locate import locate, refusal

if TYPE_CHECKING:
    import subprocess

_START_SECONDS = 60.0
"""How long a reaper may take to start its program; a dead network folder takes for ever."""


class Launch(NamedTuple):
    """What to start. `stdin` says whether the program gets a pipe (else /dev/null)."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    stdin: bool
    first_signal: int | None
    grace_seconds: float


class Running(NamedTuple):
    """A started program: its reaper, itself, and our non-blocking ends of the pipes."""

    reaper: "subprocess.Popen[bytes]"
    leader: ProcessId
    control: int
    status: int
    stdin: int | None
    stdout: int
    stderr: int
    news: bytes
    """What the reaper said after `started`: nothing yet, or how the program ended."""


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


def launch(order: Launch, cancel: Cancel | None) -> Running:
    """Start a program under a reaper; it runs when this returns.

    Raises:
        Unavailable: there is no such program or folder, or it cannot be executed.
        BadRequest: a text that no program can be given.
        AgentInterrupted: cancelled before it ran.
        InternalFailure: the reaper could not be started.
    """
    path = locate(order.argv, order.cwd, order.env)
    if cancel is not None and cancel.is_set():
        raise AgentInterrupted(f"cancelled before {order.argv[0]} was started")
    pipes = _Pipes()
    try:
        return _launch(order, path, pipes, cancel)
    except BaseException:
        pipes.close()
        raise


def _launch(order: Launch, path: bytes, pipes: _Pipes, cancel: Cancel | None) -> Running:
    import subprocess

    try:
        control, their_control = pipes.to_child()
        status, their_status = pipes.from_child()
        stdin, their_stdin = pipes.to_child() if order.stdin else (None, subprocess.DEVNULL)
        stdout, their_stdout = pipes.from_child()
        stderr, their_stderr = pipes.from_child()
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", _script(), str(their_control), str(their_status)],
            stdin=their_stdin,
            stdout=their_stdout,
            stderr=their_stderr,
            pass_fds=(their_control, their_status),
            env=_reaper_environment(order.env),
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise InternalFailure(
            f"the reaper of {order.argv[0]} cannot be started: {error}"
        ) from error
    pipes.close_theirs()
    try:
        _send(control, _encode(order, path))
        word, news = _first_word(status, cancel)
        leader = _leader(word, order, path, stderr)
    except BaseException:
        pipes.close()  # the lifeline too: the reaper ends whatever it may have started
        _collect(child)
        raise
    for fd in pipes.ours:
        os.set_blocking(fd, False)
    return Running(child, leader, control, status, stdin, stdout, stderr, news)


def _script() -> str:
    """The reaper's file: compiled where the import of it has left that, which saves 3 ms."""
    compiled = reaper.__spec__.cached if reaper.__spec__ else None
    return compiled if compiled and os.path.exists(compiled) else reaper.__file__


def _reaper_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Our own, since the interpreter may need it to start, marked as belonging to the attempt."""
    marker = env.get(ATTEMPT_VARIABLE)
    return dict(os.environ) if marker is None else {**os.environ, ATTEMPT_VARIABLE: marker}


def _encode(order: Launch, path: bytes) -> bytes:
    request = reaper.Order(os.getpid(), order.grace_seconds, order.first_signal or 0)
    request.path = path
    request.cwd = os.fsencode(os.path.abspath(order.cwd))
    request.argv = [word.encode() for word in order.argv]
    request.env = {os.fsencode(name): os.fsencode(value) for name, value in order.env.items()}
    return request.encode()


def _send(control: int, data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(control, view) :]
    except BrokenPipeError:
        return  # the reaper is dead, which its status pipe tells as well


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
                hint="is its folder on a network drive that does not answer?",
            )
    line, _, news = data.partition(b"\n")
    return line.split(), news


def _leader(word: list[bytes], order: Launch, path: bytes, stderr: int) -> ProcessId:
    """The program, or the reason why it does not run."""
    match word:
        case [b"started", pid, ticks]:
            if sys.platform != "linux":
                return ProcessId.of(int(pid)) or ProcessId(int(pid), "ended")
            return ProcessId(int(pid), start_of_ticks(ticks.decode(), boot_id()))
        case [b"failed", stage, number]:
            text = os.fsdecode(path)
            raise refusal(order.argv[0], text, order.cwd, stage.decode(), int(number))
        case _:
            os.set_blocking(stderr, False)
            try:
                said = os.read(stderr, 65536).decode(errors="replace").strip()
            except BlockingIOError:
                said = ""
            raise InternalFailure(
                f"the reaper of {order.argv[0]} died before it could start it: {said or 'no word'}"
            )


def _collect(child: "subprocess.Popen[bytes]") -> None:
    """Wait for a reaper that has nothing more to say, in the background if it takes long."""
    import subprocess
    import threading

    try:
        child.wait(1)
    except subprocess.TimeoutExpired:
        threading.Thread(target=child.wait, name=f"collect-{child.pid}", daemon=True).start()
