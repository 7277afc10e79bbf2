"""The module that uwf imports to list the plugins."""

from uwf_core.api import StoreSpec, hookimpl


@hookimpl
def uwf_stores() -> list[StoreSpec]:
    """The store `postgresql`."""
    return [
        StoreSpec(
            name="postgresql",
            summary="a PostgreSQL server: the same threads on several machines",
            factory="uwf_store_postgres.backend:open_postgres",
            capabilities=frozenset({"persistent", "shared", "lease"}),
            api="1.1",
        )
    ]
