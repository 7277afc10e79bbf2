"""Limit patterns by their text, before an engine compiles them.

Values are matched in linear time, but compiling is not linear: a pattern of 4 KB can hold the
process for a minute, and no signal gets through. So each pattern gets a cost first: what the
engine would have to build, with all counted repetitions written out.
"""

import re

MAX_LENGTH = 5_000
"""The most characters of a pattern."""

MAX_CLASSES = 100
"""The most character classes of a pattern (`\\d`, `[a-z]`, `.`): compiling is quadratic in some."""

MAX_COST = 25_000
"""The highest cost of one pattern: a character costs 1, a class 5, a `\\p{…}` 200, and a counted
repetition multiplies: `\\d{1,100}` costs 500.
"""

MAX_COST_TOGETHER = 60_000
"""The highest cost of all patterns that are checked together: half a second of compiling."""

_CLASS, _PROPERTY = 5, 200
_ESCAPED, _FOLDED = 30, 300
"""What a class costs once, however often it is repeated: `\\d`, and any where case is ignored."""

_TOKEN = (
    r"(?s)(?P<property>\\[pP](?:\{[^}]*\}|.))"
    r"|(?P<escaped>\\[dDsSwWc])"
    r"|(?P<literal>\\[xuU]\{[^}]*\}|\\.)"
    r"|(?P<set>\[(?:\\.|[^\\\]])*\]?)"
    r"|(?P<flags>\(\?[A-Za-z-]+\))"
    r"|(?P<open>\((?:\?[A-Za-z-]*:)?)"
    r"|(?P<close>\))"
    r"|\{(?P<least>\d*)(?P<more>,(?P<most>\d*))?\}"
    r"|(?P<any>\.)"
    r"|(?P<other>.)"
)
"""Compiled where a schema has a pattern."""


class PatternRejected(Exception):
    """A rejected pattern, with the reason as text and a hint."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def pattern_cost(pattern: str) -> int:
    """The maximum cost of compiling `pattern`; does not check its syntax.

    Raises:
        PatternRejected: it exceeds a limit, or has a form of unknown cost.
    """
    if len(pattern) > MAX_LENGTH:
        raise PatternRejected(f"is longer than {MAX_LENGTH:,} characters", "split it with `allOf`")
    scan = _Scan()
    for token in re.finditer(_TOKEN, pattern):
        scan.take(token)
        if scan.once + scan.open[0] > MAX_COST:
            break
    cost = scan.once + sum(scan.open)
    if cost > MAX_COST:
        raise PatternRejected(
            f"costs more than {MAX_COST:,} to compile, with its repetitions expanded",
            "use smaller counts, or `maxLength` and `*`",
        )
    return cost


class _Scan:
    """Adds up costs: `open` has that of each open group, `last` that of what `{…}` repeats."""

    def __init__(self) -> None:
        self.open = [0]
        self.last = 0
        self.once = 0
        self.classes = 0
        self.ignores_case = False

    def take(self, token: re.Match[str]) -> None:
        kind = token.lastgroup
        if kind in ("flags", "open"):
            self._flags(token[0])
            if kind == "open":
                self.open.append(1)
            self.last = 0
        elif kind == "close":
            # One too many closes all there is, which is never less than what the engine sees.
            self.last = self.open.pop()
            self.open = self.open or [0]
            self.open[-1] += self.last
        elif kind in ("least", "more", "most"):
            more = self.last * (_times(token) - 1)
            self.open[-1] += more
            self.last += more
        else:
            self.last = self._atom(kind, token[0])
            self.open[-1] += self.last

    def _flags(self, text: str) -> None:
        flags = text.strip("(?:)")
        if "x" in flags:
            raise PatternRejected(
                "has the flag `x`, which is not available", "write it without comments"
            )
        self.ignores_case |= "i" in flags

    def _atom(self, kind: str | None, text: str) -> int:
        if kind in ("literal", "other"):
            return 1
        if kind == "set" and re.search(r"(?<!\\)(?:\\\\)*\[", text[1:]):
            raise PatternRejected("has a `[` within a class", r"write it as `\[`")
        properties = len(re.findall(r"\\[pP]", text))
        escaped = len(re.findall(r"\\[dDsSwWc]", text))
        self.classes += max(properties + escaped, 1)
        self.once += _ESCAPED * escaped + _FOLDED * self.ignores_case
        if self.classes > MAX_CLASSES:
            raise PatternRejected(
                f"has more than {MAX_CLASSES} character classes", "use fewer, or `allOf`"
            )
        extent = len(text) if kind == "set" else 0
        return _CLASS + extent + _PROPERTY * properties


def _times(token: re.Match[str]) -> int:
    """How often a counted repetition is written out, at the most; `{}` is not a repetition."""
    counts = [count for count in (token["least"], token["most"]) if count]
    if any(len(count) > 6 for count in counts):
        return MAX_COST + 1
    return max([1, *map(int, counts)]) + (token["more"] is not None and not token["most"])
