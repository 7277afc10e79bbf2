"""The patterns of .gitignore as regular expressions. Pure.

Source: https://git-scm.com/docs/gitignore.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple


class _Rule(NamedTuple):
    expression: re.Pattern[str]
    negated: bool
    folders_only: bool


class Rules:
    """The rules of one file (or of an option), for paths relative to where they stand."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._rules = [rule for line in lines if (rule := _rule(line)) is not None][::-1]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """True: ignored; False: taken in again by `!`; None: no rule speaks of it."""
        for rule in self._rules:
            if (folder or not rule.folders_only) and rule.expression.match(path):
                return not rule.negated
        return None

    def ignores(self, path: str) -> bool:
        """Whether a rule names this path, as a file or as a folder."""
        return self.verdict(path, folder=True) is True


@lru_cache(maxsize=1024)
def glob_expression(pattern: str) -> re.Pattern[str]:
    """A glob as a regular expression for whole paths: `*` and `?` stay within a component, `**` is
    any number of them, `[…]` one character of a set, `{a,b}` one of several.
    """
    return re.compile(_alternatives(pattern) + r"\Z", re.DOTALL)


def _rule(line: str) -> _Rule | None:
    line = re.sub(r"(?<!\\) +$", "", line.rstrip("\r\n"))
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    if negated or line.startswith(("\\!", "\\#")):
        line = line[1:]
    folders_only = line.endswith("/")
    line = line.rstrip("/")
    anchored = "/" in line
    line = line.lstrip("/")
    if not line:
        return None
    text = _translated(line) if anchored else r"(?:.*/)?" + _translated(line)
    try:
        return _Rule(re.compile(text + r"\Z", re.DOTALL), negated, folders_only)
    except re.error:
        return None  # git passes over a pattern that it cannot read, too


def _alternatives(pattern: str) -> str:
    """The braces of a glob (one level), and all between them."""
    pieces = re.split(r"(\{[^{}]*,[^{}]*\})", pattern)
    texts = []
    for piece in pieces:
        if piece.startswith("{") and piece.endswith("}") and "," in piece:
            texts.append("(?:" + "|".join(map(_translated, piece[1:-1].split(","))) + ")")
        else:
            texts.append(_translated(piece))
    return "".join(texts)


def _translated(pattern: str) -> str:
    text, at = [], 0
    while at < len(pattern):
        piece, at = _next(pattern, at)
        text.append(piece)
    return "".join(text)


def _next(pattern: str, at: int) -> tuple[str, int]:
    letter = pattern[at]
    if pattern.startswith("**/", at):
        return r"(?:[^/]+/)*", at + 3
    if pattern.startswith("**", at):
        return r".*", at + 2
    if letter == "*":
        return r"[^/]*", at + 1
    if letter == "?":
        return r"[^/]", at + 1
    if letter == "[" and (end := _set_end(pattern, at)):
        inside = pattern[at + 1 : end]
        inside = re.sub(r"^[!^]", "^", inside).replace("\\", "\\\\").replace("[", "\\[")
        return f"(?!/)[{inside}]", end + 1
    if letter == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2
    return re.escape(letter), at + 1


def _set_end(pattern: str, at: int) -> int:
    """Where the set that begins here ends, 0 if it does not."""
    first = at + 2 if pattern[at + 1 : at + 2] in ("!", "^") else at + 1
    return max(0, pattern.find("]", first + 1))
