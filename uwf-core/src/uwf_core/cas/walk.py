"""The one walk over a graph: breadth first, each node once."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from uwf_core.ids import ref_of_number

if TYPE_CHECKING:
    from uwf_core.api.store import Record
    from uwf_core.cas.store import Store

Name = TypeVar("Name", bound=Hashable)
Found = TypeVar("Found")


def walk(
    roots: Iterable[Name], look: Callable[[Name], tuple[Found, Iterable[Name]] | None]
) -> Iterator[Found]:
    """What `look` finds at `roots` and at all that they lead to.

    Args:
        roots: names of nodes.
        look: reads a node; gives what is wanted of it and the names to follow, or None where there
            is no node. What it raises ends the walk.
    """
    waiting = deque(dict.fromkeys(roots))
    seen = set(waiting)
    while waiting:
        found = look(waiting.popleft())
        if found is None:
            continue
        yield found[0]
        for name in found[1]:
            if name not in seen:
                seen.add(name)
                waiting.append(name)


def reached(roots: Iterable[Name], after: Callable[[Name], Iterable[Name]]) -> Iterator[Name]:
    """`roots` and all that they lead to; `after` gives the names that follow a name."""
    return walk(roots, lambda name: (name, after(name)))


def stored_below(
    store: "Store", roots: Iterable[str], is_left_out: Callable[[str], bool] = lambda _: False
) -> "Iterator[Record]":
    """Every node reachable from `roots`, them and all types included, each read and checked.

    `is_left_out`: whether a reference is not followed.

    Raises:
        MissingNodeError: a node on the way is missing.
        CorruptNodeError: a node on the way is damaged.
    """

    def look(ref: str) -> "tuple[Record, Iterable[str]]":
        record = store.record(ref)
        edges = map(ref_of_number, record.edges)
        return record, (each for each in edges if not is_left_out(each))

    return walk(roots, look)
