"""Find the git repository of a folder without running a program or obeying a setting of the
folder. A worktree counts only if its repository lists it.
"""

# Read by every step: pathlib is not imported for that.
# ruff: noqa: PTH118, PTH120

import os
import stat
from typing import NamedTuple

from uwf_core.process.path_walk import read_regular

_POINTER_BYTES = 4096
_GIT = ".git"


class Repository(NamedTuple):
    """The working tree that a folder lies in: its top folder (a real path), and the folder that all
    worktrees of the repository share; None if nothing proves that it belongs to one.
    """

    top: str
    common: str | None


def find_repository(folder: str) -> Repository | None:
    """The repository of `folder`; None if neither it nor a folder above it has `.git`."""
    top = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(top, _GIT)):
        above = os.path.dirname(top)
        if above == top:
            return None
        top = above
    return Repository(top, _common_folder(top))


def is_same_repository(one: str, other: str) -> bool:
    """Whether two folders lie in the same working tree, or in worktrees of one repository."""
    first, second = find_repository(one), find_repository(other)
    if first is None or second is None:
        return False
    shared = first.common is not None and first.common == second.common
    return shared or first.top == second.top


def _common_folder(top: str) -> str | None:
    """The shared folder: `.git` itself, or that of the repository which lists `top` as a worktree.

    Anyone can write a `.git` file that points into your repository, or link to its `.git`: neither
    makes a folder a part of it.
    """
    entry = os.path.join(top, _GIT)
    try:
        mode = os.lstat(entry).st_mode
        if not stat.S_ISREG(mode):
            return entry if stat.S_ISDIR(mode) else None
        line = _pointer(entry)
        own = os.path.realpath(os.path.join(top, line.removeprefix("gitdir:").strip()))
        back = os.path.realpath(os.path.join(own, _pointer(os.path.join(own, "gitdir"))))
    except OSError:
        return None
    common, name = os.path.split(os.path.dirname(own))
    return common if name == "worktrees" and back == entry else None


def _pointer(file: str) -> str:
    """The path in one of git's small files."""
    data = read_regular(file, _POINTER_BYTES, within=os.path.dirname(file), cut=True)
    return os.fsdecode(data).strip()
