"""Commands of plugins (entry points of `uwf.commands`): found without importing them."""

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from uwf_core.cli.command_source import help_in
from uwf_core.cli.session import working_folder
from uwf_core.errors import UwfError
from uwf_core.operations.plugin_rows import group_at
from uwf_core.plugins.project_plugins import may_have_plugins, scan_project
from uwf_core.plugins.scan import COMMANDS, EntryPoint, scan
from uwf_core.process.path_walk import ANYWHERE, read_regular

if TYPE_CHECKING:
    import click

    from uwf_core.cli.session import Session


def plugin_commands(
    own: Collection[str], installed: Sequence[EntryPoint] | None = None
) -> dict[str, list[EntryPoint]]:
    """The commands of plugins by name, sorted; none is invalid, untrusted or one of `own`.
    `installed` are the entry points, if they have been scanned.
    """
    commands: dict[str, list[EntryPoint]] = {}
    for found in _commands(scan((COMMANDS,)) if installed is None else installed):
        if not found.defect and not found.untrusted and found.name not in own:
            commands.setdefault(found.name, []).append(found)
    return dict(sorted(commands.items()))


def _commands(installed: Sequence[EntryPoint]) -> list[EntryPoint]:
    """The commands of installed plugins and of the project's; the configuration is not read, since
    help needs none.
    """
    found = [each for each in installed if each.group == COMMANDS]
    with suppress(UwfError):  # every command that reads the configuration reports it
        cwd = working_folder()
        if may_have_plugins(cwd):
            from uwf_core.config.home import find_home
            from uwf_core.config.trust import find_project

            project = find_project(find_home(os.environ), cwd, os.environ)
            if project is not None:
                of_project = scan_project(project.folder, trusted=project.trusted)
                found += [each for each in of_project if each.group == COMMANDS]
    return found


def help_line(command: EntryPoint) -> str:
    """The help of its group in a table, the first line of a command's own help, or `summary_of`;
    nothing is imported for it.
    """
    if group := group_at(command):
        return group.help
    module, _, attribute = command.target.partition(":")
    file = command.file or _file_of(module)
    try:
        found = help_in(read_regular(file, within=ANYWHERE), attribute) if file else ""
    except (OSError, SyntaxError, ValueError, RecursionError):
        found = ""
    line = "".join(each for each in found.strip().partition("\n")[0] if each.isprintable())
    return line.strip().rstrip(".") or summary_of(command)


def _file_of(module: str) -> str | None:
    """The file of a module; a package is found without importing it."""
    from importlib.machinery import PathFinder

    top, *inner = module.split(".")
    spec = PathFinder.find_spec(top)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    places = ["/".join([each, *inner]) for each in folders]
    files = [f"{place}{end}" for place in places for end in (".py", "/__init__.py")]
    files += [spec.origin] if spec is not None and spec.origin and not inner else []
    return next((each for each in files if os.path.isfile(each)), None)  # noqa: PTH113


def summary_of(command: EntryPoint) -> str:
    """A line about a plugin: the summary of its distribution, else its origin."""
    summary = "".join(each for each in command.summary if each.isprintable()).strip()
    origin = command.origin if command.file else command.distribution
    return summary.rstrip(".") or f"from {origin}"


def load_plugin_command(
    session: "Session", name: str, installed: Sequence[EntryPoint]
) -> "click.Command | None":
    """Import the command of that name; None if no plugin has it.

    Raises:
        PluginError: it is blocked, untrusted, shadowed, incompatible, or claimed twice.
        PluginBroken: it cannot be imported, or is not a click command.
    """
    if all(found.name != name for found in _commands(installed)):
        return None
    session.engine.installed = installed
    command = session.engine.plugins.command(name)
    session.plugin = session.engine.plugins.found(COMMANDS, name)
    return cast("click.Command", command)
