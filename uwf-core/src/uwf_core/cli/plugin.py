"""Plugins as people read them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.findings import check_lines
from uwf_core.plugins.scan import origin_of, printable


def plugins_text(document: Mapping[str, Any], screen: Screen, hooks: bool) -> str:
    """`plugin list`."""
    if not hooks:
        return _plugins_text(document, screen)
    rows = [{**each, "summary": None} for each in document["plugins"]]
    return f"{checked_text({'plugins': rows}, screen)}{_next(rows)}"


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
    rows = [
        {**each, "name": visible(each["name"]), "reason": each["reason"] or ""}
        for each in document["plugins"]
    ]
    if not rows:
        return "no plugins"
    return f"{table(columns, rows, screen)}{_next(rows)}"


def _next(rows: Sequence[Mapping[str, Any]]) -> str:
    ready = all(each["status"] == "ready" for each in rows)
    return "" if ready else "\nnext: uwf plugin check NAME"


def visible(name: str) -> str:
    """A plugin's name, with what a terminal would not show escaped."""
    return name if name.isascii() and name.isprintable() else ascii(name)


def checked_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`plugin check`: each plugin with its state, capabilities, hooks and hint."""
    return "\n".join(line for each in document["plugins"] for line in _checked_lines(each, screen))


def _checked_lines(each: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    from uwf_core.escape import one_line

    state = "ok" if each["status"] == "ready" else "error"
    group = each["group"].removeprefix("uwf.")
    origin = printable(each["file"] or origin_of(each["distribution"], each["version"]))
    yield f"{group} {each['name']} ({origin}): {screen.paint(each['status'], state)}"
    if each.get("installed"):
        yield f"  installed: {_installed_text(each['installed'])}"
    if each["summary"]:
        yield f"  {one_line(each['summary'])}"
    if each.get("capabilities"):
        yield f"  can: {', '.join(each['capabilities'])}"
    if each["hooks"]:
        yield f"  hooks: {', '.join(each['hooks'])}"
    if each["reason"]:
        yield f"  {each['reason']}"
    if each.get("hint"):
        yield f"  hint: {each['hint']}"
    yield from check_lines(each.get("checks", ()), screen)


def _installed_text(installed: Mapping[str, Any]) -> str:
    by = f" by {installed['installer']}" if installed["installer"] else ""
    return f"{installed['location']}{by}{', editable' if installed['editable'] else ''}"
