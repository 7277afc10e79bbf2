"""Open a store by its URL: the scheme is the backend, built in or a plugin's."""

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
        summary="in memory only: for tests and short-lived programs",
        factory="uwf_core.stores.memory:open_memory",
        capabilities=frozenset(),
    ),
)
"""The built-in backends: known without a scan for plugins."""


def open_backend(
    url: str,
    home: str,
    plugin: Callable[[str], StoreSpec] | None = None,
    *,
    durable: bool = True,
) -> StoreBackend:
    """Open the backend of `url`, such as `sqlite:store.db`.

    Args:
        url: scheme, colon, and a rest that the backend interprets.
        home: the base of relative paths.
        plugin: finds the record of a scheme that is not built in, or raises `PluginError`.
        durable: False for a temporary store; the built-in ones then never wait for the disk.

    Raises:
        PluginError: the scheme is unknown, or its backend was written for another contract.
        StoreError: the backend cannot be created.
    """
    scheme, colon, _ = url.partition(":")
    if not colon or not scheme:
        raise StoreError(
            f"{url!r} is not a store URL", hint="write `scheme:place`, such as `sqlite:store.db`"
        )
    spec = _spec(scheme, plugin)
    return _made(spec, url, home, {} if durable or spec not in HOUSE else {"durable": False})


def is_shared(url: str, plugin: Callable[[str], StoreSpec] | None = None) -> bool:
    """Whether several processes can use the store of `url` at once; raises as `open_backend`."""
    return "shared" in _spec(url.partition(":")[0], plugin).capabilities


def _spec(scheme: str, plugin: Callable[[str], StoreSpec] | None) -> StoreSpec:
    for spec in HOUSE:
        if spec.name == scheme:
            return spec
    built_in = f"built in: {', '.join(spec.name for spec in HOUSE)}"
    if plugin is None:
        raise PluginError(f"unknown store {scheme!r}", hint=built_in)
    try:
        spec = plugin(scheme)
    except PluginError as error:
        hint = f"{error.hint}; {built_in}"
        raise PluginError(error.message, where=error.where, hint=hint) from error
    if spec.api.split(".")[0] != STORE_API_VERSION.split(".")[0]:
        raise PluginError(
            f"the store {scheme!r} was written for contract {spec.api}, but this uwf has "
            f"{STORE_API_VERSION}",
            hint="install compatible versions of both",
        )
    return spec


def _made(spec: StoreSpec, url: str, home: str, options: Mapping[str, bool]) -> StoreBackend:
    module, _, attribute = spec.factory.partition(":")
    try:
        factory: Callable[..., Any] = getattr(import_module(module), attribute)
        backend: StoreBackend = factory(url, home, **options)
    except UwfError:
        raise
    except (Exception, SystemExit) as error:  # a plugin's code may raise anything
        from uwf_core.api.environment import without_passwords

        raise StoreError(
            f"the store {spec.name!r} failed to open: {type(error).__name__}: {error}",
            where=without_passwords(url),
            hint=f"report it to the author of {spec.factory}, or set `store` to another one",
        ) from error
    return backend
