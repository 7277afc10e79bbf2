"""The errors of judges and of their programs."""

import signal

from uwf_core.api import End, ProcessLimits, ProgramResult
from uwf_core.errors import UwfError


class JudgeFailed(UwfError):
    """The judge reports that it cannot judge, or did not run: the trial does not count."""

    code = "judge-failed"


class JudgeAborted(JudgeFailed):
    """The judge ended without a verdict in a way that code of the agent can cause, because the
    judge
    runs such code: the trial counts as 0.
    """

    code = "judge-aborted"


class JudgeNotStarted(JudgeAborted):
    """The shell could not start the command. If it could not before the agent ran either, that is
    an error of the task.
    """


_SAID_LINES = 5
_SAID_CHARACTERS = 800


def check_end(result: ProgramResult, who: str, *, seconds: float, hint: str) -> None:
    """Reject a program that did not exit by itself.

    Args:
        result: of the program. who: its name in messages.
        seconds: its time limit. hint: for a timeout.

    Raises:
        JudgeAborted: it timed out, printed too much, or was killed by a signal.
        JudgeFailed: the run was stopped.
    """
    if result.end is End.TIMED_OUT:
        raise JudgeAborted(f"{who} timed out after {seconds:g} s{said(result)}", hint=hint)
    if result.end is End.CANCELLED:
        raise JudgeFailed(f"{who} was stopped with the run")
    if result.end is End.TOO_LARGE:
        most = ProcessLimits().output_bytes // (1024 * 1024)
        raise JudgeAborted(f"{who} printed more than {most} MB", hint="redirect it to /dev/null")
    if result.end is not End.EXITED:
        raise JudgeAborted(f"{who} was stopped: {result.end.value}{said(result)}")
    if result.exit_code < 0:
        raise JudgeAborted(f"{who} was killed by {_signal_name(-result.exit_code)}{said(result)}")


def check_alone(result: ProgramResult, who: str) -> None:
    """Reject the output of a program if a process that it started has outlived it.

    Raises:
        JudgeAborted: such a process may have written the last line.
    """
    if result.outlived or result.left_behind:
        raise JudgeAborted(
            f"something that {who} started outlived it, and may have written to its output",
            hint="wait for what it starts, and send its output elsewhere: `pytest >&2`",
        )


def said(result: ProgramResult) -> str:
    """The end of a program's stderr as the end of a message; "" if it is empty."""
    lines = result.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    text = "\n".join(lines[-_SAID_LINES:])[-_SAID_CHARACTERS:]
    return f": {text}" if text else ""


def _signal_name(number: int) -> str:
    """The name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
