"""Whole stores: check one, migrate one, copy or move one to another place."""

# ruff: noqa: PTH100, PTH112, PTH118, PTH208

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from uwf_core.api.environment import without_passwords
from uwf_core.api.store import ManagedBackend, SnapshotBackend, StoreBackend
from uwf_core.cas.copy_store import Copied, StoreCopy, store_root
from uwf_core.cas.rows import every_row
from uwf_core.config.change import set_value
from uwf_core.config.original import LOG_HINT
from uwf_core.errors import BusyError, StoreError, UsageError
from uwf_core.process.folders import make_folder
from uwf_core.thread.names import HEADS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uwf_core.engine.engine import Engine
    from uwf_core.engine.store_documents import (
        StoreCheckDocument,
        StoreCopyDocument,
        StoreMigrateDocument,
    )

NOT_COPIED = ("logs", "sessions of agents", "worktrees", "recorded files", "configuration")
"""What belongs to a home and is not in its store."""


def check_store(
    engine: "Engine", url: str | None, *, with_root: bool = False
) -> "StoreCheckDocument":
    """What is known of a store: that it can be read and locked, its versions and rights.

    Raises:
        UsageError: there is no store at `url`. StoreError: it cannot be used.
    """
    with _opened(engine, url) as store:
        if url is not None:
            _check_exists(engine, store)
        facts = dict(store.facts()) if isinstance(store, ManagedBackend) else {}
        if fault := facts.get("log"):
            raise StoreError(str(fault), where=store.location(), hint=LOG_HINT)
        held = store.held()
        return {
            "store": store.location(),
            "threads": sum(1 for _ in every_row(store.variables, HEADS)),
            "running": len(held),
            "facts": facts,
            "root": _root(store) if with_root else None,
        }


def migrate_store(engine: "Engine", url: str | None) -> "StoreMigrateDocument":
    """Create a store, or bring its tables to the newest version."""
    with _opened(engine, url) as store:
        applied = store.migrate() if isinstance(store, ManagedBackend) else []
        return {"store": store.location(), "applied": [*applied]}


def copy_store(
    engine: "Engine", places: "Sequence[str]", *, all: bool, move: bool
) -> "StoreCopyDocument":
    """Copy the home to one place, or copy or move a store from one place to another.

    Raises:
        UsageError: there are more or fewer places; there is no store at the first; with `move`,
            it is not the configured store. Else as `copy` and `move_store`.
    """
    if all:
        if move or len(places) != 1:
            raise UsageError(
                "--all copies the home that you use to one folder", hint="uwf store copy --all TO"
            )
        return copy_home(engine, places[0])
    if len(places) != 2:
        raise UsageError("give the URLs of two stores", hint="uwf store copy FROM TO")
    with _opened(engine, places[0]) as old, _opened(engine, None if move else places[0]) as used:
        hint = _check_exists(engine, old)
        if old.location() != used.location():
            message = "--move moves only the store that you use"
            raise UsageError(message, where=old.location(), hint=f"leave --move out; {hint}")
    return (move_store if move else copy)(engine, *places)


def copy(engine: "Engine", source: str, target: str) -> "StoreCopyDocument":
    """Copy a store as it is at one moment; others may read and write it meanwhile.

    Raises:
        UsageError: the target is not empty, or the source cannot be read at one moment.
        StoreError: one of them cannot be used.
    """
    with _opened(engine, source) as old, _opened(engine, target) as new:
        _check_pair(old, new)
        with _snapshot(old):
            done = StoreCopy(old, new).all()
        return _copied(old, new, done, moved=False)


def copy_home(engine: "Engine", target: str) -> "StoreCopyDocument":
    """Copy a whole home to an empty folder; others may use it meanwhile. Raises as `copy`."""
    from uwf_core.maintenance.home_copy import NOT_COPIED as LEFT_OUT
    from uwf_core.maintenance.home_copy import copy_beside_store

    folder = os.path.abspath(os.path.join(engine.cwd, target))
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise UsageError("the folder of the copy is not empty", where=folder)
    make_folder(folder)
    done = copy(engine, engine.settings.store, f"sqlite:{folder}/store.db")
    files = copy_beside_store(engine, folder, "sqlite:store.db")
    return {**done, "files": files, "notCopied": [*LEFT_OUT]}


def move_store(engine: "Engine", source: str, target: str) -> "StoreCopyDocument":
    """Copy a store; then copy what has changed since, while nobody can write, refuse every later
    write to it, and make the target the configured store.

    Raises:
        BusyError: a thread runs. Else as `copy`.
    """
    with _opened(engine, source) as old, _opened(engine, target) as new:
        _check_pair(old, new)
        if not isinstance(old, ManagedBackend):
            raise UsageError(f"{old.location()} cannot refuse writes, so it cannot be moved")
        _check_rests(old)
        copying = StoreCopy(old, new)
        with _snapshot(old):
            copying.all()
        with old.transaction():
            _check_rests(old)
            done = copying.changes()
            set_value(engine.home, "store", target)
            old.seal(new.location())
        return _copied(old, new, done, moved=True)


def _copied(
    old: StoreBackend, new: StoreBackend, done: Copied, *, moved: bool
) -> "StoreCopyDocument":
    return {
        "from": old.location(),
        "to": new.location(),
        "moved": moved,
        "nodes": done.nodes,
        "variables": done.variables,
        "added": done.added,
        "root": done.root,
        "files": 0,
        "notCopied": [*NOT_COPIED],
    }


@contextmanager
def _opened(engine: "Engine", url: str | None) -> Iterator[StoreBackend]:
    store = engine.backend_at(url or engine.settings.store)
    try:
        yield store
    finally:
        store.close()


def _check_exists(engine: "Engine", store: StoreBackend) -> str:
    """Reject a store that is not there; returns a hint that names the one in use."""
    hint = f"you use the store {without_passwords(engine.settings.store)}"
    if isinstance(store, ManagedBackend) and store.facts().get("exists") is False:
        raise UsageError(f"no store at {store.location()}", hint=hint)
    return hint


def _check_pair(old: StoreBackend, new: StoreBackend) -> None:
    if old.location() == new.location():
        raise UsageError(f"{old.location()} is both the source and the target")
    if isinstance(old, ManagedBackend) and not old.facts():
        raise UsageError(
            f"{old.location()} keeps nothing, so it cannot be copied",
            hint="export its threads instead: uwf thread export",
        )
    there = new.variables("", limit=1)
    if there:
        raise UsageError(
            f"the target {new.location()} is not empty: it has {there[0].name}",
            hint="copy to a new place, or to an empty schema: add `?schema=NAME` to the URL",
        )


def _check_rests(store: StoreBackend) -> None:
    for name, holder in store.held().items():
        raise BusyError(
            f"{name} is in use by process {holder.pid} on {holder.host}",
            hint="wait until no thread runs, or stop them",
        )


def _snapshot(store: StoreBackend) -> AbstractContextManager[None]:
    if not isinstance(store, SnapshotBackend):
        raise UsageError(
            f"{store.location()} cannot be read at one moment, so it cannot be copied",
            hint="export its threads instead: uwf thread export",
        )
    return store.snapshot()


def _root(store: StoreBackend) -> str:
    with store.snapshot() if isinstance(store, SnapshotBackend) else nullcontext():
        return store_root(store)
