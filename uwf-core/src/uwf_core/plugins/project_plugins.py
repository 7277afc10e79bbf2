"""Project plugins: single files in `.uwf/plugins/` of a project, found by their names alone.

The folder of a file is its group (`agents` for `uwf.agents`), its stem is its name. The file has
what the module of an installed plugin has; in that of a command, `main` is the click command.
Nothing is imported unless the user trusts the project.

A file is checked when it is found and again when it is imported, both by `_opened`: others may have
replaced it meanwhile.
"""

# Read where a project has plugins only, and pathlib is not imported for that:
# ruff: noqa: PTH112, PTH114, PTH119, PTH208

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from zlib import crc32

from uwf_core.plugins.scan import (
    COMMANDS,
    EVAL_TASKS,
    GROUPS,
    OPERATIONS,
    Distribution,
    EntryPoint,
    printable,
)
from uwf_core.process.folders import climb, own_users

FOLDER = ".uwf/plugins"
"""The folder in a project; messages name it in place of a distribution."""
COMMAND = "main"
"""The name of the click command in the file of a command."""
_FOLDERS = [group.removeprefix("uwf.") for group in GROUPS if group not in (EVAL_TASKS, OPERATIONS)]


class UnsafePlugin(Exception):
    """Others could choose what the file of a plugin executes, or it cannot be read."""


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
                defect = _misplaced(group) or _unsafe(file)
                found.append(_entry(f"uwf.{group}", file, defect, "" if trusted else folder))
    return found


def import_file(file: str, name: str) -> None:
    """Execute a project plugin as the module `name`, unless this process has it already.

    Its byte code is neither read nor written, and the import path does not change.

    Raises:
        UnsafePlugin: others could choose what it executes.
    """
    if name in sys.modules:
        return
    with _opened(file) as descriptor, open(descriptor, "rb", closefd=False) as stream:
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
    # Names with line breaks could forge lines of our messages. They are broken, so no one needs
    # their spelling; that of the project's folder is needed to open the file.
    found.group, found.name = printable(group), printable(name)
    project = _project_of(file)
    found.file, found.untrusted = project + printable(file[len(project) :]), printable(untrusted)
    return found


def _misplaced(group: str) -> str:
    if group in _FOLDERS:
        return ""
    return f"move it into a folder of {FOLDER}: {', '.join(_FOLDERS)}"


def _unsafe(file: str) -> str:
    """Why others could choose what this file executes; "" if they cannot."""
    try:
        with _opened(file):
            return ""
    except UnsafePlugin as error:
        return str(error)


@contextmanager
def _opened(file: str) -> Iterator[int]:
    """A descriptor of a plugin's file. Each folder from the project's on is opened beneath the one
    above it, and what was opened is checked: a link is not followed.

    Raises:
        UnsafePlugin: it, or a folder on the way, is a link, writable for every user or of another
            user than this one or the owner of the project's folder; or it cannot be read.
    """
    from uwf_core.process.path_walk import ENTER, open_regular  # for projects with plugins only

    path = _project_of(file)
    *folders, name = file[len(path) + 1 :].split("/")
    with ExitStack() as opened:
        try:
            folder = os.open(path, ENTER & ~os.O_NOFOLLOW)
            opened.callback(os.close, folder)
            users = own_users() | {os.fstat(folder).st_uid}
            for each in folders:
                path = f"{path}/{each}"
                folder = os.open(each, ENTER, dir_fd=folder)
                opened.callback(os.close, folder)
                _check(path, os.fstat(folder), users)
            path = file
            descriptor, status = open_regular(folder, name)
        except OSError as error:
            raise UnsafePlugin(_unreadable(path, error)) from error
        opened.callback(os.close, descriptor)
        _check(path, status, users)
        yield descriptor


def _check(path: str, status: os.stat_result, users: set[int]) -> None:
    if status.st_uid not in users:
        raise UnsafePlugin(f"{printable(path)} belongs to another user")
    if status.st_mode & stat.S_IWOTH:
        path = printable(path)
        raise UnsafePlugin(f"every user can write to {path}; next: chmod o-w {path}")


def _unreadable(path: str, error: OSError) -> str:
    if os.path.islink(path):
        return f"{printable(path)} is a symbolic link; replace it by what it leads to"
    return f"{printable(path)} cannot be read: {error.strerror}"


def _project_of(file: str) -> str:
    return file.rpartition(f"/{FOLDER}/")[0]
