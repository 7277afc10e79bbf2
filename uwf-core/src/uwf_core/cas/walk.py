"""The one walk over the graph of nodes: breadth first, each node once."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from uwf_core.cas.references import references_in

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.ids import Ref

Found = TypeVar("Found")


def walk(
    roots: Iterable[str], look: Callable[[str], tuple[Found, Iterable[str]] | None]
) -> Iterator[Found]:
    """What `look` finds at `roots` and at all that they lead to.

    Args:
        roots: references.
        look: reads the node of a reference; gives what is wanted of it and the references to
            follow, or None where there is no node. What it raises ends the walk.
    """
    waiting = deque(dict.fromkeys(roots))
    seen = set(waiting)
    while waiting:
        found = look(waiting.popleft())
        if found is None:
            continue
        yield found[0]
        for ref in found[1]:
            if ref not in seen:
                seen.add(ref)
                waiting.append(ref)


def reachable(store: "Store", roots: Iterable[str]) -> "Iterator[Ref]":
    """Every node reachable from `roots`, them and all types included, each read and checked.

    Raises:
        MissingNodeError: a node on the way is missing.
        CorruptNodeError: a node on the way is damaged.
    """

    def look(ref: str) -> "tuple[Ref, Iterable[str]]":
        node = store.get(ref)
        references = references_in(store.schema(node.type), node.payload)
        return node.ref, (node.type, *sorted(references))

    return walk(roots, look)
