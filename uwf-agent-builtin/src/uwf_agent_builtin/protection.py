"""What stays untouched in a workspace, by its path.

Protected whatever the user allows: git's hooks and configuration (they run programs), uwf's own
folder, files that hold secrets by custom. Nothing beneath `.git` is written. Deny beats allow.

What other programs run or obey because it is there (`OBEYED`) may be read, but is written only by
roles that the user allows by name: the next person in the folder would run what a model wrote.
"""

import os
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.tools.ignore import Rules

_GIT_SECRET = re.compile(r"config(\..*)?|hooks|credentials|\.git-credentials")
OBEYED = (
    # workflows, whose text other agents obey
    *(".workflow", ".workflows"),
    # rules and skills, which this agent obeys too
    *("AGENTS.md", ".agents"),
    # settings, hooks and servers of coding agents
    *(".mcp.json", ".claude", ".hermes", ".codex", ".cursor", ".gemini", ".opencode"),
    # shells, editors, containers
    *(".envrc", ".vscode", ".idea", ".devcontainer"),
    # what git fetches and runs, and what a push runs
    *(".gitmodules", ".husky", ".github/workflows"),
)
"""Files and folders, at any depth, that are obeyed by being there."""
_OBEYED = tuple(tuple(each.casefold().split("/")) for each in (*OBEYED, ".git", ".uwf"))
_EXAMPLES = frozenset((".env.example", ".env.sample", ".env.template", ".env.dist"))


class Protection:
    """Says no.

    Args:
        deny: patterns of .gitignore for what is never touched.
        allow_write: such patterns for what may be changed; None is everything else.
        own: paths from the root of folders that are uwf's own, whatever they are called.
        obeyed: where the root lies in its repository, and where links within it lead that have the
            name of something obeyed; None where the role may write all of that.
    """

    def __init__(
        self,
        deny: tuple[str, ...] = (),
        allow_write: tuple[str, ...] | None = None,
        own: tuple[str, ...] = (),
        obeyed: "Obeyed | None" = None,
    ) -> None:
        self.own = own
        self._obeyed = obeyed
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
        if write and self._obeyed is not None and self._obeyed.has(path):
            return (
                "other programs run or obey what it says; the user's own configuration can allow "
                "it to this role by the option `allowProtected` of the agent"
            )
        if _names(self._deny, parts):
            return "the option `deny` of the agent names it"
        if write and self._allow is not None and not _names(self._allow, parts):
            return "the option `allowWrite` of the agent does not name it"
        return None

    def _is_own(self, path: str) -> bool:
        return _is_below(path, self.own)


class Obeyed(NamedTuple):
    """What is obeyed in a workspace.

    Attributes:
        base: the path of the root from the top of its repository; from `/` if there is none.
        linked: paths from the root that links of an obeyed name lead to.
    """

    base: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()

    def has(self, path: str) -> bool:
        """Whether `path`, from the root and without links, is or lies in something obeyed."""
        parts = [_plain(part) for part in (*self.base, *path.split("/"))]
        starts = range(len(parts))
        if any(tuple(parts[at : at + len(name)]) == name for at in starts for name in _OBEYED):
            return True
        return "." in self.linked or _is_below(path, self.linked)


def obeyed_in(root: str, own: Iterable[str]) -> Obeyed:
    """What is obeyed in a workspace at `root`.

    Args:
        own: uwf's own folders; a workspace that uwf made within one is not named by what is above.
    """
    real = Path(root).resolve()
    tops = [each for each in (real, *real.parents) if os.path.lexists(each / ".git")]
    made = [each for each in map(Path, map(os.path.realpath, own)) if real.is_relative_to(each)]
    top = max((*tops, *made, Path("/")), key=lambda each: len(each.parts))
    led = {name: os.path.relpath(os.path.realpath(real / name), real) for name in OBEYED}
    linked = [to for name, to in led.items() if to != name and to.partition("/")[0] != ".."]
    return Obeyed(real.relative_to(top).parts, tuple(linked))


def own_folders(root: str, folders: Iterable[str]) -> tuple[str, ...]:
    """The paths from `root` of those folders that lie within it; links are resolved.

    A root that lies within one of them is a workspace that uwf has made, and is not its own.
    """
    inner = (
        os.path.relpath(os.path.realpath(folder), os.path.realpath(root)) for folder in folders
    )
    return tuple(dict.fromkeys(path for path in inner if path.partition("/")[0] not in (".", "..")))


def _is_below(path: str, folders: Iterable[str]) -> bool:
    plain = path.casefold()
    return any(f"{plain}/".startswith(f"{folder.casefold()}/") for folder in folders)


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
