"""The module that uwf imports to list the plugins."""

from uwf_core.api import StoreSpec, hookimpl


@hookimpl
def uwf_stores() -> list[StoreSpec]:
    """The store `files`."""
    return [
        StoreSpec(
            name="files",
            summary="one CBOR file per node, as ocas lays them out",
            factory="uwf_store_files.backend:open_files",
            capabilities=frozenset({"persistent", "shared"}),
        )
    ]
