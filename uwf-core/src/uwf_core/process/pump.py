"""The pump: one thread per running program that moves its bytes and watches its limits.

Everything that happens to a running program goes through this thread's one poll loop: feeding
stdin, collecting stdout and stderr, reading the reaper, cancelling, limits. Other threads only
leave a request under the lock and wake it.
"""

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable

from uwf_core.process.cancel import Cancel
from uwf_core.process.identity import ProcessId
from uwf_core.process.launch import RunningProgram
from uwf_core.process.leftovers import ATTEMPT_VARIABLE, end_leftovers
from uwf_core.process.reaper import KILL_SECONDS, LINGER_SECONDS, STOP
from uwf_core.process.records import End, ProcessLimits, Program
from uwf_core.process.tree import kill_family

STDERR_TAIL_BYTES = 64 * 1024
"""How much of the end of stderr is kept."""
_TICK_MS = 40
_CHUNK = 64 * 1024
_REAPER_SLACK_SECONDS = 5.0


class Pump:
    """Moves bytes and watches limits, from the start of a program until its tree is gone."""

    def __init__(
        self,
        running: RunningProgram,
        program: Program,
        limits: ProcessLimits,
        cancel: Cancel | None,
    ) -> None:
        self.changed = threading.Condition()
        self.stdout = bytearray()
        self.stdout_over = False
        self.over = False
        self.fault: BaseException | None = None
        self.end: End | None = None
        self.status: int = signal.SIGKILL
        """As waitpid(2) gives it; this is what holds if its reaper was killed with it."""
        self.ended_at: float | None = None
        self.left_behind = False
        self.outlived = False
        self.before_stop: int | None = None
        self.heard_at = self.started_at = time.monotonic()
        self.stderr = bytearray()
        self._running = running
        self._limits = limits
        self._cancel = cancel
        self._marker = program.env.get(ATTEMPT_VARIABLE)
        self._news = b""
        self._input = bytearray(program.stdin or b"")
        self._input_over = program.stdin is not None
        self._input_dropped = running.stdin is None
        self._stop_asked = False
        self._give_up_at: float | None = None
        self._poll = select.poll()
        self._open: dict[int, Callable[[], object]] = {}
        self._wake_read, self._wake_write = os.pipe()
        self._listen()

    def start(self) -> None:
        """Begin; the program runs already.

        Raises:
            RuntimeError: the system gives no further thread.
        """
        thread = threading.Thread(target=self._run, name="uwf-pump", daemon=True)
        if self._cancel is not None:
            self._cancel.working.add(self)
        try:
            thread.start()
        except RuntimeError:
            self._end_work()
            os.close(self._wake_read)
            os.close(self._wake_write)
            raise

    # Called by other threads.

    def wait(self) -> None:
        """Wait until the tree is gone; raise an error of the pump here."""
        with self.changed:
            while not self.over:
                self.changed.wait()
        if self.fault is not None:
            raise self.fault

    def next_line(self, start: int, seconds: float | None = None) -> tuple[bytes, int] | None:
        """The line of stdout at `start` and where the next one begins; None after the last.

        Raises:
            TimeoutError: no line was complete within `seconds`.
        """
        scanned = start
        until = None if seconds is None else time.monotonic() + seconds
        with self.changed:
            while (at := self.stdout.find(b"\n", scanned)) < 0:
                if self.stdout_over:
                    tail = bytes(self.stdout[start:])
                    return (tail, start + len(tail)) if tail and self.end is None else None
                scanned = len(self.stdout)
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError
                self.changed.wait(left)
            return bytes(self.stdout[start:at]), at + 1

    def stderr_tail(self) -> bytes:
        """The end of stderr."""
        return bytes(self.stderr[-STDERR_TAIL_BYTES:])

    def duration_ms(self) -> int:
        """From start to end of the program, in ms; until now if it still runs."""
        return int(((self.ended_at or time.monotonic()) - self.started_at) * 1000)

    def touch(self) -> None:
        """Begin the idle limit anew."""
        self.heard_at = time.monotonic()

    def write(self, data: bytes) -> None:
        """Queue bytes for stdin; dropped if the program has closed it.

        Raises:
            ValueError: stdin was closed by us.
        """
        with self.changed:
            if self._input_over:
                raise ValueError("stdin of this program is closed")
            if not self._input_dropped:
                self._input += data
        self._wake()

    def close_stdin(self) -> None:
        """Close stdin once everything queued is written."""
        with self.changed:
            self._input_over = True
        self._wake()

    def ask_to_stop(self) -> None:
        """End the tree."""
        with self.changed:
            self._stop_asked = True
        self._wake()

    def _wake(self) -> None:
        with self.changed:
            if not self.over:
                with contextlib.suppress(BlockingIOError):  # full, so it will wake
                    os.write(self._wake_write, b"!")

    # The pump's own thread.

    def _listen(self) -> None:
        running = self._running
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._take(running.status, self._read_status)
        self._take(running.stdout, self._read_stdout)
        self._take(running.stderr, self._read_stderr)
        self._take(self._wake_read, self._read_wake)
        if running.stdin is not None:
            self._take(running.stdin, self._write_stdin)

    def _take(self, fd: int, handler: Callable[[], object]) -> None:
        self._poll.register(fd, select.POLLIN)
        self._open[fd] = handler

    def _drop(self, fd: int) -> None:
        if self._open.pop(fd, None) is not None:
            self._poll.unregister(fd)
            os.close(fd)

    def _run(self) -> None:
        try:
            self._hear(self._running.news)
            while self._running.status in self._open:
                self._turn()
            self._end_what_is_left()
            self._read_rest()
        except BaseException as error:
            self.fault = error  # raised where somebody waits for the result
        finally:
            self._finish()

    def _turn(self) -> None:
        if self._running.stdin in self._open:
            with self.changed:
                wanted = bool(self._input) or self._input_over
            self._poll.modify(self._running.stdin, select.POLLOUT if wanted else 0)
        for fd, _event in self._poll.poll(_TICK_MS):
            if fd in self._open:
                self._open[fd]()
        self._watch_limits()

    def _read_wake(self) -> None:
        os.read(self._wake_read, 4096)

    def _read_status(self) -> None:
        data = os.read(self._running.status, 4096)
        if data:
            self._hear(data)
        else:
            self._drop(self._running.status)

    def _hear(self, data: bytes) -> None:
        """Read the reaper's report: how the leader ended."""
        *lines, self._news = (self._news + data).split(b"\n")
        for line in lines:
            words = line.split()
            if words[0] == b"exit":
                self.status = int(words[1])
                self.ended_at = time.monotonic()
                self._expect_end()
            elif words[0] == b"outlived":
                self.outlived = True
            elif words[0] == b"left":
                self.left_behind = True

    def _read_stdout(self) -> bool:
        """Read once; whether there may be more."""
        data = self._read(self._running.stdout)
        room = self._limits.output_bytes - len(self.stdout)
        if len(data) > room and self.end is None:
            self._stop(End.TOO_LARGE)
        with self.changed:
            self.stdout += data[: max(room, 0)]
            self.stdout_over = self._running.stdout not in self._open
            self.changed.notify_all()
        return bool(data)

    def _read_stderr(self) -> bool:
        """Read once; whether there may be more."""
        data = self._read(self._running.stderr)
        self.stderr += data
        if len(self.stderr) > 2 * STDERR_TAIL_BYTES:
            del self.stderr[:-STDERR_TAIL_BYTES]
        return bool(data)

    def _read(self, fd: int) -> bytes:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return b""
        if data:
            self.heard_at = time.monotonic()
        else:
            self._drop(fd)
        return data

    def _write_stdin(self) -> None:
        """Write the pending input. Called with nothing to write, all is written and to be closed,
        or the program has closed its end, which is its right.
        """
        fd = self._running.stdin
        assert fd is not None
        with self.changed:
            part = bytes(self._input[:_CHUNK])
        try:
            written = os.write(fd, part) if part else 0
        except BlockingIOError:
            return
        except BrokenPipeError:
            written = 0
        with self.changed:
            del self._input[:written]
            if not written:
                self._input_dropped = True
                self._input.clear()
                self._drop(fd)

    def _watch_limits(self) -> None:
        now = time.monotonic()
        if self._give_up_at is not None:
            if now > self._give_up_at:
                self._drop(self._running.status)
        elif self._is_cancelled():
            self._stop(End.CANCELLED)
        elif _passed(self.started_at, self._limits.total_seconds, now):
            self._stop(End.TIMED_OUT)
        elif _passed(self.heard_at, self._limits.idle_seconds, now):
            self._stop(End.STALLED)

    def _is_cancelled(self) -> bool:
        return self._stop_asked or (self._cancel is not None and self._cancel.is_set())

    def _stop(self, end: End) -> None:
        self.end = end
        self.before_stop = len(self.stdout)
        self._expect_end()
        try:
            os.write(self._running.control, STOP)
        except BrokenPipeError:
            return  # the reaper is dead, which its status pipe reports as well

    def _expect_end(self) -> None:
        """From now on the reaper is busy ending the tree: know when it should have done so."""
        patience = 1.5 * self._limits.grace_seconds + LINGER_SECONDS + KILL_SECONDS
        self._give_up_at = time.monotonic() + patience + _REAPER_SLACK_SECONDS

    def _end_what_is_left(self) -> None:
        """Do the reaper's work if it was killed or does not respond."""
        reaper = self._running.reaper
        if self._wait_for_reaper(1.0) == 0:
            return
        identity = ProcessId.of(reaper.pid) or ProcessId(reaper.pid, "gone")
        kill_family(identity, self._running.leader)
        if self._marker is not None:
            end_leftovers(self._marker, grace_seconds=0)

    def _wait_for_reaper(self, seconds: float) -> int | None:
        import subprocess

        try:
            return self._running.reaper.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def _read_rest(self) -> None:
        """Read only the rest in the pipes: no process is left to close them."""
        for fd, read in (
            (self._running.stdout, self._read_stdout),
            (self._running.stderr, self._read_stderr),
        ):
            for _ in range(32):
                if fd not in self._open or not read():
                    break

    def _end_work(self) -> None:
        if self._cancel is not None:
            self._cancel.working.discard(self)

    def _finish(self) -> None:
        """Close everything, including the lifeline, and publish the result."""
        self._end_work()
        reaper = self._running.reaper
        for fd in set(self._open) - {self._wake_read}:
            self._drop(fd)
        os.close(self._running.control)
        if self._wait_for_reaper(_REAPER_SLACK_SECONDS) is None:
            reaper.kill()
            reaper.wait()
        with self.changed:
            self._drop(self._wake_read)
            os.close(self._wake_write)
            self.ended_at = self.ended_at or time.monotonic()
            self.stdout_over = self.over = True
            self.changed.notify_all()


def _passed(since: float, seconds: float | None, now: float) -> bool:
    return seconds is not None and now - since > seconds
