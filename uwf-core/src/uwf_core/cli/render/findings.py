"""Errors of a definition and results of checks, one per line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.errors import place_of
from uwf_core.escape import one_line


def problem_lines(problems: Sequence[Mapping[str, Any]], screen: Screen) -> Iterator[str]:
    """`file:line:column code message` of each error, with the hint below; without what it lacks."""
    for each in problems:
        severity = str(each.get("severity") or "error")
        code = each.get("code")
        words = [place_of(each), screen.paint(code, severity) if code else "", each["message"]]
        mark = " (warning)" if severity == "warning" else ""
        yield " ".join(filter(None, words)) + mark
        if each.get("hint"):
            yield f"  hint: {each['hint']}"


_MARKS = {"ok": "✓", "warning": "!", "error": "✗"}


def check_lines(checks: Iterable[Mapping[str, Any]], screen: Screen) -> Iterator[str]:
    """A mark, the name and the message, with the hint below."""
    for each in checks:
        mark = screen.paint(_MARKS.get(each["state"], "?"), each["state"])
        yield f"{mark} {one_line(each['name'])}: {one_line(each['message'])}"
        if each["hint"] and each["state"] != "ok":
            yield f"  hint: {one_line(each['hint'])}"


def checks_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`doctor`."""
    return "\n".join(check_lines(document["checks"], screen))


def check_text(document: Mapping[str, Any], screen: Screen, further: Sequence[str]) -> str:
    """The document of `uwf workflow check`, with further lines before its last one."""
    problems = document["problems"]
    errors = sum(each["severity"] == "error" for each in problems)
    warnings = len(problems) - errors
    if errors:
        end = screen.paint(f"invalid: {_count(errors, 'error')}", "error")
    elif not document["valid"]:
        end = "the others are valid"
    else:
        end = screen.paint("valid", "ok")
    if warnings:
        end += f", {_count(warnings, 'warning')}"
    return "\n".join([*problem_lines(problems, screen), *further, end])


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
