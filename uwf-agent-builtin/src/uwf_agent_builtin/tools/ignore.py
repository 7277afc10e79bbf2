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
    line = _trimmed(line.rstrip("\r\n"))
    if line.startswith("#"):
        return None
    negated = line.startswith("!")
    line = line.removeprefix("!")
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    anchored = "/" in line
    line = line.removeprefix("/")
    if not line:
        return None
    text = _anchored(line) if anchored else r"(?:.*/)?" + _translated(line)
    return _Rule(re.compile(text + r"\Z", re.DOTALL), negated, folders_only)


def _anchored(line: str) -> str:
    """git compares the text before the first wildcard, and matches the rest as a separate pattern:
    the stars of `a**/b` are folders.
    """
    plain = re.split(r"[*?\[\\]", line, maxsplit=1)[0]
    return re.escape(plain) + _translated(line[len(plain) :])


def _trimmed(line: str) -> str:
    """Without the blanks at its end; one behind a backslash belongs to the pattern."""
    text = line.rstrip(" ")
    backslashes = len(text) - len(text.rstrip("\\"))
    return text + " " if text != line and backslashes % 2 else text


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
    """For a star that another of its kind follows, the first place that fits is right. It is never
    tried again, so a pattern of many stars takes no longer than one of few.
    """
    text, star, fixed = "", "", ""
    for match in _PIECE.finditer(pattern):
        if match.lastgroup not in ("any", "folders"):
            fixed += _piece(match)
            continue
        again = star == match.lastgroup
        text += f"(?>{_STARS[star]}?{fixed})" if again else _STARS[star] + fixed
        star, fixed = match.lastgroup, ""
    return text + _STARS[star] + fixed


_STARS = {"": "", "any": "[^/]*", "folders": r"(?:[^/]*/)*"}


_PIECE = re.compile(
    r"(?P<folders>(?:(?<=/)|^)\*\*+/)|(?P<all>(?:(?<=/)|^)\*\*+$)|(?P<any>\*+)|(?P<one>\?)"
    r"|\[(?P<not>[!^]?+)(?P<set>\]?+(?:\[:[a-z]*:\]|\\.|[^]\\])*+)\]"
    r"|\\(?P<escaped>.)|(?P<never>[\[\\])|(?P<literal>.)",
    re.DOTALL,
)
"""One piece of a pattern; a set that is not closed and a last backslash match nothing."""


def _piece(match: re.Match[str]) -> str:
    if match["set"] is not None:
        return _set(match["set"], negated=bool(match["not"]))
    fixed = {"all": ".*", "one": "[^/]", "never": "(?!)"}
    return fixed.get(match.lastgroup or "") or re.escape(match["escaped"] or match["literal"])


_MEMBER = re.compile(r"\[:([a-z]*):\]|\\?(.)(?:-\\?(.))?", re.DOTALL)
_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \\t", "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~",
    "space": r" \t-\r", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip


def _set(members: str, *, negated: bool) -> str:
    """`[…]`: characters, ranges (of a backward one only its beginning) and POSIX classes."""
    inside = ""
    for name, first, last in _MEMBER.findall(members):
        if not first and name not in _CLASSES:
            return "(?!)"
        inside += re.escape(first) or _CLASSES[name]
        if first < last:
            inside += f"-{re.escape(last)}"
    return f"[^/{inside}]" if negated else f"(?!/)[{inside}]"
