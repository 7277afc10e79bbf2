"""What the user's git says about a folder: its commit, which files to ignore, which it tracks.

Only queries: nothing here writes to the user's `.git`.
"""

import os
from functools import lru_cache
from typing import Final, NamedTuple

from uwf_core.files.paths import place_in
from uwf_core.process.git import ask_git, user_git
from uwf_core.process.path_walk import ANYWHERE, read_regular

_ANY_OWNER: Final = ("-c", "safe.directory=*")
_MOST_BYTES: Final = 10_000_000
_READ_ONLY: Final = {"GIT_OPTIONAL_LOCKS": "0"}


class UserTree(NamedTuple):
    """A git working tree of the user: its top folder, its index, its rules in `info/exclude`, and
    the commit at which it is, if there is one yet.
    """

    top: str
    index_file: str
    exclude: str
    commit: str | None = None


class UserRules(NamedTuple):
    """The rules of a folder.

    Attributes:
        folder: the folder.
        ignore_files: the files with rules outside the tree, weakest first.
        tree: the working tree of which it is the top; None for any other folder.
    """

    folder: str
    ignore_files: tuple[str, ...]
    tree: UserTree | None

    def ignore_text(self) -> bytes:
        """The rules outside the tree, in the format of a `.gitignore`.

        Raises:
            OSError: a file cannot be read.
        """
        return b"".join(_content(file) + b"\n" for file in self.ignore_files)

    def index_stamp(self) -> str:
        """A text that differs when the index of the user's repository was written."""
        if self.tree is None:
            return ""
        try:
            found = os.stat(self.tree.index_file)
        except FileNotFoundError:
            return "none"
        return f"{found.st_mtime_ns} {found.st_size} {found.st_ino}"

    def tracked_though_ignored(self) -> list[bytes]:
        """The paths that the user's repository tracks although they are ignored.

        Raises:
            GitFailed: git cannot read the repository.
        """
        if self.tree is None:
            return []
        words = ("ls-files", "-z", "-c", "-i", "--exclude-standard")
        listed = user_git(self.folder, *_ANY_OWNER, *words, env=_READ_ONLY)
        return [path for path in listed.split(b"\0") if path]


def tree_around(folder: str) -> UserTree | None:
    """The working tree in which a folder lies, None if there is none. `core.worktree` can name any
    other folder for it: then there is none.
    """
    words = ("--show-toplevel", "--git-path", "index", "--git-path", "info/exclude")
    asked = ask_git(folder, "rev-parse", *words, "--default", "HEAD")
    if asked is None:
        return None
    top, index, exclude, *commit = asked.removesuffix("\n").split("\n")
    if len(commit) > 1 or not os.path.isdir(top) or place_in(top, folder) is None:
        return None  # a name of several lines, or one that is not UTF-8
    return UserTree(top, *(os.path.join(folder, each) for each in (index, exclude)), *commit)


def commit_of(folder: str) -> str | None:
    """The commit at which the repository of a folder is; None without one."""
    said = ask_git(folder, "rev-parse", "-q", "--verify", "HEAD^{commit}")
    return None if said is None else said.strip()


def rules_of(folder: str, tree: UserTree | None = None) -> UserRules:
    """The rules of a folder.

    Args:
        folder: the folder.
        tree: `tree_around` of it, if that is known. Without, git is asked.

    Raises:
        GitFailed: git cannot read the user's configuration.
    """
    has_git = os.path.lexists(os.path.join(folder, ".git"))
    if tree is None and has_git:
        tree = tree_around(folder)
    if tree is not None and os.path.realpath(tree.top) != os.path.realpath(folder):
        tree = None
    files = (
        _configured(folder, has_git) or _default_file(),
        *([] if tree is None else [tree.exclude]),
    )
    return UserRules(folder, files, tree)


@lru_cache(maxsize=16)
def _configured(folder: str, has_git: bool) -> str:  # asked again once there is a repository
    words = ("config", "--type=path", "--default", "", "--get", "core.excludesFile")
    said = os.fsdecode(user_git(folder, *_ANY_OWNER, *words, env=_READ_ONLY)).removesuffix("\n")
    return said and os.path.join(folder, said)


def _default_file() -> str:
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(config, "git", "ignore")


def _content(file: str) -> bytes:
    try:
        return read_regular(file, _MOST_BYTES, within=ANYWHERE)
    except (FileNotFoundError, NotADirectoryError):
        return b""
