"""How much one schema, or the schemas of one file, may ask of whoever checks and compiles them.

A budget of work and not of time: the same schema is taken or refused on every machine.
"""

from collections.abc import Iterator
from typing import Any

from uwf_core.cas.codec import Keys
from uwf_core.cas.patterns import MAX_COST_TOGETHER, Refused, pattern_cost
from uwf_core.named_tuple import NamedTuple

MAX_VALUES = 10_000
"""The most values (mappings, lists, texts, numbers) that schemas checked together may hold."""

MAX_PROBLEMS = 200
"""The most problems that are told of one schema."""


class Excess(NamedTuple):
    """Where a schema goes beyond its budget, why, and what to do."""

    keys: Keys
    message: str
    hint: str


class Budget:
    """What is left for schemas that are checked together.

    Attributes:
        is_spent: whether there were too many values, which is told once; nothing more is looked at.
    """

    __slots__ = ("_cost", "_values", "is_spent")

    def __init__(self) -> None:
        self._values = MAX_VALUES
        self._cost = MAX_COST_TOGETHER
        self.is_spent = False

    def excesses(self, schema: Any) -> Iterator[Excess]:
        """Take what `schema` asks for; everything in it counts, also what is only data."""
        waiting: list[tuple[Keys, Any]] = [] if self.is_spent else [((), schema)]
        while waiting:
            keys, value = waiting.pop()
            inner = _inner(value)
            self._values -= 1
            if self._values < len(inner):
                self.is_spent = True
                yield _too_large(keys)
                return
            for pattern, place in _patterns(value):
                yield from self._pattern(pattern, keys + place)
            waiting += (((*keys, key), each) for key, each in reversed(inner))

    def _pattern(self, pattern: str, keys: Keys) -> Iterator[Excess]:
        try:
            self._cost -= pattern_cost(pattern)
        except Refused as refused:
            yield Excess(keys, f"the pattern {_short(pattern)} {refused}", refused.hint)
            return
        if self._cost < 0:
            self._cost = 0
            yield Excess(
                keys,
                f"with the pattern {_short(pattern)} the patterns here cost more than "
                f"{MAX_COST_TOGETHER:,} to compile",
                "use fewer or simpler patterns",
            )


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


def _too_large(keys: Keys) -> Excess:
    return Excess(
        keys,
        f"the schema holds more than {MAX_VALUES:,} values, which would take too long to check",
        "say less in it; a long list of words can be a `pattern`",
    )


def _short(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 60 else f"{pattern[:57]}…")
