"""Commands that other distributions add (entry points of `uwf.commands`): found, not imported."""

from collections.abc import Collection
from typing import TYPE_CHECKING, cast

from uwf_core.plugins.scan import COMMANDS, Found, scan

if TYPE_CHECKING:
    import click

    from uwf_core.cli.session import Session


def foreign_commands(own: Collection[str]) -> dict[str, list[Found]]:
    """Who brings which name, sorted; names that uwf has itself are ignored."""
    commands: dict[str, list[Found]] = {}
    for found in scan((COMMANDS,)):
        if found.name not in own:
            commands.setdefault(found.name, []).append(found)
    return commands


def load_foreign(session: "Session", name: str) -> "click.Command | None":
    """The command of that name, imported; None if nobody brings it.

    Raises:
        PluginError: it is blocked, does not fit, or two distributions claim it.
        PluginBroken: it cannot be imported, or is no click command.
    """
    if name not in foreign_commands(()):
        return None
    return cast("click.Command", session.engine.plugins.command(name))
