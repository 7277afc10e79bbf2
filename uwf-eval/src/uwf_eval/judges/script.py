"""Judges that are programs, under the contract `<entry> <cwd> <thread-id>`.

The program runs in a copy of the trial's folder; its own files are copies beside it. Its score is
the last line of its stdout, and only its own: what it leaves behind must not share that output.
"""

import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from uwf_core.api import (
    Cancel,
    End,
    ProcessLimits,
    Program,
    ProgramResult,
    Unavailable,
    run_program,
)
from uwf_core.api.record import record
from uwf_eval.judges.failed import JudgeFailed
from uwf_eval.judges.verdict import Verdict, read_verdict

GRACE_SECONDS = 2.0
_LAUNCHER = str(Path(__file__).with_name("launcher.py"))
_SAID_LINES = 5
_SAID_CHARACTERS = 800


@record
class ScriptCall:
    """One call of a judge.

    Attributes:
        entry: the judge's file. cwd: its copy of the trial's folder. thread: the trial's.
        env: its whole environment. seconds: how long it may take.
    """

    entry: Path
    cwd: Path
    thread: str
    env: Mapping[str, str]
    seconds: float
    cancel: Cancel


def run_script(call: ScriptCall) -> Verdict:
    """What the program says.

    Raises:
        JudgeFailed: it does not run, crashes, takes too long, shares its output with what it
            started, or says something that is no verdict.
    """
    program = Program(argv=_argv(call), cwd=str(call.cwd), env=call.env)
    limits = ProcessLimits(total_seconds=call.seconds, grace_seconds=GRACE_SECONDS)
    try:
        result = run_program(program, limits, cancel=call.cancel)
    except Unavailable as fault:
        hint = "does its first line (#!) name a program that is there?"
        raise JudgeFailed(f"it cannot be run: {fault.message}", hint=hint) from fault
    _check_end(result, call.seconds)
    if result.outlived and not _is_python(call.entry):
        raise JudgeFailed(
            "something that it started outlived it, and may have written a score to its stdout",
            hint="wait for what it starts, and send its output elsewhere: `pytest >&2`",
        )
    return read_verdict(result.stdout)


def _argv(call: ScriptCall) -> tuple[str, ...]:
    words = (str(call.entry), str(call.cwd), call.thread)
    if _is_python(call.entry):
        return (sys.executable, "-I", "-B", _LAUNCHER, *words)
    return words


def _is_python(entry: Path) -> bool:
    """Whether the launcher runs it, which keeps its output from all that it starts."""
    return entry.suffix == ".py"


def _check_end(result: ProgramResult, seconds: float) -> None:
    if result.end is End.TIMED_OUT:
        raise JudgeFailed(
            f"it was not done after {seconds:g} s{said(result)}", hint="give it a longer `timeout`"
        )
    if result.end is End.CANCELLED:
        raise JudgeFailed("it was stopped, as the run was")
    if result.end is End.TOO_LARGE:
        most = ProcessLimits().output_bytes // (1024 * 1024)
        raise JudgeFailed(f"it printed more than {most} MB", hint="send noise to /dev/null")
    if result.end is not End.EXITED:
        raise JudgeFailed(f"it was ended: {result.end.value}{said(result)}")
    if result.exit_code < 0:
        raise JudgeFailed(f"it died by {signal_name(-result.exit_code)}{said(result)}")
    if result.exit_code:
        raise JudgeFailed(f"it ended with exit code {result.exit_code}{said(result)}")


def signal_name(number: int) -> str:
    """A signal as people know it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def said(result: ProgramResult) -> str:
    """The end of what a program wrote to stderr, to put behind a sentence; "" if nothing."""
    lines = result.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    text = "\n".join(lines[-_SAID_LINES:])[-_SAID_CHARACTERS:]
    return f": {text}" if text else ""
