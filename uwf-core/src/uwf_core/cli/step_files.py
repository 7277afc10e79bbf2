"""`uwf step files`: the files that a step delivered."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.params import step_argument
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.table import Column, table
from uwf_core.cli.session import Session
from uwf_core.errors import UsageError
from uwf_core.escape import in_line

_COLUMNS = (
    Column("path", "PATH", least=12),
    Column("size", "BYTES", right=True),
    Column("mode", "MODE", rank=1),
    Column("file", "NODE"),
)


@command("files", "uwf step files @last", "uwf step files 3FQ8K -o delivered")
@step_argument()
@click.option("-o", "--output", metavar="DIR", help="Write the files into this folder.")
@click.option("--force", is_flag=True, help="Replace files that exist in the folder.")
def files(session: Session, step: str, output: str | None, force: bool) -> None:
    """List the files that a step delivered, with their sizes and nodes.

    With -o the files are written below DIR, each at its path and with its permissions, as they were
    when the step was stored. Nothing is ever written outside of DIR: an absolute path is taken as
    one below it. A file that exists is an error, unless you add --force.
    """
    from uwf_core.views.recorded import open_step
    from uwf_core.views.steps import step_files

    if force and output is None:
        raise UsageError("--force needs -o DIR", hint="next: uwf step files STEP -o DIR --force")
    folder = None if output is None else str(Path(session.engine.cwd, output))
    session.emit(step_files(open_step(session.engine, step), folder, force=force), files_text)


def files_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`step files`."""
    rows = document["files"]
    if not rows:
        return f"step {document['step']} delivered no file"
    if document["folder"] is None:
        return table(_COLUMNS, [_row(each) for each in rows], screen)
    count = "1 file" if len(rows) == 1 else f"{len(rows)} files"
    return f"{count} written to {in_line(document['folder'])}"


def _row(file: Mapping[str, Any]) -> dict[str, Any]:
    return {**file, "path": in_line(file["path"]), "size": f"{file['size']:,}"}
