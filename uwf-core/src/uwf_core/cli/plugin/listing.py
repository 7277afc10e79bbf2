"""`uwf plugin list`."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session


@command("list", "uwf plugin list", "uwf plugin list --all")
@click.option(
    "--all",
    "all_",
    is_flag=True,
    help="Also list built-in stores and entry points of unknown groups.",
)
def list_(session: Session, all_: bool) -> None:
    """List all plugins with distribution, version, status and reason; loads none."""
    plugins = session.engine.plugins
    listed = [each.document() for each in plugins.list()]
    if all_:
        listed += [_of_the_house(name) for name in _house()]
        listed += [each.document() for each in plugins.unknown_groups()]
    session.emit({"plugins": listed}, _plugins_text)


def _house() -> list[str]:
    from uwf_core.stores.open import HOUSE

    return [spec.name for spec in HOUSE]


def _of_the_house(name: str) -> dict[str, Any]:
    from uwf_core import __version__
    from uwf_core.plugins.plugins import Plugin, Status
    from uwf_core.plugins.scan import CORE, STORES, Distribution, EntryPoint

    found = EntryPoint(STORES, name, "", Distribution(CORE, __version__, ()))
    return Plugin(found, Status.READY, "").document()


def _plugins_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.table import Column, table

    columns = [
        Column("group", "GROUP", least=8, rank=3),
        Column("name", "NAME", least=14),
        Column("status", "STATUS", status=True),
        Column("distribution", "DISTRIBUTION", least=8, rank=2),
        Column("version", "VERSION", rank=4),
    ]
    if any(each["reason"] for each in document["plugins"]):
        columns.append(Column("reason", "REASON", least=10, rank=1))
    rows = [{**each, "reason": each["reason"] or ""} for each in document["plugins"]]
    if not rows:
        return "no plugins"
    lines = table(columns, rows, screen)
    if all(each["status"] == "ready" for each in rows):
        return lines
    return f"{lines}\nnext: uwf plugin check NAME"
