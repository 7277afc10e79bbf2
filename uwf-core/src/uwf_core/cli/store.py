"""Whole stores: `uwf store check`, `migrate`, `copy`."""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import UsageError


def check_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`store check`."""
    counts = f"{document['threads']} threads, {document['running']} running"
    lines = [f"{document['store']}: {screen.paint('usable', 'ok')}", counts]
    lines += [
        f"{name}: {'-' if each is None else each}" for name, each in document["facts"].items()
    ]
    lines += [f"root: {document['root']}"] if document["root"] else []
    return "\n".join(lines)


def migrate_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`store migrate`."""
    applied = ", ".join(document["applied"])
    return f"{document['store']}: {'applied ' + applied if applied else 'up to date'}"


def copy(session: Session, places: tuple[str, ...], all: bool, move: bool) -> None:
    """Copy or move a whole store."""
    from uwf_core.maintenance import stores

    engine = session.engine
    if all:
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
