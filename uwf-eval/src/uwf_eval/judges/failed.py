"""How a judge ends without a score, and how the program of a judge ends."""

import signal

from uwf_core.api import End, ProcessLimits, ProgramResult
from uwf_core.errors import UwfError


class JudgeFailed(UwfError):
    """The judge itself says that it cannot judge, or was not asked: the trial counts as nothing."""

    code = "judge-failed"


class JudgeAborted(JudgeFailed):
    """The judge ended without a verdict in a way that what the agent made can bring about, as it
    ran below the judge: the trial counts as 0.
    """

    code = "judge-aborted"


_SAID_LINES = 5
_SAID_CHARACTERS = 800


def check_end(result: ProgramResult, who: str, *, seconds: float, cure: str) -> None:
    """Refuse a program that did not end by itself.

    Args:
        result: how it ended. who: what messages call it.
        seconds: that it had. cure: what to do where these were too few.

    Raises:
        JudgeAborted: it took too long, printed too much, or died by a signal.
        JudgeFailed: the run was stopped.
    """
    if result.end is End.TIMED_OUT:
        raise JudgeAborted(f"{who} timed out after {seconds:g} s{said(result)}", hint=cure)
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
    """Refuse the output of a program that something which it started has outlived.

    Raises:
        JudgeAborted: whatever it is, it may have written to that output, even last.
    """
    if result.outlived or result.left_behind:
        raise JudgeAborted(
            f"something that {who} started outlived it, and may have written to its output",
            hint="wait for what it starts, and send its output elsewhere: `pytest >&2`",
        )


def said(result: ProgramResult) -> str:
    """The end of what a program wrote to stderr, to put behind a sentence; "" if nothing."""
    lines = result.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    text = "\n".join(lines[-_SAID_LINES:])[-_SAID_CHARACTERS:]
    return f": {text}" if text else ""


def _signal_name(number: int) -> str:
    """A signal as people know it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
