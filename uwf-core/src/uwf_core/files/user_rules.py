"""What the user's git says about a folder: its commit, which files to ignore, which it tracks.

Only queries: nothing here writes to the user's `.git`.
"""

import os
from functools import lru_cache
from typing import Final

from uwf_core.named_tuple import NamedTuple
from uwf_core.process.git import GitFailed, ask_git, user_git

_ANY_OWNER: Final = ("-c", "safe.directory=*")
_READ_ONLY: Final = {"GIT_OPTIONAL_LOCKS": "0"}


class UserRules(NamedTuple):
    """The rules of a folder.

    Attributes:
        folder: the folder.
        ignore_files: the files with rules outside the tree, weakest first.
        git_index: the index of its git repository; None where the folder is not the top of one.
    """

    folder: str
    ignore_files: tuple[str, ...]
    git_index: str | None

    def ignore_text(self) -> bytes:
        """The rules outside the tree, in the format of a `.gitignore`.

        Raises:
            OSError: a file cannot be read.
        """
        return b"".join(_content(file) + b"\n" for file in self.ignore_files)

    def index_stamp(self) -> str:
        """A text that differs when the index of the user's repository was written."""
        if self.git_index is None:
            return ""
        try:
            found = os.stat(self.git_index)
        except FileNotFoundError:
            return "none"
        return f"{found.st_mtime_ns} {found.st_size} {found.st_ino}"

    def tracked_though_ignored(self) -> list[bytes]:
        """The paths that the user's repository tracks although they are ignored.

        Raises:
            GitFailed: git cannot read the repository.
        """
        if self.git_index is None:
            return []
        words = ("ls-files", "-z", "-c", "-i", "--exclude-standard")
        listed = user_git(self.folder, *_ANY_OWNER, *words, env=_READ_ONLY)
        return [path for path in listed.split(b"\0") if path]


def top_of(folder: str) -> str:
    """The top folder of the git working tree in which a folder lies, else the folder."""
    said = ask_git(folder, "rev-parse", "--show-toplevel")
    top = "" if said is None else said.removesuffix("\n")
    return top if os.path.isdir(top) else folder


def commit_of(folder: str) -> str | None:
    """The commit at which the repository of a folder is; None without one."""
    said = ask_git(folder, "rev-parse", "-q", "--verify", "HEAD^{commit}")
    return None if said is None else said.strip()


def rules_of(folder: str) -> UserRules:
    """The rules of a folder. A later call of the same process asks git only where a repository has
    appeared or disappeared.

    Raises:
        GitFailed: git cannot read the user's configuration.
    """
    return _rules(folder, os.path.lexists(os.path.join(folder, ".git")))


@lru_cache(maxsize=16)
def _rules(folder: str, has_git: bool) -> UserRules:
    words = ("config", "--type=path", "--default", "", "--get", "core.excludesFile")
    named = os.fsdecode(user_git(folder, *_ANY_OWNER, *words, env=_READ_ONLY)).removesuffix("\n")
    files = [os.path.join(folder, named) if named else _default_file()]
    index = None
    if has_git and os.path.realpath(top_of(folder)) == os.path.realpath(folder):
        asked = ask_git(folder, "rev-parse", "--git-path", "index", "--git-path", "info/exclude")
        lines = (asked or "").splitlines()
        if len(lines) != 2:
            raise GitFailed(f"git cannot name the files of its folder in {folder}")
        index, exclude = (os.path.join(folder, line) for line in lines)
        files.append(exclude)
    return UserRules(folder, tuple(files), index)


def _default_file() -> str:
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(config, "git", "ignore")


def _content(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except (FileNotFoundError, NotADirectoryError):
        return b""
