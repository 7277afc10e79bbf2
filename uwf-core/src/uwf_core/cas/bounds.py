"""The limits of schemas: the work to check and compile one, or all of one file.

A budget of work, not of time: every machine accepts or rejects the same schema.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from uwf_core.cas.codec import Keys, encode

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


MAX_VALUES = 10_000
"""The most values (mappings, lists, texts, numbers) that schemas checked together may hold."""

MAX_PROBLEMS = 200
"""The maximum number of problems reported for one schema."""

MAX_LISTED = 50
"""The maximum number of errors reported for one value."""

MAX_MATCHED = 200_000_000
"""The most characters of a value, times the cost of all patterns of its schema: half a second."""

MAX_COMPARED = 500_000_000
"""The most values of a value, times those of its schema: two seconds where each alternative of a
list is tried on each item."""

MAX_EXPLAINED = 200_000
"""The most values of a value, times those of its schema, of which every error is found: a second.
Above it, only the first one is."""


class Excess(NamedTuple):
    """The place where a schema exceeds its budget, the reason, and a hint."""

    keys: Keys
    message: str
    hint: str


class Work(NamedTuple):
    """What checking by a schema takes: the values of the schema, the cost of its patterns."""

    values: int
    cost: int

    @property
    def is_cheap(self) -> bool:
        """Whether any value is checked quickly enough."""
        return self.values <= _CHEAP.values and self.cost <= _CHEAP.cost

    def excess(self, value: Any, size: int | None = None) -> str | None:
        """Why a value that `decode` gave is not checked, None if it can be. `size` is that of its
        bytes where they are at hand.
        """
        if self.is_cheap:
            return None
        if size is None:
            size = len(encode(value))
        if size * self.cost > MAX_MATCHED:
            what = f"{size:,} bytes"
        elif size * self.values > MAX_COMPARED < self.values * values_in(value, MAX_COMPARED):
            what = "its values"
        else:
            return None
        return f"{what} are too many to be checked against this schema"

    def explains(self, value: Any) -> bool:
        """Whether every error of the value is found."""
        return self.values * values_in(value, MAX_EXPLAINED) <= MAX_EXPLAINED


_CHEAP = Work(values=200, cost=50)


class Budget:
    """What is left for schemas that are checked together.

    Args:
        files: of how many files like that of a workflow they may come.

    Attributes:
        is_spent: whether there were too many values, reported once; then the check stops.
    """

    __slots__ = ("_cost", "_max_cost", "_max_values", "_values", "is_spent")

    def __init__(self, files: int = 1) -> None:
        self._max_values = self._values = files * MAX_VALUES
        self._max_cost = self._cost = files * MAX_COST_TOGETHER
        self.is_spent = False

    @property
    def taken(self) -> "Work":
        """What the schemas so far ask for."""
        return Work(self._max_values - self._values, self._max_cost - self._cost)

    def excesses(self, schema: Any) -> Iterator[Excess]:
        """Charge the budget for `schema`; everything in it counts, also plain data."""
        if not self.is_spent and self._takes(schema):
            return
        waiting: list[tuple[Keys, Any]] = [] if self.is_spent else [((), schema)]
        while waiting:
            keys, value = waiting.pop()
            inner = _inner(value)
            self._values -= 1
            if self._values < len(inner):
                self.is_spent = True
                yield _too_large(keys, self._max_values)
                return
            for pattern, place in _patterns(value):
                yield from self._pattern(pattern, keys + place)
            waiting += (((*keys, key), each) for key, each in reversed(inner))

    def _takes(self, schema: Any) -> bool:
        """Charge the budget if nothing in `schema` is beyond it: without the places, which only a
        problem needs, in a fifth of the time.
        """
        waiting, values, cost = [schema], self._values, self._cost
        while waiting:
            value = waiting.pop()
            values -= 1
            if type(value) is dict:
                waiting += value.values()
                if "pattern" in value or "patternProperties" in value:
                    try:
                        cost -= sum(pattern_cost(pattern) for pattern, _ in _patterns(value))
                    except PatternRejected:
                        return False
            elif type(value) in (list, tuple):
                waiting += value
            elif isinstance(value, (dict, list, tuple)):
                return False
            if len(waiting) > values or cost < 0:
                return False
        self._values, self._cost = values, cost
        return True

    def _pattern(self, pattern: str, keys: Keys) -> Iterator[Excess]:
        try:
            self._cost -= pattern_cost(pattern)
        except PatternRejected as refused:
            yield Excess(keys, f"the pattern {_short(pattern)} {refused}", refused.hint)
            return
        if self._cost < 0:
            self._cost = 0
            yield Excess(
                keys,
                f"with the pattern {_short(pattern)} the patterns here cost more than "
                f"{self._max_cost:,} to compile",
                "use fewer or simpler patterns",
            )


def values_in(value: Any, most: int) -> int:
    """How many values there are in `value`, itself included; counted up to `most`."""
    waiting, count = [value], 0
    while waiting and count < most:
        count += 1
        waiting += (inner for _, inner in _inner(waiting.pop()))
    return count


def _inner(value: Any) -> list[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, (list, tuple)) else []


def _patterns(value: Any) -> Iterator[tuple[str, Keys]]:
    if not isinstance(value, dict):
        return
    if isinstance(value.get("pattern"), str):
        yield value["pattern"], ("pattern",)
    named = value.get("patternProperties")
    for pattern in named if isinstance(named, dict) else ():
        if isinstance(pattern, str):
            yield pattern, ("patternProperties", pattern)


def _too_large(keys: Keys, most: int) -> Excess:
    return Excess(
        keys,
        f"the schema holds more than {most:,} values, which would take too long to check",
        "shorten it; a long list of words can be a `pattern`",
    )


def _short(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 60 else f"{pattern[:57]}…")
