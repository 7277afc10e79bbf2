"""Nodes and threads from one store of ours to another: checked by their references, not again by
their schemas, since our own engine wrote them.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from uwf_core.api.store import Record
from uwf_core.engine.find import find_thread
from uwf_core.ids import ref_of_number
from uwf_core.upkeep.export import own_variables

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.engine import Engine


def copy_nodes(
    source: "Store", target: "Store", roots: Iterable[str], *, durable: bool = True
) -> int:
    """Copy nodes with everything that they lead to; how many the target did not have. Types that
    were copied there a moment ago are left out.

    `durable`: as of a transaction of the target.

    Raises:
        MissingNodeError, CorruptNodeError: one of them is absent or damaged; nothing has changed.
        CollisionError: the target has another payload under a reference.
    """
    records = list(_closure(source, roots, target.is_fresh))
    there = target.present([each.ref for each in records])
    with target.transaction(durable):
        for record in records:
            target.import_record(record, verified=True)
    return len(records) - len(there)


def copy_thread(source: "Engine", target: "Engine", word: str, *, durable: bool = True) -> None:
    """Copy a thread that nobody runs, with everything that it leads to and its own variables.

    `durable`: as of a transaction of the target.

    Raises:
        BusyError: it runs, or the target knows it already.
        UwfError: as `copy_nodes`; nothing has changed.
    """
    _, variables = own_variables(source.store, find_thread(source, word))
    with target.store.transaction(durable):
        roots = [each.value for each in variables]
        copy_nodes(source.store, target.store, roots, durable=durable)
        for each in variables:
            target.store.set_variable(each.name, each.value, each.tags, None)


def _closure(
    store: "Store", roots: Iterable[str], is_there: Callable[[str], bool]
) -> Iterator[Record]:
    """Every record reachable from `roots`, types included, each once; without what is there."""
    waiting = list(dict.fromkeys(roots))
    seen = set(waiting)
    while waiting:
        record = store.record(waiting.pop())
        yield record
        for number in record.edges:
            ref = ref_of_number(number)
            if ref not in seen and not is_there(ref):
                seen.add(ref)
                waiting.append(ref)
