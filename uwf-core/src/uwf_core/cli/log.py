"""The log of past commands as people read it."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen


def entries_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`log list`."""
    from uwf_core.cli.render.amounts import duration, moment
    from uwf_core.cli.render.table import Column, table

    columns = (
        Column("id", "ENTRY"),
        Column("when", "WHEN", rank=3),
        Column("exitCode", "EXIT", right=True),
        Column("took", "TOOK", rank=4, right=True),
        Column("words", "COMMAND", least=10),
    )
    rows = [
        {
            **each,
            "when": moment(each["atMs"]),
            "took": duration(each["durationMs"]),
            "words": "uwf " + " ".join(each["command"]),
        }
        for each in document["entries"]
    ]
    return table(columns, rows, screen) if rows else "the log is empty"


def entry_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`log show`."""
    from uwf_core.cli.render.amounts import duration, moment
    from uwf_core.cli.render.table import fields

    error = document["error"] or {}
    text = fields(
        [
            ("entry", document["id"]),
            ("when", moment(document["atMs"])),
            ("command", "uwf " + " ".join(document["command"])),
            ("folder", document["cwd"]),
            ("thread", document["thread"]),
            ("exit code", str(document["exitCode"])),
            ("took", duration(document["durationMs"])),
            ("error", f"{error['code']}: {error['message']}" if error else None),
            ("where", error.get("where")),
            ("hint", error.get("hint")),
        ],
        screen,
    )
    return f"{text}\n\n{document['traceback']}" if document.get("traceback") else text
