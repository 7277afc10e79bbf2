"""External programs: `run_program` for those that take a prompt and answer, `start_program` for
interactive ones.

Each runs under a separate reaper (reaper.py), in a separate session without a terminal, with
nothing open but 0, 1 and 2. However it ends, and however we end, its whole tree ends with it:

    program exits by itself     what it left behind gets half a second, then TERM, grace, KILL
    limit, cancel, stop()       first signal to its group, half the grace; TERM, grace; KILL
    uwf dies, even by kill -9   the same, with short waits: everything is gone within 3 seconds
    the reaper is killed        we KILL what is below it, in its session, or bears its marker

Weaker on macOS, which has no subreaper: the tree there is the program's process group, and
a process that left it is found only by the environment marker (leftovers.py), when the next
command looks for it.
"""

import os
from collections.abc import Callable, Iterator
from typing import Self

from uwf_core.errors import InternalFailure
from uwf_core.process.cancel import Cancel
from uwf_core.process.identity import ProcessId
from uwf_core.process.launch import abandon, launch
from uwf_core.process.pump import Pump
from uwf_core.process.records import End, ProcessLimits, Program, ProgramResult

__all__ = [
    "ChildProgram", "End", "ProcessLimits", "Program", "ProgramResult", "run_program",
    "start_program",
]  # fmt: skip


class ChildProgram:
    """A running program. Every method may be called from any thread. As a context manager it is
    stopped on leaving.
    """

    def __init__(self, identity: ProcessId, pump: Pump) -> None:
        self.identity = identity
        """The program's own process (its reaper is above it)."""
        self._pump = pump

    def write(self, data: bytes) -> None:
        """Queue bytes for stdin; never blocks. Dropped if the program has closed its stdin.

        Raises:
            ValueError: stdin was closed by us, or fed from the start.
        """
        self._pump.write(data)

    def close_stdin(self) -> None:
        """Close stdin once everything queued is written."""
        self._pump.close_stdin()

    def touch(self) -> None:
        """Report a sign of life of the program: restart the idle limit."""
        self._pump.touch()

    def lines(self) -> Iterator[bytes]:
        """The lines of stdout as they come, without their line ends, until stdout is closed.

        What follows the last line end is given too if the program ended by itself: it is cut off
        where we ended it. Each iterator begins at the first line.
        """
        return (line for line in self.lines_or_silence(None) if line is not None)

    def lines_or_silence(self, seconds: float | None) -> Iterator[bytes | None]:
        """As `lines`, with None each time that no line was complete for `seconds`."""
        start = 0
        while True:
            try:
                found = self._pump.next_line(start, seconds)
            except TimeoutError:
                yield None
                continue
            if found is None:
                return
            line, start = found
            yield line

    def run(self, on_line: Callable[[bytes], None] | None = None) -> ProgramResult:
        """Wait for the end, giving each line of stdout to `on_line` in the calling thread.

        An error of `on_line`, or an interrupt of this thread, ends the tree before it propagates.
        """
        try:
            if on_line is not None:
                for line in self.lines():
                    on_line(line)
            return self.wait()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the tree and wait until it is gone. Nothing happens if it is gone already."""
        self._pump.ask_to_stop()
        self._pump.wait()

    def wait(self) -> ProgramResult:
        """Wait until the program and its whole tree have ended."""
        pump = self._pump
        pump.wait()
        return ProgramResult(
            exit_code=os.waitstatus_to_exitcode(pump.status),
            end=pump.end or End.EXITED,
            stdout=bytes(pump.stdout),
            stderr=pump.stderr_tail(),
            duration_ms=pump.duration_ms(),
            left_behind=pump.left_behind,
            outlived=pump.outlived,
            before_stop=pump.before_stop,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()


def start_program(
    program: Program,
    limits: ProcessLimits,
    *,
    cancel: Cancel | None = None,
    on_start: Callable[[ProcessId], None] | None = None,
) -> ChildProgram:
    """Start a program under a reaper and watch it from a thread of this process.

    Args:
        program: what to run.
        limits: its limits.
        cancel: ends the tree within some 50 ms once set.
        on_start: gets the program's process as soon as it runs.

    Raises:
        Unavailable: the program or folder does not exist, or it cannot be executed.
        BadRequest: a text in argv, cwd or env that no program can be given (NUL, lone surrogate).
        AgentInterrupted: cancelled before it started.
        InternalFailure: the reaper or the thread that watches could not be started.
    """
    running = launch(program, limits.grace_seconds, cancel)
    try:
        pump = Pump(running, program, limits, cancel)
        pump.start()
    except (OSError, RuntimeError) as error:  # no further file or thread
        abandon(running)
        raise InternalFailure(
            f"cannot watch {program.argv[0]}: {error}",
            hint="check the system's limits of threads and open files",
        ) from error
    child = ChildProgram(running.leader, pump)
    if on_start is not None:
        try:
            on_start(child.identity)
        except BaseException:
            child.stop()
            raise
    return child


def run_program(
    program: Program,
    limits: ProcessLimits,
    *,
    cancel: Cancel | None = None,
    on_start: Callable[[ProcessId], None] | None = None,
    on_line: Callable[[bytes], None] | None = None,
) -> ProgramResult:
    """As `start_program`, then `ChildProgram.run`."""
    return start_program(program, limits, cancel=cancel, on_start=on_start).run(on_line)
