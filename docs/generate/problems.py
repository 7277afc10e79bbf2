"""The page of what `uwf workflow check` finds: every code, read from the source of the checks."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import uwf_core
from generate.tables import table

CORE = Path(uwf_core.__file__).parent
ROOM, RULES = CORE / "workflow", CORE / "shape" / "rules.py"
SEVERITIES = {"error_at": "error", "warning_at": "warning"}

INTRODUCTION = """\
# What check finds

`uwf workflow check FILE` reports every error of a file together, each as
`file:line:column code message` with a hint, or as `problems[]` with `--format json`. Codes are
stable. Warnings alone leave a workflow valid (exit 0); an error makes it invalid (exit 4).

`…` represents a name: a role, a status, a key.
"""


class Finding(NamedTuple):
    """One place in the source that reports a problem."""

    code: str
    severity: str
    message: str
    hint: str


def markdown() -> str:
    """The whole page."""
    findings = sorted(set(all_findings()))
    assert findings, "no problem codes found: have error_at and warning_at been renamed?"
    rows = [
        (f"`{finding.code}`", finding.severity, finding.message, finding.hint)
        for finding in findings
    ]
    return INTRODUCTION + "\n" + table(["code", "severity", "message", "hint"], rows)


def all_findings() -> Iterator[Finding]:
    """Every call of `error_at` and `warning_at`, and every rule of a shape."""
    for path in sorted(ROOM.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in SEVERITIES:
                finding = _finding(node)
                if finding is not None:
                    yield finding
    for node in ast.walk(ast.parse(RULES.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and _name(node.func) == "Rule":
            message, _, _, _, code, hint = [*map(_text, node.args), *([""] * 6)][:6]
            yield Finding(code or "bad-value", "error", f"… {message}", hint)


def _finding(call: ast.Call) -> Finding | None:
    given = dict(zip(["place", "code", "message", "hint"], call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    code = given.get("code")
    if not isinstance(code, ast.Constant):
        return None  # passes on what its caller named
    message, hint = given.get("message"), given.get("hint")
    severity = SEVERITIES[_name(call.func)]
    return Finding(str(code.value), severity, _text(message), _text(hint))


def _name(function: ast.expr) -> str:
    return ast.unparse(function).rsplit(".", 1)[-1]


def _text(expression: ast.expr | None) -> str:
    """A text from the source, with `…` for each value that it fills in."""
    match expression:
        case None:
            return ""
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left) + _text(right)
        case _:
            return "…"
