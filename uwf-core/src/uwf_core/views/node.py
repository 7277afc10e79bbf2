"""A node of the store, as `cas get` gives it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


def show_node(engine: "Engine", ref: Ref) -> Mapping[str, Any]:
    """Its type, payload and the time at which it was stored; verifies reference and digest.

    Raises:
        MissingNodeError, CorruptNodeError: it is missing or damaged.
    """
    node = engine.store.get(ref)
    return {
        "ref": node.ref,
        "type": node.type,
        "createdAtMs": node.created_ms,
        "payload": node.payload,
    }
