"""`uwf step files`: the files that a step delivered."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.table import Column, table
from uwf_core.escape import in_line

_COLUMNS = (
    Column("path", "PATH", least=12),
    Column("size", "BYTES", right=True),
    Column("mode", "MODE", rank=1),
    Column("file", "NODE"),
)


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
