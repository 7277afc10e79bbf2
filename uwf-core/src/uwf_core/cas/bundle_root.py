"""The root of a bundle, computed without writing one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from uwf_core.cas.manifest import root_of
from uwf_core.cas.walk import stored_below

if TYPE_CHECKING:
    from uwf_core.cas.store import Store


def root_from(store: "Store", head: str, roots: Iterable[str]) -> str:
    """The root over a head and everything that can be reached from `roots`.

    Raises:
        CorruptNodeError, MissingNodeError: a node on the way is damaged or missing.
    """
    nodes = ((record.ref, record.sha256.hex()) for record in stored_below(store, roots))
    return root_of(head, sorted(nodes))
