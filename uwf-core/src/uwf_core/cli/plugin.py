"""`uwf plugin list`."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session


@command("list", "uwf plugin list")
def list_(session: Session) -> None:
    """List all plugins with distribution, version, status and reason. Loads none of them."""
    document = {"plugins": [each.document() for each in session.engine.plugins.list()]}
    session.emit(document, _plugins_text)


def _plugins_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.table import Column, table

    columns = (
        Column("group", "GROUP", least=8, rank=3),
        Column("name", "NAME", least=8),
        Column("status", "STATUS", status=True),
        Column("distribution", "DISTRIBUTION", least=8, rank=2),
        Column("version", "VERSION", rank=4),
        Column("reason", "REASON", least=10, rank=1),
    )
    rows = [{**each, "reason": each["reason"] or ""} for each in document["plugins"]]
    return table(columns, rows, screen) if rows else "no plugins"
