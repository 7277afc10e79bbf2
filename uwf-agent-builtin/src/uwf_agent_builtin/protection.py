"""What stays untouched in a workspace, by its path.

Protected whatever the user allows: git's hooks and configuration (they run programs), uwf's own
folder, files that hold secrets by custom. Nothing beneath `.git` is written. Deny beats allow.
"""

import os
import re
import unicodedata
from collections.abc import Iterable

from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.tools.ignore import Rules

_GIT_SECRET = re.compile(r"config(\..*)?|hooks|credentials|\.git-credentials")
_EXAMPLES = frozenset((".env.example", ".env.sample", ".env.template", ".env.dist"))


class Protection:
    """Says no.

    Args:
        deny: patterns of .gitignore for what is never touched.
        allow_write: such patterns for what may be changed; None is everything else.
        own: paths from the root of folders that are uwf's own, whatever they are called.
    """

    def __init__(
        self,
        deny: tuple[str, ...] = (),
        allow_write: tuple[str, ...] | None = None,
        own: tuple[str, ...] = (),
    ) -> None:
        self.own = own
        self._deny = Rules(deny)
        self._allow = None if allow_write is None else Rules(allow_write)

    def check(self, path: str, *, write: bool) -> None:
        """Whether the file or folder at `path` (from the root, without links) may be touched.

        Raises:
            ToolError: it may not.
        """
        why = self.refusal(path, write=write)
        if why is not None:
            raise ToolError(f"{path} is protected: {why}")

    def hides(self, path: str) -> bool:
        """Whether a walk passes over `path`, the folders above which it has looked at before; what
        is git's own is hidden as a whole.
        """
        name = _plain(path.rpartition("/")[2])
        if name == ".git" or _always([name], False) is not None or self._is_own(path):
            return True
        return bool(self._deny) and self._deny.ignores(path)

    def refusal(self, path: str, *, write: bool) -> str | None:
        """Why `path` may not be touched; None if it may."""
        if path == ".":
            return None
        parts = path.split("/")
        why = _always([_plain(part) for part in parts], write)
        if why is not None:
            return why
        if self._is_own(path):
            return "the folder of uwf"
        if _names(self._deny, parts):
            return "the option `deny` of the agent names it"
        if write and self._allow is not None and not _names(self._allow, parts):
            return "the option `allowWrite` of the agent does not name it"
        return None

    def _is_own(self, path: str) -> bool:
        plain = path.casefold()
        return any(f"{plain}/".startswith(f"{own.casefold()}/") for own in self.own)


def own_folders(root: str, folders: Iterable[str]) -> tuple[str, ...]:
    """The paths from `root` of those folders that lie within it; links are resolved.

    A root that lies within one of them is a workspace that uwf has made, and is not its own.
    """
    inner = (
        os.path.relpath(os.path.realpath(folder), os.path.realpath(root)) for folder in folders
    )
    return tuple(dict.fromkeys(path for path in inner if path.partition("/")[0] not in (".", "..")))


def _names(rules: Rules, parts: list[str]) -> bool:
    """Whether the rules name a path or a folder above it."""
    ends = range(1, len(parts) + 1)
    return bool(rules) and any(rules.ignores("/".join(parts[:end])) for end in ends)


def _always(parts: list[str], write: bool) -> str | None:
    for index, part in enumerate(parts):
        if part == ".uwf":
            return "the folder of uwf"
        if part in (".git-credentials", ".netrc", ".pgpass"):
            return "it holds credentials"
        if part == ".env" or (part.startswith(".env.") and part not in _EXAMPLES):
            return "it holds secrets by custom"
        if part == ".git":
            if write:
                return "git's own folder is changed by git alone"
            if any(_GIT_SECRET.fullmatch(below) for below in parts[index + 1 :]):
                return "git's configuration and hooks"
    return None


def _plain(name: str) -> str:
    """A name as the least careful file system sees it: no case, no invisible characters, no dots or
    blanks at its end, no stream behind a colon (`.git::$INDEX_ALLOCATION`).
    """
    text = name
    if not name.isascii():
        text = unicodedata.normalize("NFKC", name)
        text = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    return text.casefold().partition(":")[0].rstrip(" .")
