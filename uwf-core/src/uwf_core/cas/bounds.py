"""The limits of schemas: the work to check and compile one, or all of one file.

A budget of work, not of time: every machine accepts or rejects the same schema.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from uwf_core.cas.codec import Keys, encode
from uwf_core.cas.patterns import MAX_COST_TOGETHER, PatternRejected, pattern_cost

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
