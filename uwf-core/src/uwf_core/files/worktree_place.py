"""Whether git finds a worktree where it is: `core.worktree` of a repository can lead it elsewhere.
Then each command in the worktree, of uwf or of an agent, changes another folder.
"""

import os
from contextlib import suppress

from uwf_core.config.repository import find_repository
from uwf_core.files.worktree_git import path_of
from uwf_core.process.git import GitFailed, user_git
from uwf_core.process.path_walk import read_regular

_POINTER = "gitdir: "


def is_worktree(folder: str) -> bool:
    """Whether a folder is still a worktree that its repository lists. Runs no program."""
    found, top = find_repository(folder), os.path.realpath(folder)
    return found is not None and found.top == top and found.common not in (None, f"{top}/.git")


def entry_of(folder: str) -> str:
    """The folder in which git keeps what belongs to a worktree.

    Raises:
        OSError: the worktree does not name it.
    """
    named = os.fsdecode(read_regular(".git", 4096, within=folder))
    if not named.startswith(_POINTER):
        raise OSError(f"{folder}/.git names no folder of git")
    return os.path.join(folder, named.removeprefix(_POINTER).rstrip("\n"))


def check_place(folder: str) -> None:
    """Check that git takes a worktree for the working tree in its folder; if a setting of the
    repository leads git elsewhere, it is overridden for this worktree alone.

    Raises:
        GitFailed: git takes another folder for it.
    """
    try:
        wanted = os.path.realpath(folder), os.path.realpath(entry_of(folder))
    except OSError as error:
        raise GitFailed(f"{folder!r} is not a worktree of git: {error}") from error
    if _named(folder) == wanted:
        return
    config = os.path.join(wanted[1], "config.worktree")
    for name, value in (("core.worktree", wanted[0]), ("core.bare", "false")):
        user_git("/", "config", "--file", config, name, value)
    found = _named(folder)
    if found != wanted:
        top = found and found[0]
        raise GitFailed(
            f"git takes {top or 'no folder'!r} for the working tree in {folder!r}; "
            f"`git -C {folder} config --show-origin core.worktree` shows what leads it there"
        )


def _named(folder: str) -> tuple[str, str] | None:
    """The working tree and the folder of git that git finds in a folder."""
    with suppress(GitFailed):
        top, entry = (path_of(folder, each) for each in ("--show-toplevel", "--absolute-git-dir"))
        return os.path.realpath(top), os.path.realpath(entry)
    return None


def restore_pointer(folder: str, repository: str) -> bool:
    """Write the file `.git` of a worktree again that was deleted; whether that was possible.

    Args:
        folder: of the worktree. repository: a folder in another working tree of its repository.
    """
    pointer = os.path.join(folder, ".git")
    if os.path.lexists(pointer) or not os.path.isdir(folder):
        return False
    try:
        common = path_of(repository, "--git-common-dir")
    except GitFailed:
        return False
    above = os.path.join(common, "worktrees")
    for name in os.listdir(above) if os.path.isdir(above) else ():
        entry = os.path.join(above, name)
        with suppress(OSError):
            named = os.fsdecode(read_regular("gitdir", 4096, within=entry)).rstrip("\n")
            if os.path.realpath(os.path.join(entry, named)) == os.path.realpath(pointer):
                with open(pointer, "wb") as made:
                    made.write(os.fsencode(f"{_POINTER}{entry}\n"))
                return is_worktree(folder)
    return False
