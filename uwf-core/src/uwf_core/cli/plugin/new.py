"""`uwf plugin new`."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import click

from uwf_core.cli.frame import command
from uwf_core.cli.plugin.template import KINDS, distribution_of, filled_files, name_of
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import UsageError

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@command("new", "uwf plugin new agent aider", "uwf plugin new store files --dir ~/src")
@click.argument("kind", metavar="KIND", type=click.Choice(list(KINDS)))
@click.argument("name", metavar="NAME")
@click.option("--dir", "parent", metavar="DIR", default=".", help="Folder to create it in.")
def new(session: Session, kind: str, name: str, parent: str) -> None:
    """Write a complete distribution for a new plugin, which passes its tests unchanged.

    KIND is agent, store, extractor, judge, observer or command. NAME is the name that users type.
    """
    from uwf_core import __version__

    name = name_of(kind, name)
    _check_name(session, kind, name)
    distribution = distribution_of(kind, name)
    folder = os.path.join(os.path.abspath(os.path.expanduser(parent)), distribution)  # noqa: PTH100, PTH111, PTH118
    files = dict(filled_files(kind, name, __version__))
    _write(folder, files)
    document = {
        "kind": kind,
        "name": name,
        "distribution": distribution,
        "folder": folder,
        "files": sorted(files),
    }
    session.emit(document, _text)


def _check_name(session: Session, kind: str, name: str) -> None:
    """Reject an invalid or taken name.

    Raises:
        UsageError: with a hint.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a valid plugin name",
            hint="use lower-case letters, digits and single dashes, with a letter first: my-agent",
        )
    taken = _taken(session, KINDS[kind].group)
    if name in taken:
        raise UsageError(
            f"the name {name!r} is taken by {taken[name]}",
            hint="choose another name, or remove that distribution first",
        )


def _taken(session: Session, group: str) -> Mapping[str, str]:
    from uwf_core.cli.names import COMMANDS as OWN_COMMANDS
    from uwf_core.plugins.scan import COMMANDS, CORE, STORES
    from uwf_core.stores.open import HOUSE

    own: Sequence[str] = ()
    if group == COMMANDS:
        own = tuple(OWN_COMMANDS)
    elif group == STORES:
        own = tuple(spec.name for spec in HOUSE)
    installed = (each.found for each in session.engine.plugins.list((group,)))
    return {**{each.name: each.distribution for each in installed}, **dict.fromkeys(own, CORE)}


def _write(folder: str, files: Mapping[str, str]) -> None:
    try:
        os.makedirs(folder)  # noqa: PTH103
        for path, text in files.items():
            file = os.path.join(folder, path)  # noqa: PTH118
            os.makedirs(os.path.dirname(file), exist_ok=True)  # noqa: PTH103, PTH120
            with open(file, "x", encoding="utf-8") as stream:
                stream.write(text)
    except FileExistsError as error:
        raise UsageError(
            "the folder exists already", where=folder, hint="choose another name, or remove it"
        ) from error
    except OSError as error:
        raise UsageError(
            f"cannot write the file: {error.strerror}", where=error.filename
        ) from error


def _text(document: Mapping[str, Any], _screen: Screen) -> str:
    lines = [document["folder"], *(f"  {file}" for file in document["files"])]
    return "\n".join(
        [*lines, f"next: cd {document['folder']} && pip install -e '.[test]' && pytest"]
    )
