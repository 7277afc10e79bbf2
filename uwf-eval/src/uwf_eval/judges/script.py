"""Judges that are programs, under the contract `<entry> <cwd> <thread-id>`.

The program runs in a copy of the trial's folder; its own files are copies as well. Its score is the
last line of its stdout. It may run code of the agent, which must not forge that line: the line of a
Python file is sealed (launcher.py), and no process may outlive its judge.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from uwf_core.api import (
    Cancel,
    ProcessLimits,
    Program,
    ProgramResult,
    Unavailable,
    run_program,
)
from uwf_core.api.record import record
from uwf_eval.judges.failed import JudgeAborted, JudgeFailed, check_alone, check_end, said
from uwf_eval.judges.launcher import FAILED, SAID, unsealed
from uwf_eval.judges.verdict import ScriptVerdict, read_verdict

GRACE_SECONDS = 2.0
_KEY_BYTES = 32
_LAUNCHER = str(Path(__file__).with_name("launcher.py"))


@record
class ScriptCall:
    """One call of a judge.

    Attributes:
        entry: the judge's file. cwd: its copy of the trial's folder. thread: the trial's.
        env: its complete environment. seconds: the time limit.
    """

    entry: Path
    cwd: Path
    thread: str
    env: Mapping[str, str]
    seconds: float
    cancel: Cancel


def run_script(call: ScriptCall) -> ScriptVerdict:
    """Run the program and read its verdict.

    Raises:
        JudgeFailed: it cannot be started, or its exit code reports that it cannot judge.
        JudgeAborted: it was killed, timed out, left a process running, or gave no verdict.
    """
    key = os.urandom(_KEY_BYTES) if _is_python(call.entry) else b""
    program = Program(argv=_argv(call), cwd=str(call.cwd), env=call.env, stdin=key)
    limits = ProcessLimits(total_seconds=call.seconds, grace_seconds=GRACE_SECONDS)
    try:
        result = run_program(program, limits, cancel=call.cancel)
    except Unavailable as fault:
        hint = "check that its first line (#!) names an installed program"
        raise JudgeFailed(f"cannot run it: {fault.message}", hint=hint) from fault
    check_end(result, "it", seconds=call.seconds, hint="increase `timeout`")
    check_alone(result, "it")
    word = unsealed(key, result.stdout) if key else _plain(result)
    if word is None:
        raise JudgeAborted(
            f"it ended with exit code {result.exit_code}, and without its last word{said(result)}",
            hint="end a judge by its last line, an exception or sys.exit, not by os._exit",
        )
    if word == FAILED:
        raise JudgeFailed(f"it ended with exit code {result.exit_code}{said(result)}")
    return read_verdict(word.removeprefix(SAID))


def _plain(result: ProgramResult) -> bytes:
    """The result of a program without a seal."""
    return FAILED if result.exit_code else SAID + result.stdout


def _argv(call: ScriptCall) -> tuple[str, ...]:
    words = (str(call.entry), str(call.cwd), call.thread)
    if _is_python(call.entry):
        return (sys.executable, "-I", "-B", _LAUNCHER, *words)
    return words


def _is_python(entry: Path) -> bool:
    """Whether the launcher runs it and seals its result."""
    return entry.suffix == ".py"
