"""Whose folder is it? What somebody else put in our way is not taken without a word."""

# Every command that reads settings comes through here, and pathlib is not imported for that.
# ruff: noqa: PTH116

import os

from uwf_core.errors import ConfigError


def is_own(path: str) -> bool:
    """Whether a file or folder, and where it is a link also what it leads to, belongs to the user.

    As git has it: root also takes what belongs to the user that called sudo. What is not there
    belongs to nobody else.
    """
    try:
        owners = {os.lstat(path).st_uid, os.stat(path).st_uid}
    except OSError:
        return True
    return owners <= _users()


def foreign_error(path: str, project: str) -> ConfigError:
    """The error about a path of another owner in the folder of a project."""
    return ConfigError(
        f"{path} belongs to another user, who could choose what uwf runs for you",
        where=path,
        hint=f"if you trust what is there: uwf config trust {project}",
    )


def _users() -> set[int]:
    user = os.geteuid()
    sudo = os.environ.get("SUDO_UID", "")
    if user == 0 and sudo.isascii() and sudo.isdecimal():
        return {user, int(sudo)}
    return {user}
