"""Project plugins: single files in `.uwf/plugins/` of a project, found by their names alone.

The folder of a file is its group (`agents` for `uwf.agents`), its stem is its name. The file has
what the module of an installed plugin has; in that of a command, `main` is the click command.
Nothing is imported unless the user trusts the project.
"""

# Read where a project has plugins only, and pathlib is not imported for that:
# ruff: noqa: PTH112, PTH113, PTH116, PTH119, PTH120, PTH208

import os
import stat
import sys
from types import ModuleType
from zlib import crc32

from uwf_core.plugins.scan import COMMANDS, EVAL_TASKS, GROUPS, Distribution, EntryPoint
from uwf_core.process.folders import climb, is_own

FOLDER = ".uwf/plugins"
"""The folder in a project; messages name it in place of a distribution."""
COMMAND = "main"
"""The name of the click command in the file of a command."""
_FOLDERS = [group.removeprefix("uwf.") for group in GROUPS if group != EVAL_TASKS]
_WRITABLE = stat.S_IWOTH


def may_have_plugins(cwd: str) -> bool:
    """Whether a folder from `cwd` upwards may be a project with plugins; a cheap test."""
    return any(os.path.lexists(f"{folder}/{FOLDER}") for folder in climb(cwd))


def scan_project(folder: str, *, trusted: bool) -> list[EntryPoint]:
    """The plugins of the project in `folder`. Those in a folder of an unknown group are broken."""
    top = f"{folder}/{FOLDER}"
    files = [f"{top}/{each}" for each in _names(top)]
    found = []
    for path in files:
        is_folder = os.path.isdir(path)
        group = os.path.basename(path) if is_folder else "?"
        for file in [f"{path}/{each}" for each in _names(path)] if is_folder else [path]:
            if file.endswith(".py"):
                defect = _misplaced(group) or _unsafe(folder, file)
                found.append(_entry(f"uwf.{group}", file, defect, "" if trusted else folder))
    return found


def import_file(file: str, name: str) -> None:
    """Execute a project plugin as the module `name`, unless this process has it already.

    Its byte code is neither read nor written, and the import path does not change.
    """
    if name in sys.modules:
        return
    with open(file, "rb") as stream:
        code = compile(stream.read(), file, "exec", dont_inherit=True)
    module = ModuleType(name)
    module.__file__, module.__package__ = file, ""
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:  # not there, or not a folder
        return []


def _entry(group: str, file: str, defect: str, untrusted: str) -> EntryPoint:
    name = os.path.basename(file).removesuffix(".py")
    # A process may use several projects, so the folder is part of the module's name.
    module = f"uwf_project_{crc32(os.fsencode(file)):08x}.{name}"
    target = f"{module}:{COMMAND}" if group == COMMANDS else module
    found = EntryPoint(group, name, target, Distribution(FOLDER, ""), defect)
    found.file, found.untrusted = file, untrusted
    return found


def _misplaced(group: str) -> str:
    if group in _FOLDERS:
        return ""
    return f"move it into a folder of {FOLDER}: {', '.join(_FOLDERS)}"


def _unsafe(folder: str, file: str) -> str:
    """Why others could choose what this file executes; "" if they cannot."""
    path, top = os.path.realpath(file), os.path.realpath(folder)
    if os.path.commonpath((path, top)) != top:
        return f"it is a link to {path}, outside of the project"
    if not os.path.isfile(path):
        return "it is not a file"
    owner = os.stat(top).st_uid
    while path != top:
        status = os.stat(path)
        if not is_own(path) and status.st_uid != owner:
            return f"{path} belongs to another user"
        if status.st_mode & _WRITABLE:
            return f"every user can write to {path}; next: chmod o-w {path}"
        path = os.path.dirname(path)
    return ""
