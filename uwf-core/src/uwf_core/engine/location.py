"""The working folder of a step: an output can name any folder, so most are rejected."""

# Loaded by every step: pathlib is not imported for that.
# ruff: noqa: PTH112, PTH118, PTH206

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from uwf_core.errors import RoutingFailed, UsageError
from uwf_core.process.folders import is_utf8

if TYPE_CHECKING:
    from uwf_core.engine.context import Run
    from uwf_core.engine.engine import Engine

_GIT = ".git"


def named_folder(cwd: str, folder: str) -> str:
    """The folder that `--cwd` names, absolute; `cwd` is the caller's.

    Raises:
        UsageError: it does not exist, or cannot be stored.
    """
    from pathlib import Path

    path = Path(cwd, folder)
    if not path.is_dir():
        raise UsageError(f"the folder {str(path)!r} does not exist", hint="use --cwd DIR")
    absolute = os.path.normpath(path)
    if not is_utf8(absolute):
        raise UsageError(f"the name of the folder {absolute!r} is not UTF-8", hint="rename it")
    return absolute


def moved_folder(folder: str, old: str, new: str) -> str:
    """The place of `folder` if `new` replaces the thread's folder `old`: below the new one if it is
    below the old one, else unchanged.
    """
    from pathlib import Path

    path = Path(folder)  # `..` as it is: a location beside the old folder is one beside the new one
    return str(Path(new, path.relative_to(old))) if path.is_relative_to(old) else folder


def folder_in_run(run: "Run", folder: str) -> str:
    """The working folder that a run has in place of one of its thread.

    Raises:
        RoutingFailed: it is missing or not allowed.
    """
    moved = folder if run.cwd is None else moved_folder(folder, run.head.state.cwd, run.cwd)
    return working_folder(moved, run.folder, run.engine.settings.allowed_folders)


def lasting_folder(run: "Run", folder: str) -> str:
    """The folder of the thread that a run replaces: `--cwd` is for one command, a call for many."""
    return folder if run.cwd is None else moved_folder(folder, run.cwd, run.head.state.cwd)


def working_folder(folder: str, thread_folder: str, allowed: Sequence[str]) -> str:
    """The working folder of a step: the thread's unchanged, any other without links, so that the
    checked folder is the one that is used.

    Args:
        folder: the wanted folder, absolute.
        thread_folder: the thread's folder.
        allowed: `allowedFolders` of the configuration.

    Raises:
        RoutingFailed: it does not exist, is a folder of git, or is outside of the thread's folder,
            the worktrees of its repository and `allowed`.
    """
    if folder == thread_folder and os.path.isdir(folder):
        return thread_folder
    own, real = os.path.realpath(thread_folder), os.path.realpath(folder)
    if not os.path.isdir(real):
        raise RoutingFailed(
            f"the working folder {folder!r} does not exist",
            hint="create it or change the edge's location, then repeat the command; "
            "--cwd DIR replaces the thread's folder for one call",
        )
    if real == own:
        return thread_folder
    if any(part.casefold() == _GIT for part in real.split(os.sep)):
        raise RoutingFailed(
            f"the location {folder!r} is in a .git folder, which belongs to git",
            hint="change the edge's location or the role's output",
        )
    if not _is_inside(real, (own, *allowed)):
        _check_repository(real, own)
    return real


def named_place(engine: "Engine", word: str, what: str) -> str:
    """A path that somebody names who may name only what is in the engine's folder and in
    `allowedFolders`: absolute and without links. `what` it is, for messages.

    Raises:
        UsageError: it is outside, or is not a path.
    """
    try:
        real = os.path.realpath(os.path.join(engine.cwd, word))
    except ValueError as error:  # a zero byte
        raise UsageError(f"the {what} {word!r} is not a path", hint="correct it") from error
    if not _is_inside(real, (engine.cwd, *engine.settings.allowed_folders)):
        raise UsageError(
            f"the {what} {word!r} is outside of this server's folder {engine.cwd!r}",
            hint="name one inside; a person can start the server in another folder, or add one to "
            "allowedFolders of the configuration",
        )
    return real


def _is_inside(real: str, folders: Iterable[str]) -> bool:
    """Whether a path without links is in one of these folders."""
    roots = map(os.path.realpath, folders)
    return any(os.path.commonpath((real, root)) == root for root in roots)


def _check_repository(real: str, own: str) -> None:
    from uwf_core.config.repository import is_same_repository  # not for every step

    if not is_same_repository(real, own):
        raise RoutingFailed(
            f"the location {real!r} is not allowed: it is neither in the thread's folder "
            f"{own!r} nor in a worktree of the same git repository",
            hint="name a folder above it in allowedFolders of your configuration (uwf config set "
            "allowedFolders '[DIR]') if roles may work there, then repeat the command",
        )


def folder_of_edge(cwd: str, location: str | None) -> str:
    """`location` as seen from the thread's folder, which it is without one."""
    if not location:
        return cwd
    from pathlib import Path  # not for every step

    return str(Path(cwd, location))
