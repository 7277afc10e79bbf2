"""A store by its URL: the scheme names the backend, ours or a plugin's."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from uwf_core.api.store import STORE_API_VERSION, StoreBackend, StoreSpec
from uwf_core.errors import PluginError, StoreError, UwfError

HOUSE = (
    StoreSpec(
        name="sqlite",
        summary="one SQLite file: atomic, crash-safe, readable while others write",
        factory="uwf_core.stores.sqlite:open_sqlite",
    ),
    StoreSpec(
        name="memory",
        summary="nothing is kept: for tests and short-lived programs",
        factory="uwf_core.stores.memory:open_memory",
        capabilities=frozenset(),
    ),
)
"""The backends of the house: known without any discovery."""


def open_backend(
    url: str,
    home: str,
    plugin: Callable[[str], StoreSpec] | None = None,
    *,
    durable: bool = True,
) -> StoreBackend:
    """The backend of `url`, such as `sqlite:store.db`.

    Args:
        url: scheme, colon, whatever the backend makes of the rest.
        home: the folder that relative paths are relative to.
        plugin: finds the record of a scheme that is not of the house, or raises `PluginError`.
        durable: False: a store that is thrown away; those of the house never wait for the disk.

    Raises:
        PluginError: nobody knows the scheme, or its backend was written for another contract.
        StoreError: the backend cannot be made.
    """
    scheme, colon, _ = url.partition(":")
    if not colon or not scheme:
        raise StoreError(
            f"{url!r} names no store", hint="write `scheme:place`, such as `sqlite:store.db`"
        )
    spec = _spec(scheme, plugin)
    return _made(spec, url, home, {} if durable or spec not in HOUSE else {"durable": False})


def _spec(scheme: str, plugin: Callable[[str], StoreSpec] | None) -> StoreSpec:
    for spec in HOUSE:
        if spec.name == scheme:
            return spec
    if plugin is None:
        raise PluginError(
            f"no store is called {scheme!r}",
            hint=f"stores of the house: {', '.join(spec.name for spec in HOUSE)}",
        )
    spec = plugin(scheme)
    if spec.api.split(".")[0] != STORE_API_VERSION.split(".")[0]:
        raise PluginError(
            f"the store {scheme!r} was written for contract {spec.api}, this uwf has "
            f"{STORE_API_VERSION}",
            hint="install versions of both that fit",
        )
    return spec


def _made(spec: StoreSpec, url: str, home: str, options: Mapping[str, bool]) -> StoreBackend:
    module, _, attribute = spec.factory.partition(":")
    try:
        factory: Callable[..., Any] = getattr(import_module(module), attribute)
        backend: StoreBackend = factory(url, home, **options)
    except UwfError:
        raise
    except (Exception, SystemExit) as error:  # a plugin's code: anything may come
        raise StoreError(
            f"the store {spec.name!r} failed to open: {type(error).__name__}: {error}",
            where=url,
            hint=f"it comes from {spec.factory}: report it there, or set `store` to another one",
        ) from error
    return backend
