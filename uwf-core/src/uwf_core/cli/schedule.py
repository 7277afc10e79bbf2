"""`uwf schedule`: how a schedule is shown."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.amounts import moment
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.table import Column, table

_COLUMNS = (
    Column("name", "name"),
    Column("cron", "cron"),
    Column("timeZone", "time zone", rank=3),
    Column("state", "state"),
    Column("next", "next"),
    Column("workflow", "workflow", rank=2),
    Column("thread", "last thread", rank=4),
)
_SKIPPED = {
    "missed": "the last time was missed: nobody looked",
    "overlap": "the last time was skipped: the thread before is open",
}


def one_text(document: Mapping[str, Any], screen: Screen) -> str:
    """A schedule."""
    return schedules_text({"schedules": [document]}, screen)


def schedules_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`schedule list`."""
    if not document["schedules"]:
        return "no schedules; next: uwf schedule add --help"
    rows = [
        {**each, "next": moment(each["nextAtMs"]) if each["nextAtMs"] else ""}
        for each in document["schedules"]
    ]
    lines = [table(_COLUMNS, rows, screen)]
    for each in document["schedules"]:
        if each["error"]:
            lines.append(screen.paint(f"{each['name']}: {each['error']}", "error"))
        elif each["skipped"]:
            lines.append(f"{each['name']}: {_SKIPPED.get(each['skipped'], each['skipped'])}")
        if each["waiting"]:
            lines.append(f"{each['name']}: {each['waiting']} wait for the end of {each['thread']}")
    return "\n".join(lines)
