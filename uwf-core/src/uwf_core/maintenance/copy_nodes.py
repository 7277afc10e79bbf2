"""Copy nodes and threads from one store to another. Verifies references, but not schemas again,
since the engine itself wrote both stores.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from uwf_core.cas.walk import stored_below
from uwf_core.engine.find import find_thread
from uwf_core.ids import Ref
from uwf_core.thread.head import TRIAL
from uwf_core.thread.names import HEADS, PROGRAMS
from uwf_core.thread.own_variables import tree_variables

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.engine import Engine


def copy_nodes(
    source: "Store", target: "Store", roots: Iterable[str], *, durable: bool = True
) -> int:
    """Copy nodes with all that they reach; return the number that the target lacked. Types that
    were copied there a moment ago are left out. The workflows among them keep their permission to
    run programs.

    `durable`: as in a transaction of the target.

    Raises:
        MissingNodeError, CorruptNodeError: one of them is missing or damaged; nothing has changed.
        CollisionError: the target has another payload under a reference.
    """
    records = list(stored_below(source, roots, target.is_fresh))
    there = target.present([each.ref for each in records])
    with target.transaction(durable):
        for record in records:
            target.import_record(record, verified=True)
        for each in source.variables(PROGRAMS):
            if target.has(Ref(each.value)) and target.variable(each.name) is None:
                target.set_variable(each.name, Ref(each.value), each.tags, None)
    return len(records) - len(there)


def copy_thread(
    source: "Engine", target: "Engine", word: str, *, trial: str | None = None, durable: bool = True
) -> None:
    """Copy a thread that is not running and all threads below it: their variables and all that
    these reach.

    `trial`: marks it in the target as the thread of this trial, which lists and `@last` leave out
    until it runs again. `durable`: as in a transaction of the target.

    Raises:
        BusyError: it is running, or exists in the target already.
        UwfError: as `copy_nodes`; nothing has changed.
    """
    _, variables = tree_variables(source.store, find_thread(source, word))
    with target.store.transaction(durable):
        roots = [each.value for each in variables]
        copy_nodes(source.store, target.store, roots, durable=durable)
        for each in variables:
            mark = {TRIAL: trial} if trial and each.name.startswith(HEADS) else {}
            target.store.set_variable(each.name, each.value, {**each.tags, **mark}, None)
