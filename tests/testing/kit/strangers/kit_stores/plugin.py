"""Announces them all."""

from kit_stores.names import BREAKS, PERSISTENT, SHARED
from uwf_core.api import StoreSpec, hookimpl


def spec_of(name, summary="for the kit's own test"):
    capabilities = {"persistent"} if name in PERSISTENT else set()
    capabilities |= {"persistent", "shared"} if name in SHARED else set()
    return StoreSpec(
        name=name,
        summary=summary,
        factory=f"kit_stores.{'wrong_shared' if capabilities else 'wrong'}:{name}",
        capabilities=frozenset(capabilities),
    )


@hookimpl
def uwf_stores():
    other = "not what the contract was held against"
    return [spec_of(name, other) if name == "misannounced" else spec_of(name) for name in BREAKS]
