"""The lines in which two values differ, for people."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

_MOST = 1_000
"""Beyond this many different lines on one side they are not aligned, which takes quadratic time."""


class Line(NamedTuple):
    """A line of both sides (`=`), of A alone (`-`) or of B alone (`+`), with its number there."""

    mark: Literal["=", "-", "+"]
    number: int
    text: str


def shown(value: Any) -> str:
    """A value as text: a text as it is, nothing as "", JSON of more than one line otherwise."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def line_diff(a: Any, b: Any) -> list[Line]:
    """The lines of two values, aligned."""
    mine, other = shown(a).splitlines(), shown(b).splitlines()
    begin = _same_length(mine, other)
    end = _same_length(mine[begin:][::-1], other[begin:][::-1])
    last_a, last_b = len(mine) - end, len(other) - end
    middle = _middle(mine[begin:last_a], other[begin:last_b], begin)
    head = (Line("=", number + 1, mine[number]) for number in range(begin))
    tail = (Line("=", number + 1, mine[number]) for number in range(last_a, len(mine)))
    return [*head, *middle, *tail]


def _same_length(a: Sequence[str], b: Sequence[str]) -> int:
    for index, (left, right) in enumerate(zip(a, b, strict=False)):
        if left != right:
            return index
    return min(len(a), len(b))


def _middle(a: list[str], b: list[str], begin: int) -> Iterator[Line]:
    for tag, a_from, a_to, b_from, b_to in _blocks(a, b):
        if tag == "equal":
            yield from (Line("=", begin + at + 1, a[at]) for at in range(a_from, a_to))
        else:
            yield from (Line("-", begin + at + 1, a[at]) for at in range(a_from, a_to))
            yield from (Line("+", begin + at + 1, b[at]) for at in range(b_from, b_to))


def _blocks(a: list[str], b: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    if max(len(a), len(b)) > _MOST:
        return [("replace", 0, len(a), 0, len(b))]
    from difflib import SequenceMatcher

    return SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
