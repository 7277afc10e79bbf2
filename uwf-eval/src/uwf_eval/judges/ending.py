"""How a program that judges, or is judged by, came to its end."""

import signal

from uwf_core.api import End, ProcessLimits, ProgramResult
from uwf_eval.judges.failed import JudgeFailed

_SAID_LINES = 5
_SAID_CHARACTERS = 800


def check_end(result: ProgramResult, who: str, *, seconds: float, cure: str) -> None:
    """Refuse a program that did not end by itself.

    Args:
        result: how it ended. who: what messages call it.
        seconds: that it had. cure: what to do where these were too few.

    Raises:
        JudgeFailed: it took too long, was stopped, printed too much, or died by a signal.
    """
    if result.end is End.TIMED_OUT:
        raise JudgeFailed(f"{who} was not done after {seconds:g} s{said(result)}", hint=cure)
    if result.end is End.CANCELLED:
        raise JudgeFailed(f"{who} was stopped, as the run was")
    if result.end is End.TOO_LARGE:
        most = ProcessLimits().output_bytes // (1024 * 1024)
        raise JudgeFailed(f"{who} printed more than {most} MB", hint="send it to /dev/null")
    if result.end is not End.EXITED:
        raise JudgeFailed(f"{who} was ended: {result.end.value}{said(result)}")
    if result.exit_code < 0:
        raise JudgeFailed(f"{who} died by {_signal_name(-result.exit_code)}{said(result)}")


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
