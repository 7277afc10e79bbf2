"""Announces them all."""

from kit_stores.names import BREAKS, SHARED
from uwf_core.api import StoreSpec, hookimpl


def spec_of(name, summary="for the kit's own test"):
    shared = frozenset(("persistent", "shared") if name in SHARED else ())
    return StoreSpec(
        name=name, summary=summary, factory=f"kit_stores.wrong:{name}", capabilities=shared
    )


@hookimpl
def uwf_stores():
    other = "not what the contract was held against"
    return [spec_of(name, other) if name == "misannounced" else spec_of(name) for name in BREAKS]
