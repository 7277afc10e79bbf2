"""The folders of a project: the way up to its top, and their owners: files of other users need the
user's trust.
"""

# Every command that reads settings comes through here, and pathlib is not imported for that:
# ruff: noqa: PTH100, PTH116, PTH118, PTH120

import os
from collections.abc import Iterator

from uwf_core.errors import ConfigError


def climb(cwd: str) -> Iterator[str]:
    """`cwd` and the folders above it, up to the first that holds `.git` (a folder, or the file of
    a worktree).
    """
    folder = os.path.abspath(cwd)
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder or os.path.lexists(os.path.join(folder, ".git")):
            return
        folder = above


def is_own(path: str) -> bool:
    """Whether a file or folder, and the target if it is a link, belongs to the user.

    As in git, root also accepts files of the user that called sudo. A missing file
    belongs to no other user.
    """
    try:
        owners = {os.lstat(path).st_uid, os.stat(path).st_uid}
    except OSError:
        return True
    return owners <= _users()


def foreign_error(path: str, project: str) -> ConfigError:
    """The error about a path of another owner in the folder of a project."""
    return ConfigError(
        f"{path} belongs to another user, who could change what uwf runs",
        where=path,
        hint=f"if you trust what is there: uwf config trust {project}",
    )


def _users() -> set[int]:
    user = os.geteuid()
    sudo = os.environ.get("SUDO_UID", "")
    if user == 0 and sudo.isascii() and sudo.isdecimal():
        return {user, int(sudo)}
    return {user}
