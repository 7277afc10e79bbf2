"""Plugins as text."""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.cli.render.checks import check_lines
from uwf_core.cli.render.style import Screen


def checked_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`plugin check`: each plugin with its state, capabilities and hint."""
    return "\n".join(line for each in document["plugins"] for line in _lines(each, screen))


def _lines(each: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    state = "ok" if each["status"] == "ready" else "error"
    group = each["group"].removeprefix("uwf.")
    where = f"{group} {each['name']} ({each['distribution']} {each['version']})"
    yield f"{where}: {screen.paint(each['status'], state)}"
    if each["installed"]:
        yield f"  installed: {_installed_text(each['installed'])}"
    if each["summary"]:
        yield f"  {each['summary']}"
    if each["capabilities"]:
        yield f"  can: {', '.join(each['capabilities'])}"
    if each["reason"]:
        yield f"  {each['reason']}"
    if each["hint"]:
        yield f"  hint: {each['hint']}"
    yield from check_lines(each["checks"], screen)


def _installed_text(installed: Mapping[str, Any]) -> str:
    by = f" by {installed['installer']}" if installed["installer"] else ""
    return f"{installed['location']}{by}{', editable' if installed['editable'] else ''}"
