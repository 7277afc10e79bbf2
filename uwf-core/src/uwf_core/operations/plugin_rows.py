"""The operations of other distributions (entry points of `uwf.operations`).

The value of an entry point is a package; its operations are those of the data file in its folder.
Help, completion and lists read that file, and import no plugin.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.machinery import PathFinder
from typing import Any

from uwf_core.operations.rows import Entry, Noun, add_commands, own_commands, own_rows, rows_in
from uwf_core.plugins.scan import OPERATIONS, EntryPoint, scan


def plugin_data(installed: Sequence[EntryPoint] | None = None) -> Mapping[str, Mapping[str, Any]]:
    """The data files of plugins by the names of their entry points; `installed` are these, if they
    have been scanned. One that cannot be read is left out; `uwf plugin check` reports it.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for each in scan((OPERATIONS,)) if installed is None else installed:
        if each.group == OPERATIONS and not each.defect:
            with suppress(OSError, ValueError, LookupError):
                found.setdefault(each.name, rows_in(folder_of(each.target)))
    return found


def every_command(installed: Sequence[EntryPoint] | None = None) -> Noun:
    """The commands of uwf itself and those that the tables of plugins add."""
    root = own_commands()
    for name, data in plugin_data(installed).items():
        add_commands(root.rows, data, name)
    return root


def group_of(package: str, name: str) -> Noun:
    """The group of commands that a plugin's table declares under `name`. Its operations are those
    below `name`, or all if no path begins with it.

    Raises:
        OSError, ValueError: the table cannot be read. LookupError: it has no such group.
    """
    data = rows_in(folder_of(package))
    if name not in data["groups"]:
        raise LookupError(f"the table of {package} has no group {name!r}")
    rows: dict[str, Entry] = {}
    add_commands(rows, data)
    own = rows.get(name)
    return Noun(data["groups"][name], own.rows if isinstance(own, Noun) else rows, package)


def group_at(command: EntryPoint) -> Noun | None:
    """The group that the entry point of a command names, without importing it; None for others."""
    with suppress(OSError, ValueError, LookupError):
        return group_of(command.target.partition(":")[0].partition(".")[0], command.name)
    return None


def tool_rows() -> Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """The tools for models, by name: the row of each operation that is one, with its `path`, and
    of the tool.
    """
    rows = [
        {**row, "path": path}
        for data in (own_rows(), *plugin_data().values())
        for path, row in data["operations"].items()
    ]
    found = [(row, tool) for row in rows for tool in row.get("tools", ())]
    return sorted(found, key=lambda each: str(each[1]["name"]))


def plugin_operations(
    path: Sequence[str] = (), installed: Sequence[EntryPoint] | None = None
) -> Mapping[str, Entry]:
    """The commands that plugins add to a group, by name."""
    rows: dict[str, Entry] = {}
    for name, data in plugin_data(installed).items():
        add_commands(rows, data, name)
    for group in path:
        noun = rows.get(group)
        rows = noun.rows if isinstance(noun, Noun) else {}
    return rows


def folder_of(package: str) -> str:
    """The folder of a package, which is not imported.

    Raises:
        LookupError: it is not there.
    """
    top, *inner = package.split(".")
    spec = PathFinder.find_spec(top)
    places = [] if spec is None else [*(spec.submodule_search_locations or ())]
    return "/".join([places[0], *inner])
