"""Git for the worktrees of threads: the user's own, quiet."""

import os
from collections.abc import Mapping
from typing import Final, Unpack

from uwf_core.files.hazards import check_before_git
from uwf_core.process.git import NO_ENV, GitFailed, GitOptions, user_git

_QUIET: Final = (
    *("-c", "core.safecrlf=false", "-c", "core.splitIndex=false"),
    *("-c", "core.untrackedCache=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
    *("-c", "worktree.useRelativePaths=false"),
)
_WALKS: Final = frozenset(("status", "add", "--others"))
"""By these words, git looks into the folders of the working tree."""
NO_LOCKS: Final = {"GIT_OPTIONAL_LOCKS": "0"}
"""Else a command that only reads may refresh an index of the user."""


def git(folder: str, *words: str, **options: Unpack[GitOptions]) -> bytes:
    """The output of a git command in a working tree of the user.

    Raises:
        GitFailed: it failed, or would not end.
    """
    if not _WALKS.isdisjoint(words):
        check_before_git(folder)
    return user_git(folder, *_QUIET, *words, **options)


def lines(folder: str, *words: str, env: Mapping[str, str] = NO_ENV) -> list[str]:
    """The lines of the output."""
    return [os.fsdecode(each) for each in git(folder, *words, env=env).splitlines()]


def path_of(folder: str, *words: str) -> str:
    """A path that `git rev-parse` prints. Line breaks are a part of it."""
    said = git(folder, "rev-parse", "--path-format=absolute", *words)
    return os.fsdecode(said.removesuffix(b"\n"))


def optional(folder: str, *words: str) -> str | None:
    """The first line of the output; None if the command fails, which may just mean no."""
    try:
        return next(iter(lines(folder, *words)), None)
    except GitFailed:
        return None


def names(folder: str, *words: str, env: Mapping[str, str] = NO_ENV) -> list[bytes]:
    """The parts of the output that a NUL ends."""
    return [each for each in git(folder, *words, env=env).split(b"\0") if each]
