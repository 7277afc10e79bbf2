"""Parses the verdict of a judge that is a program: `{score, data}` on the last line of stdout."""

import json
import math
from typing import Any, NoReturn

from uwf_core.named_tuple import NamedTuple
from uwf_eval.judges.failed import JudgeAborted

LINE_BYTES = 1024 * 1024
"""The longest valid line."""
_CONTRACT = 'the last line of stdout has to be {"score": 0..1, "data": {…}}'
_SHOWN = 80


class ScriptVerdict(NamedTuple):
    """A score from 0 to 1 (None from a judge that only informs), and the data of the judge."""

    score: float | None
    data: dict[str, Any]


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
