"""Which paths a task protects: globs relative to the trial's folder. Pure.

`*` and `?` stay within a name, `**` spans folders, `[abc]` is one of them; a glob that names a
folder means all that is in it.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache


def selected(names: Iterable[str], globs: Sequence[str]) -> list[str]:
    """Those of `names` (paths with slashes) that one of the globs means."""
    if not globs:
        return []
    patterns = [_pattern(each) for each in globs]
    return [name for name in names if any(each.match(name) for each in patterns)]


def glob_problem(glob: str) -> str | None:
    """Why a glob is invalid, None if it is valid."""
    if glob.startswith("/"):
        return "must be relative to the trial's folder"
    if ".." in glob.split("/"):
        return "points outside the trial's folder"
    return None


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    glob = glob.removeprefix("./").rstrip("/")
    parts: list[str] = []
    place = 0
    while place < len(glob):
        if glob.startswith("**/", place):
            parts.append("(?:.*/)?")
            place += 3
        elif glob.startswith("**", place):
            parts.append(".*")
            place += 2
        else:
            length, part = _one(glob, place)
            parts.append(part)
            place += length
    return re.compile("".join(parts) + r"(?:/.*)?\Z", re.DOTALL)


def _one(glob: str, place: int) -> tuple[int, str]:
    """Length and pattern of the element at a place, except `**`."""
    letter = glob[place]
    if letter == "*":
        return 1, "[^/]*"
    if letter == "?":
        return 1, "[^/]"
    end = glob.find("]", place + 2) if letter == "[" else -1
    if end > 0:
        inner = glob[place + 1 : end]
        negated = inner[0] in "!^"
        chosen = re.escape(inner[1:] if negated else inner).replace(r"\-", "-")
        return end - place + 1, f"[{'^/' if negated else ''}{chosen}]"
    return 1, re.escape(letter)
