"""Where a step may work: an output can name any folder, and most are none of its business."""

import os
from collections.abc import Sequence
from pathlib import Path

from uwf_core.config.repository import is_same_repository
from uwf_core.errors import RoutingFailed, UsageError

_GIT = ".git"


def named_folder(cwd: str, folder: str) -> str:
    """The folder that `--cwd` names, absolute; `cwd` is the caller's.

    Raises:
        UsageError: it does not exist, or cannot be stored.
    """
    path = Path(cwd, folder)
    if not path.is_dir():
        raise UsageError(f"the folder {str(path)!r} does not exist", hint="--cwd names a folder")
    absolute = os.path.normpath(path)
    try:
        absolute.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"the folder {absolute!r} has a name that is no UTF-8", hint="rename it"
        ) from error
    return absolute


def moved_folder(folder: str, old: str, new: str) -> str:
    """Where `folder` is in a call that replaces the thread's folder `old` by `new`: below the new
    one if it is below the old one, else where it was.
    """
    path = Path(folder)  # `..` as it is: a location beside the old folder is one beside the new one
    return str(Path(new, path.relative_to(old))) if path.is_relative_to(old) else folder


def working_folder(folder: str, thread_folder: str, allowed: Sequence[str]) -> str:
    """The working folder of a step: the thread's own as it is; any other without links, so that the
    folder which was checked is the one that is used.

    Args:
        folder: what is asked for, absolute.
        thread_folder: the thread's folder.
        allowed: folders that the user allows besides.

    Raises:
        RoutingFailed: there is no such folder, or it is neither in the thread's folder, nor in a
            worktree of the same repository, nor in one that is allowed; or it is git's own.
    """
    own, real = Path(thread_folder).resolve(), Path(folder).resolve()
    if not real.is_dir():
        raise RoutingFailed(
            f"the working folder {folder!r} does not exist",
            hint="create it or change the edge's location, then repeat the command; "
            "--cwd DIR replaces the thread's folder for one call",
        )
    if real == own:
        return thread_folder
    if any(part.casefold() == _GIT for part in real.parts):
        raise RoutingFailed(
            f"the location {folder!r} lies in a .git folder, in which only git may work",
            hint="change the edge's location or what the role answered",
        )
    roots = (own, *(Path(each).resolve() for each in allowed))
    if not any(real.is_relative_to(root) for root in roots):
        _check_repository(real, own)
    return str(real)


def _check_repository(real: Path, own: Path) -> None:
    if not is_same_repository(str(real), str(own)):
        raise RoutingFailed(
            f"the location {str(real)!r} is not allowed: it lies neither in the thread's folder "
            f"{str(own)!r} nor in a worktree of the same git repository",
            hint="name a folder above it in allowedFolders of your configuration (uwf config set "
            "allowedFolders '[DIR]') if roles may work there, then repeat the command",
        )
