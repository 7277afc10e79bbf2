"""list_files: a folder, or the files that fit a pattern."""

import os
import stat

from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.tools.ignore import glob_expression
from uwf_agent_builtin.tools.record import Arguments, BuiltinTool, CallContext, parameters
from uwf_agent_builtin.tools.walk import files_below

LISTED = 1000
FOUND = 500


def list_files(arguments: Arguments, context: CallContext) -> str:
    """The entries of a folder, or the files in it and below whose path fits a pattern."""
    path, pattern = arguments.get("path", "."), arguments.get("pattern")
    return _entries(path, context) if pattern is None else _fitting(pattern, path, context)


def _entries(folder: str, context: CallContext) -> str:
    """One a line: `name/`, `name -> target`, `name  bytes`."""
    with context.workspace.open_folder(folder) as (descriptor, path):
        names = sorted(os.listdir(descriptor))  # noqa: PTH208 (a descriptor)
        lines = [_line(descriptor, name) for name in names[:LISTED]]
    if not lines:
        return f"[{path} is empty]"
    if len(names) > LISTED:
        lines.append(f"[… {len(names) - LISTED} more]")
    return "\n".join(lines)


def _line(folder: int, name: str) -> str:
    shown = name if name.isprintable() else ascii(name)
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            return f"{shown} -> {os.readlink(name, dir_fd=folder)}"
    except OSError:
        return f"{shown}  [gone]"
    if stat.S_ISDIR(status.st_mode):
        return f"{shown}/"
    return f"{shown}  {status.st_size}"


def _fitting(pattern: str, path: str, context: CallContext) -> str:
    """Paths, one a line; a pattern without `/` fits names at any depth."""
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise ToolError("the pattern is relative to `path` and cannot leave it")
    expression = glob_expression(pattern if "/" in pattern else f"**/{pattern}")
    found, more = list[str](), 0
    cut: int | None = None
    for entry in files_below(context.workspace, path):
        if context.call.cancel.is_set():
            raise ToolError("cancelled")
        if cut is None:
            cut = _depth_of(context, path)
        if expression.match(entry.path[cut:]):
            more += len(found) >= FOUND
            if len(found) < FOUND:
                found.append(entry.path)
    if not found:
        return "[no file fits; what .gitignore names is not looked at]"
    return "\n".join([*found, *([f"[… {more} more]"] if more else [])])


def _depth_of(context: CallContext, path: str) -> int:
    """How many characters of a found path name the folder that was searched."""
    with context.workspace.open_folder(path) as (_, inner):
        return 0 if inner == "." else len(inner) + 1


LIST_FILES = BuiltinTool(
    "list_files",
    "List a folder, or find files by a pattern such as `src/**/*.py`, without what .gitignore "
    "names.",
    parameters((), path={"type": "string"}, pattern={"type": "string"}),
    list_files,
)
