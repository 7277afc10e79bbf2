"""Whole stores: `uwf store check`, `migrate`, `copy`."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import UsageError


@command("check", "uwf store check", "uwf store check --root", "uwf store check sqlite:copy.db")
@click.argument("url", metavar="[URL]", required=False)
@click.option("--root", is_flag=True, help="Read all of it, and print the store root.")
def check(session: Session, url: str | None, root: bool) -> None:
    """Check that a store can be used; print its versions, rights and times.

    URL is that of another store; paths in it are relative to UWF_HOME, as in the setting `store`.
    Two stores with the same root have the same nodes and names.
    """
    from uwf_core.maintenance.stores import check_store

    session.emit(check_store(session.engine, url, with_root=root), _check_text)


def _check_text(document: Mapping[str, Any], screen: Screen) -> str:
    counts = f"{document['threads']} threads, {document['running']} running"
    lines = [f"{document['store']}: {screen.paint('usable', 'ok')}", counts]
    lines += [
        f"{name}: {'-' if each is None else each}" for name, each in document["facts"].items()
    ]
    lines += [f"root: {document['root']}"] if document["root"] else []
    return "\n".join(lines)


@command("migrate", "uwf store migrate", "uwf store migrate postgresql://owner@db/uwf", logged=True)
@click.argument("url", metavar="[URL]", required=False)
def migrate(session: Session, url: str | None) -> None:
    """Create a store, or bring its tables to the version of this uwf.

    Run it once for each server and schema, and after an upgrade of uwf that has new tables, as a
    role that may create tables. Until then a newer uwf only reads. Several calls at once are safe.
    """
    from uwf_core.maintenance.stores import migrate_store

    session.emit(migrate_store(session.engine, url), _migrate_text)


def _migrate_text(document: Mapping[str, Any], _screen: Screen) -> str:
    applied = ", ".join(document["applied"])
    return f"{document['store']}: {'applied ' + applied if applied else 'up to date'}"


@command(
    "copy",
    "uwf store copy sqlite:store.db postgresql://uwf@db/uwf",
    "uwf store copy --move sqlite:store.db postgresql://uwf@db/uwf",
    "uwf store copy --all backup",
    logged=True,
)
@click.argument("places", metavar="[FROM] TO", nargs=-1, required=True)
@click.option("--all", "everything", is_flag=True, help="Copy the whole home to the folder TO.")
@click.option("--move", is_flag=True, help="Refuse later writes to FROM, and use TO from now on.")
def copy(session: Session, places: tuple[str, ...], everything: bool, move: bool) -> None:
    """Copy a whole store to an empty one.

    Copies every node and name as they are at one moment, and verifies each. Others may use FROM
    meanwhile; what they write later is not in the copy. Prints the store root, which both have.
    Not copied: logs, sessions of agents, worktrees, recorded files and the configuration.

    --all makes a backup of the home: TO is a new folder, and gets the store, the recorded files,
    the sessions of agents and the configuration without keys. UWF_HOME=TO uses it.

    --move copies once more while nobody can write (exit code 75 if a thread runs), sets `store` to
    TO in your config.yaml, and makes FROM read-only.
    """
    from uwf_core.maintenance import stores

    engine = session.engine
    if everything:
        if move or len(places) != 1:
            raise UsageError(
                "--all copies the home that you use to one folder", hint="uwf store copy --all TO"
            )
        session.emit(stores.copy_home(engine, places[0]), _copy_text)
        return
    if len(places) != 2:
        raise UsageError("give the URLs of two stores", hint="uwf store copy FROM TO")
    source, target = places
    if not move:
        session.emit(stores.copy(engine, source, target), _copy_text)
        return

    def switch(url: str) -> None:
        from uwf_core.config.change import set_value

        set_value(engine.home, "store", url)

    session.emit(stores.move(engine, source, target, switch), _copy_text)


def _copy_text(document: Mapping[str, Any], screen: Screen) -> str:
    return "\n".join(_copy_lines(document, screen))


def _copy_lines(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    verb = "moved" if document["moved"] else "copied"
    counts = f"{document['nodes']} nodes, {document['variables']} names"
    yield f"{screen.paint(verb, 'ok')} {counts} to {document['to']}"
    if document["files"]:
        yield f"{document['files']} files beside the store"
    yield f"root: {document['root']}"
    yield f"not {verb}: {', '.join(document['notCopied'])}"
    if document["moved"]:
        yield f"{document['from']} is read-only now; `store` in your config.yaml names the new one"
