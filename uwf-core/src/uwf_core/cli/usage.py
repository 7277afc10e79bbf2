"""`uwf usage`: what threads have used."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.table import Column, table

_COLUMNS = (
    Column("steps", "STEPS", right=True),
    Column("attempts", "ATTEMPTS", right=True, rank=2),
    Column("time", "TIME", right=True, rank=1),
    Column("used", "USED"),
)


def usage_text(document: Mapping[str, Any], screen: Screen) -> str:
    """A row per group, and the total."""
    rows = [_cells(row, row["name"] or "(unknown)") for row in document["rows"]]
    rows.append(_cells(document["total"], "total"))
    columns = (Column("name", document["by"].upper(), least=8), *_COLUMNS)
    lines = [table(columns, rows, screen), f"{document['threads']} {_threads(document['threads'])}"]
    if document["unreadable"]:
        count = document["unreadable"]
        lines.append(f"{count} {_threads(count)} cannot be read; next: uwf cas verify")
    return "\n".join(lines)


def _threads(count: int) -> str:
    return "thread" if count == 1 else "threads"


def _cells(row: Mapping[str, Any], name: str) -> dict[str, str]:
    return {
        "name": name,
        "steps": str(row["steps"]),
        "attempts": str(row["attempts"]),
        "time": amounts.duration(row["durationMs"]),
        "used": amounts.usage(row["usage"]) + (f", {row['asks']} asked" if row["asks"] else ""),
    }
