"""Judges that are programs, under the contract `<entry> <cwd> <thread-id>`.

The program runs in a copy of the trial's folder; its own files are copies beside it. Its score is
the last line of its stdout, and only its own: what it leaves behind must not share that output.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from uwf_core.api import Cancel, ProcessLimits, Program, Unavailable, run_program
from uwf_core.api.record import record
from uwf_eval.judges.ending import check_end, said
from uwf_eval.judges.failed import JudgeFailed
from uwf_eval.judges.verdict import Verdict, read_verdict

GRACE_SECONDS = 2.0
_LAUNCHER = str(Path(__file__).with_name("launcher.py"))


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
    check_end(result, "it", seconds=call.seconds, cure="give it a longer `timeout`")
    if result.exit_code:
        raise JudgeFailed(f"it ended with exit code {result.exit_code}{said(result)}")
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
