"""The root of a bundle, computed without writing one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from uwf_core.cas.manifest import root_of
from uwf_core.ids import ref_of_number

if TYPE_CHECKING:
    from uwf_core.cas.store import Store


def root_from(store: "Store", head: str, roots: Iterable[str]) -> str:
    """The root over a head and everything that can be reached from `roots`.

    Raises:
        CorruptNodeError, MissingNodeError: a node on the way is damaged or missing.
    """
    waiting = list(dict.fromkeys(roots))
    found = dict.fromkeys(waiting, "")
    while waiting:
        record = store.record(waiting.pop())
        found[record.ref] = record.sha256.hex()
        for ref in map(ref_of_number, record.edges):
            if ref not in found:
                found[ref] = ""
                waiting.append(ref)
    return root_of(head, sorted(found.items()))
