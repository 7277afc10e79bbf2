"""Whole stores: `uwf store check`, `migrate`, `copy`."""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen


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


def copied_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`store copy`."""
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
