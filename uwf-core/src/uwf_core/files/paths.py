"""Paths of recorded files: bytes, relative to their folder, with `/` between the names."""

import os
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from uwf_core.escape import in_line

_NAMED: Final = 5


def shown(path: bytes) -> str:
    r"""A path as text: bytes that are not UTF-8 are shown as `\xff`, and a backslash as it is."""
    return path.decode("utf-8", "backslashreplace")


def listed(paths: Sequence[bytes]) -> str:
    """Paths as a text, the first ones by name."""
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(in_line(shown(each)) for each in paths[:_NAMED]) + more


def below(path: bytes, folders: Collection[bytes]) -> bool:
    """Whether a path is one of the folders or lies in one; quick if they are a set."""
    return path in folders or any(folder in folders for folder in parents(path))


def parents(path: bytes) -> Iterator[bytes]:
    """The folders of a path, the innermost first, without the recorded folder itself."""
    while (cut := path.rfind(b"/")) > 0:
        path = path[:cut]
        yield path


def place_in(folder: str, inner: str) -> bytes | None:
    """The path of `inner` in `folder`; empty if it is the folder, None if it is outside."""
    root, real = os.path.realpath(folder), os.path.realpath(inner)
    if root == real:
        return b""
    start = root.rstrip("/") + "/"
    return os.fsencode(real.removeprefix(start)) if real.startswith(start) else None


class RealFolders:
    """Which paths can be reached in a folder without following a link."""

    def __init__(self, folder: bytes) -> None:
        self._folder = folder
        self._links: dict[bytes, bool] = {}

    def behind_link(self, path: bytes) -> bool:
        """Whether one of the folders above a path is a link."""
        cut = path.rfind(b"/")
        if cut < 0:
            return False
        parent = path[:cut]
        known = self._links.get(parent)
        if known is None:
            known = os.path.islink(os.path.join(self._folder, parent)) or self.behind_link(parent)
            self._links[parent] = known
        return known
