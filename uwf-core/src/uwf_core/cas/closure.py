"""All that can be reached from some nodes."""

from collections import deque
from collections.abc import Iterable, Iterator

from uwf_core.cas.references import references_in
from uwf_core.cas.store import Store
from uwf_core.ids import Ref


def walk(store: Store, roots: Iterable[str]) -> Iterator[Ref]:
    """Every node reachable from `roots`, them and all types included: breadth first, each once.

    Each node is read and checked before it is given.

    Raises:
        MissingNodeError: a node on the way is missing.
        CorruptNodeError: a node on the way is damaged.
    """
    waiting = deque(dict.fromkeys(roots))
    seen = set(waiting)
    while waiting:
        node = store.get(waiting.popleft())
        yield node.ref
        found = references_in(store.schema(node.type), node.payload)
        for ref in [node.type, *sorted(found)]:
            if ref not in seen:
                seen.add(ref)
                waiting.append(ref)
