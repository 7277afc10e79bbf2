"""All files below a folder of the workspace, without those that .gitignore names.

Folders are entered by descriptors, never through a link.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from uwf_agent_builtin.protection import Protection
from uwf_agent_builtin.tools.ignore import Rules
from uwf_agent_builtin.workspace import Workspace, read_descriptor

_ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_IGNORE_BYTES = 1 << 20
_DEEPEST = 100


class Entry(NamedTuple):
    """A file that was found: the descriptor of its folder (open until the next one is asked for),
    its name, its path from the root of the workspace.
    """

    folder: int
    name: str
    path: str


class _Layer(NamedTuple):
    """The rules of one folder; `cut` characters of a path lie before what they speak of."""

    cut: int
    rules: Rules


def files_below(workspace: Workspace, path: str) -> Iterator[Entry]:
    """Every file that is neither ignored nor protected, folder by folder in order of names.

    Raises:
        ToolError: `path` is not a readable folder.
    """
    with workspace.open_folder(path) as (descriptor, inner):
        at = "" if inner == "." else f"{inner}/"
        layers = _layers_above(workspace, at)
        yield from _Walker(workspace.protection).below(descriptor, at, layers, 0)


def _layers_above(workspace: Workspace, at: str) -> tuple[_Layer, ...]:
    """The rules of the folders above `at`, and git's own for this clone."""
    layers = []
    root = workspace.duplicate_root()
    try:
        exclude = _rules_of(root, ".git/info/exclude")
        layers.append(_Layer(0, exclude))
        parts = at.split("/")[:-1]
        for end in range(len(parts)):
            above = "".join(f"{part}/" for part in parts[:end])
            layers.append(_Layer(len(above), _rules_of(root, f"{above}.gitignore")))
    finally:
        os.close(root)
    return tuple(layer for layer in layers if layer.rules)


class _Walker:
    """Goes down."""

    def __init__(self, protection: Protection) -> None:
        self._protection = protection

    def below(
        self, folder: int, at: str, layers: tuple[_Layer, ...], depth: int
    ) -> Iterator[Entry]:
        """The files of a folder, then those of its folders."""
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        if any(entry.name == ".gitignore" for entry in entries):
            own = _rules_of(folder, ".gitignore")
            layers = (*layers, _Layer(len(at), own)) if own else layers
        folders = []
        for entry in entries:
            path = at + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if self._left_out(path, is_folder, layers):
                continue
            if is_folder:
                folders.append(entry.name)
            elif entry.is_file(follow_symlinks=False):
                yield Entry(folder, entry.name, path)
        if depth < _DEEPEST:
            for name in folders:
                yield from self._enter(folder, name, at, layers, depth)

    def _enter(
        self, folder: int, name: str, at: str, layers: tuple[_Layer, ...], depth: int
    ) -> Iterator[Entry]:
        try:
            inner = os.open(name, _ENTER, dir_fd=folder)
        except OSError:
            return  # it is gone, has become a link, or may not be read
        try:
            yield from self.below(inner, f"{at}{name}/", layers, depth + 1)
        finally:
            os.close(inner)

    def _left_out(self, path: str, is_folder: bool, layers: tuple[_Layer, ...]) -> bool:
        if self._protection.hides(path):
            return True
        for layer in reversed(layers):
            verdict = layer.rules.verdict(path[layer.cut :], folder=is_folder)
            if verdict is not None:
                return verdict
        return False


def _rules_of(folder: int, name: str) -> Rules:
    """The rules of a file; none where it cannot be read."""
    try:
        descriptor = os.open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
        )
    except OSError:
        return Rules(())
    try:
        text = read_descriptor(descriptor, _IGNORE_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return Rules(())
    finally:
        os.close(descriptor)
    return Rules(text.split("\n"))
