"""`uwf agent list` and `uwf agent check`."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.findings import check_lines
from uwf_core.cli.render.table import Column, table
from uwf_core.plugins.scan import origin_of


def agents_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The rows of `agent list`."""
    columns = [
        Column("shown", "AGENT", least=8),
        Column("status", "STATUS", status=True),
        Column("from", "FROM", least=8, rank=1),
    ]
    if any(each["reason"] for each in document["agents"]):
        columns.append(Column("reason", "REASON", below=True))
    rows = [
        {
            **each,
            "shown": each["name"] + (" (default)" if each["default"] else ""),
            "from": each["use"] or origin_of(each["distribution"], each["version"]),
            "reason": each["reason"],
        }
        for each in document["agents"]
    ]
    return table(columns, rows, screen)


def readiness_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`agent check`."""
    word = "ready" if document["ready"] else "not ready"
    lines = [f"{document['agent']}: {screen.paint(word, 'ok' if document['ready'] else 'error')}"]
    if document["capabilities"]:
        lines.append(f"  can: {', '.join(document['capabilities'])}")
    if document["reason"]:
        lines.append(f"  {document['reason']}")
    if document["hint"]:
        lines.append(f"  hint: {document['hint']}")
    return "\n".join([*lines, *check_lines(document["checks"], screen)])
