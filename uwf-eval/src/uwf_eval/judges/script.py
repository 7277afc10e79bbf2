"""Judges that are programs, under the contract `<entry> <cwd> <thread-id>`.

The program runs in a copy of the trial's folder; its own files are copies as well. Its score is the
last line of its stdout. It may run code of the agent, which must not forge that line: the line of a
Python file is sealed (launcher.py), and no process may outlive its judge.
"""

import json
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from uwf_core.api import (
    Cancel,
    ProcessLimits,
    Program,
    ProgramResult,
    Unavailable,
    read_regular,
    run_program,
)
from uwf_eval.judges.failed import JudgeAborted, JudgeFailed, check_alone, check_end, said
from uwf_eval.judges.launcher import FAILED, SAID, unsealed

GRACE_SECONDS = 2.0
_KEY_BYTES = 32
LINE_BYTES = 1024 * 1024
"""The longest valid line."""
_CONTRACT = 'the last line of stdout has to be {"score": 0..1, "data": {…}}'
_SHOWN = 80
_LAUNCHER = str(Path(__file__).with_name("launcher.py"))


class ScriptVerdict(NamedTuple):
    """A score from 0 to 1 (None from a judge that only informs), and the data of the judge."""

    score: float | None
    data: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
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
    if os.access(call.entry, os.X_OK) or not call.entry.is_file():
        return words
    return (*interpreter_of(call.entry), *words)


def interpreter_of(entry: Path) -> tuple[str, ...]:
    """The program that runs a judge without the permission to be run: by its first line, else by
    its ending; empty if neither names one.
    """
    head = read_regular(str(entry), _LONGEST_FIRST_LINE, cut=True)
    first = head.partition(b"\n")[0].decode("utf-8", "replace").strip()
    if first.startswith("#!"):
        return tuple(first.removeprefix("#!").split())
    return _INTERPRETERS.get(entry.suffix, ())


_LONGEST_FIRST_LINE = 256
_INTERPRETERS = {**dict.fromkeys((".js", ".mjs", ".cjs"), ("node",)), ".sh": ("sh",)}


def _is_python(entry: Path) -> bool:
    """Whether the launcher runs it and seals its result."""
    return entry.suffix == ".py"


def read_verdict(stdout: bytes) -> ScriptVerdict:
    """Parse the last line that is not blank.

    Raises:
        JudgeAborted: the line is missing or not a verdict.
    """
    line = stdout.rstrip().rpartition(b"\n")[2].strip()
    if not line:
        raise _failed("it printed nothing")
    if len(line) > LINE_BYTES:
        raise _failed(f"its last line has {len(line)} bytes; the limit is {LINE_BYTES}")
    document = _parsed(line)
    if not isinstance(document, dict):
        raise _failed(f"its last line is {_shown(line)}, not a mapping")
    unknown = sorted(set(document) - {"score", "data"})
    if unknown:
        raise _failed(f"its last line has an unknown key {unknown[0]!r}")
    if "score" not in document:
        raise _failed("its last line has no score")
    data = document.get("data", {})
    if not isinstance(data, dict):
        raise _failed("its data is not a mapping")
    return ScriptVerdict(checked_score(document["score"]), data)


def checked_score(score: Any) -> float:
    """Validate a score from 0 to 1.

    Raises:
        JudgeAborted: the score is not valid.
    """
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise _failed(f"its score is {_shown(repr(score).encode())}, not a number")
    if not (math.isfinite(score) and 0 <= score <= 1):
        raise _failed(f"its score is {score!r}, not within 0 and 1")
    return float(score)


def _parsed(line: bytes) -> Any:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise _failed(f"its last line is not UTF-8: {_shown(line)}") from fault
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as fault:
        raise _failed(f"its last line is not JSON: {_shown(line)}") from fault


def _no_constant(word: str) -> NoReturn:
    raise JudgeAborted(f"its last line holds {word}, which is not a number", hint=_CONTRACT)


def _failed(message: str) -> JudgeAborted:
    return JudgeAborted(message, hint=_CONTRACT)


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace")
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
