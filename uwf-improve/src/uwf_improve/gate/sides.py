"""Which tasks are sealed, and which are open to the search.

Sources (a task's, shared by all its versions) are ranked by a keyed hash, and the lower half is
sealed: nobody who lacks the key can choose the side of a task, nor guess it. A side is fixed when a
source is first seen. If it were not, a task on which an edit was found could move to the other side
and confirm that edit.
"""

import hmac
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

Side = Literal["sealed", "open"]
_LEAST_KEY: Final = 16


@dataclass(frozen=True, kw_only=True)
class SourcedTask:
    """A task, and what it shares with its other versions.

    Attributes:
        id: its name in the set. source: where it comes from, such as the thread that it was made
            of; tasks of one source resemble each other. By default its id.
        digest: of its content; a copy under another name is the same task. "": unknown.
    """

    id: str
    source: str = ""
    digest: str = ""

    @property
    def marks(self) -> tuple[str, ...]:
        """By what it is known again; the source comes first."""
        marks = (f"source:{self.source or self.id}", f"task:{self.id}")
        return (*marks, f"digest:{self.digest}") if self.digest else marks


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a mark belongs: a side, and the unit of the test, named by the mark of its source."""

    side: Side
    unit: str


class SidesError(ValueError):
    """A task belongs to a sealed source and to an open one."""


def assign(
    known: Mapping[str, Place], tasks: Sequence[SourcedTask], key: bytes, sealed: int
) -> dict[str, Place]:
    """Give each task a side, new ones too.

    New sources are sealed until there are `sealed` of them, those with the lowest hash first; of
    the others those are sealed whose hash is in the lower half of all. The order of `tasks` does
    not matter.

    Args:
        known: the place of each mark that was seen before, as returned here.
        tasks: all tasks of the set. key: secret, at least 16 bytes, the same for each call.
        sealed: how many sources the bar wants to be sealed.

    Returns:
        `known` with the marks of the new tasks.

    Raises:
        SidesError: a task has marks of both sides. ValueError: the key is too short.
    """
    if len(key) < _LEAST_KEY:
        raise ValueError(f"the key of the sides must have at least {_LEAST_KEY} bytes")
    places, new = dict(known), []
    for marks in _groups(tasks):
        place = _known_place(known, marks)
        if place is None:
            new.append((_rank(key, marks[0]), marks))
        else:
            places |= dict.fromkeys(marks, place)
    units = {place.unit: place.side for place in known.values()}
    ranks = sorted([*(_rank(key, unit) for unit in units), *(rank for rank, _ in new)])
    count = sum(side == "sealed" for side in units.values())
    for rank, marks in sorted(new):
        lower = bisect_left(ranks, rank) < len(ranks) // 2
        side: Side = "sealed" if lower or count < sealed else "open"
        count += side == "sealed"
        places |= dict.fromkeys(marks, Place(side=side, unit=marks[0]))
    return places


def spend(places: Mapping[str, Place]) -> dict[str, Place]:
    """All places once the sealed tasks were opened or an edit was accepted: everything is open,
    and only tasks that are new after it can be sealed.
    """
    return {mark: Place(side="open", unit=place.unit) for mark, place in places.items()}


def place_of(places: Mapping[str, Place], task: SourcedTask) -> Place:
    """The place of a task that `assign` has seen."""
    return places[f"task:{task.id}"]


def sealed_units(places: Mapping[str, Place]) -> set[str]:
    """The units of the sealed side."""
    return {place.unit for place in places.values() if place.side == "sealed"}


def _known_place(known: Mapping[str, Place], marks: Iterable[str]) -> Place | None:
    found = [(mark, known[mark]) for mark in marks if mark in known]
    for mark, place in found:
        if place.side != found[0][1].side:
            raise SidesError(
                f"{found[0][0]} is {found[0][1].side} and {mark} is {place.side}, "
                "but one task has both; give the changed task a new id and source"
            )
    return found[0][1] if found else None


def _groups(tasks: Sequence[SourcedTask]) -> Iterator[list[str]]:
    """The marks of tasks that share one, also by way of others; the least source comes first."""
    leaders: dict[str, str] = {}

    def leader(mark: str) -> str:
        while leaders.setdefault(mark, mark) != mark:
            mark = leaders[mark]
        return mark

    for task in tasks:
        for mark in task.marks[1:]:
            low, high = sorted((leader(task.marks[0]), leader(mark)))
            leaders[high] = low
    groups: dict[str, list[str]] = {}
    for mark in leaders:
        groups.setdefault(leader(mark), []).append(mark)
    for marks in groups.values():
        yield sorted(marks, key=lambda mark: (not mark.startswith("source:"), mark))


def _rank(key: bytes, mark: str) -> bytes:
    return hmac.digest(key, mark.encode("utf-8", "surrogatepass"), sha256)
