"""Records of a program, its limits and its end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run.

    Attributes:
        argv: the program and its arguments; a bare name is looked up on the PATH of `env`, a
            path with a separator starts at `cwd`.
        cwd: its working folder.
        env: its whole environment; nothing is added.
        stdin: bytes to feed before closing (none: it reads /dev/null); None keeps stdin open.
        first_signal: sent to the program's process group before TERM when the tree is stopped.
        one_stream: its stderr goes to its stdout, in the order in which it writes.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] = field(repr=False)
    stdin: bytes | None = field(default=b"", repr=False)
    first_signal: int | None = None
    one_stream: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """The limits of a program.

    Attributes:
        total_seconds: how long it may run; None for ever.
        idle_seconds: how long it may go without a byte on stdout or stderr, or a `touch`.
        grace_seconds: from TERM to KILL; half of it from a first signal to TERM.
        output_bytes: how much stdout is taken.
    """

    total_seconds: float | None = 3600.0
    idle_seconds: float | None = None
    grace_seconds: float = 5.0
    output_bytes: int = 16 * 1024 * 1024


class End(Enum):
    """Why a program ended."""

    EXITED = "exited"
    """By itself, or by a signal that was not ours."""
    TIMED_OUT = "timed-out"
    """Ended by us: the total limit."""
    STALLED = "stalled"
    """Ended by us: idle for longer than the limit."""
    TOO_LARGE = "too-large"
    """Ended by us: more on stdout than the limit."""
    CANCELLED = "cancelled"
    """Ended by us: the cancel token was set, or `ChildProgram.stop` called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramResult:
    """How a program ended; its tree is gone.

    Attributes:
        exit_code: the program's own; the signal, negative, that ended it (as in subprocess).
        end: why it ended; the exit code is exact even if we ended it.
        stdout: all of it, up to the cap.
        stderr: its last 64 KB.
        duration_ms: from the program's start to its end.
        left_behind: a process of its tree could not be ended (another user's, or stuck in the
            kernel).
        outlived: a process that the program started had not ended before it; it may have written
            to the same output, even last. (On macOS: of its process group only.)
        before_stop: how much of stdout came before we asked it to end; None if it ended by itself.
    """

    exit_code: int
    end: End
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)
    duration_ms: int
    left_behind: bool = False
    outlived: bool = False
    before_stop: int | None = None
