"""Commands of plugins (entry points of `uwf.commands`): found without importing them."""

from collections.abc import Collection
from typing import TYPE_CHECKING, cast

from uwf_core.plugins.scan import COMMANDS, EntryPoint, scan

if TYPE_CHECKING:
    import click

    from uwf_core.cli.session import Session


def plugin_commands(own: Collection[str]) -> dict[str, list[EntryPoint]]:
    """The commands of plugins by name, sorted; without invalid names and those of `own`."""
    commands: dict[str, list[EntryPoint]] = {}
    for found in scan((COMMANDS,)):
        if not found.defect and found.name not in own:
            commands.setdefault(found.name, []).append(found)
    return commands


def summary_of(command: EntryPoint) -> str:
    """The help line of a plugin's command: the summary of its distribution, else its name."""
    summary = "".join(each for each in command.summary if each.isprintable()).strip()
    return summary.rstrip(".") or f"from {command.distribution}"


def load_plugin_command(session: "Session", name: str) -> "click.Command | None":
    """Import the command of that name; None if no plugin has it.

    Raises:
        PluginError: it is blocked, shadowed or incompatible, or two distributions claim it.
        PluginBroken: it cannot be imported, or is not a click command.
    """
    if all(found.name != name for found in scan((COMMANDS,))):
        return None
    command = session.engine.plugins.command(name)
    session.plugin = session.engine.plugins.found(COMMANDS, name)
    return cast("click.Command", command)
