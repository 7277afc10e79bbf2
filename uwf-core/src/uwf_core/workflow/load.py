"""Stage 1, read: a workflow file as nodes with positions, includes resolved.

A file is bounded, and only a regular one: nothing waits on a pipe. Its folder is opened before
it, and what it includes is read from that very folder, even if another one replaces it meanwhile.
"""

# ruff: noqa: PTH100, PTH119, PTH120

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from uwf_core.errors import DefinitionError, UsageError
from uwf_core.process.path_walk import ENTER, PathOutside, PathWalk, open_regular, project_root
from uwf_core.workflow.discover import FOLDERS, SUFFIXES
from uwf_core.yaml.problem import Place, Problem, error_at
from uwf_core.yaml.source import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    Composed,
    YamlMapping,
    YamlNode,
    YamlScalar,
    YamlSequence,
    compose_all,
    decode,
)

MAX_INCLUDES = 1_000
MAX_INCLUDED_BYTES = 10_000_000
"""The limit of all included files together; each counts as often as it is included."""

FILE_STYLE = "file"
"""The style of a scalar whose text is a whole included file."""


class Loaded(NamedTuple):
    """A file and all that it includes: `sources` has the text of each file by its name; `includes`
    is whether it has an include, even one that is rejected; `values` counts what was read.

    `node` is None if nothing can be read; a value that could not be included is the scalar
    with the tag.
    """

    node: YamlNode | None
    problems: tuple[Problem, ...]
    sources: dict[str, str]
    includes: bool
    values: int


def load_file(file: str) -> Loaded:
    """The nodes of a workflow's file. What it includes is below the folder that the file itself was
    read from, even if that folder or a link in it is replaced meanwhile.

    Raises:
        UsageError: the file is missing or cannot be read.
        DefinitionError: it is too large, or not UTF-8.
    """
    with open_source(file) as source:
        text = decode(source.data, file=file)
        return _load(text, file, _Context(source.folder, (source.identity,)))


def load_text(text: str, file: str) -> Loaded:
    """The nodes of a workflow's text; `file` is its name, and includes are in its folder."""
    try:
        folder = os.open(Path(file).parent, ENTER & ~os.O_NOFOLLOW)
    except OSError:  # then an include, if any, is reported as missing
        return _load(text, file, _Context(None, ()))
    try:
        return _load(text, file, _Context(folder, ()))
    finally:
        os.close(folder)


def load_beside(file: str, name: str) -> Loaded:
    """The nodes of the workflow file `name` in the folder of `file`, or below it.

    Raises:
        PathOutside: it is outside of that folder.
        OSError: it cannot be read. DefinitionError: it is too large, or not UTF-8.
    """
    above = Path(file).parent
    folder = os.open(above, ENTER & ~os.O_NOFOLLOW)
    try:
        roots = (str(above.resolve()), str(above.absolute()))
        with open_included(folder, name, roots) as source:
            path = str(above / name)
            text = decode(source.data, file=path)
            return _load(text, path, _Context(source.folder, (source.identity,)))
    finally:
        os.close(folder)


class _Context(NamedTuple):
    """The place of a document's includes: its folder (or None), held open, and the device
    and inode of each file of those that include each other.
    """

    folder: int | None
    chain: tuple[tuple[int, int], ...]


def _load(text: str, file: str, context: _Context) -> Loaded:
    loader = _Loader()
    node = loader.document(text, file, context)
    return Loaded(node, tuple(loader.problems), loader.sources, loader.includes > 0, loader.nodes)


class _Excess(Exception):
    """Includes exceeded a limit; the rest is not read."""


class _Loader:
    """Follows includes."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.sources: dict[str, str] = {}
        self.composed: dict[str, Composed] = {}
        self.nodes = 0
        self.includes = 0
        self.bytes = 0

    def document(self, text: str, file: str, context: _Context) -> YamlNode | None:
        composed = self._compose(text, file)
        if composed.node is None:
            return None
        try:
            return self._resolve(composed.node, context, 0)
        except _Excess:
            return None

    def _compose(self, text: str, file: str) -> Composed:
        """The nodes of the file; a file included twice is read and reported once."""
        if file not in self.composed:
            self.sources[file] = text
            composed = compose_all(text, file=file, include=not file.endswith(".json"))
            self.composed[file] = composed
            self.problems.extend(composed.problems)
        return self.composed[file]

    def _resolve(self, node: YamlNode, context: _Context, depth: int) -> YamlNode:
        """`node` with its includes resolved; recursion ends at the depth that YAML allows."""
        self._count(node, depth)
        if isinstance(node, YamlMapping):
            values = {
                key: self._resolve(value, context, depth + 1) for key, value in node.values.items()
            }
            return YamlMapping(node.place, node.keys, values)
        if isinstance(node, YamlSequence):
            return YamlSequence(
                node.place, [self._resolve(item, context, depth + 1) for item in node.items]
            )
        assert isinstance(node, YamlScalar)
        return node if node.tag is None else self._include(node, context, depth)

    def _count(self, node: YamlNode, depth: int) -> None:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self._excess(
                node.place, "too-many-nodes", f"more than {MAX_NODES:,} values with includes"
            )
        if depth > MAX_DEPTH:
            self._excess(
                node.place, "too-deep", f"nested deeper than {MAX_DEPTH} levels with includes"
            )

    def _excess(self, place: Place, code: str, message: str) -> None:
        self.problems.append(error_at(place, code, message))
        raise _Excess

    def _include(self, tag: YamlScalar, context: _Context, depth: int) -> YamlNode:
        self.includes += 1
        if self.includes > MAX_INCLUDES:
            self._excess(tag.place, "too-many-nodes", f"more than {MAX_INCLUDES:,} includes")
        file = str(Path(tag.place.file).parent / tag.text.strip())
        with ExitStack() as held:
            source = self._open(tag, file, context, held)
            text = None if source is None else self._text(tag, file, source.data)
            if source is None or text is None:
                return tag
            if file.endswith((".json", *SUFFIXES)):
                composed = self._compose(text, file)
                if composed.node is None:
                    return tag if composed.problems else YamlScalar(Place(file, 1, 1), "", "")
                inner = _Context(source.folder, (*context.chain, source.identity))
                return self._resolve(composed.node, inner, depth)
        self.sources[file] = text
        return YamlScalar(Place(file, 1, 1), text, FILE_STYLE)

    def _open(
        self, tag: YamlScalar, file: str, context: _Context, held: ExitStack
    ) -> "SourceFile | None":
        """The file of an include, if it may be included here."""
        name = tag.text.strip()
        if not name or "\0" in name:
            self._refuse(tag, "include-missing", "!include without a path", "write `!include FILE`")
            return None
        folder = Path(tag.place.file).parent
        try:
            if context.folder is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            roots = (str(folder.resolve()), str(folder.absolute()))
            source = held.enter_context(open_included(context.folder, name, roots))
        except PathOutside:
            message = f"{name!r} is outside the folder of the including file"
            hint = f"keep included files below {folder}"
            self._refuse(tag, "include-outside", message, hint)
            return None
        except (OSError, ValueError) as error:
            message = f"cannot include {file!r}: {reason(error)}"
            hint = "the path is relative to the folder of the including file"
            self._refuse(tag, "include-missing", message, hint)
            return None
        if source.identity in context.chain:
            message = f"{name!r} includes itself, directly or through others"
            self._refuse(tag, "include-cycle", message, "remove one of the includes")
            return None
        return source

    def _refuse(self, tag: YamlScalar, code: str, message: str, hint: str) -> None:
        self.problems.append(error_at(tag.place, code, message, hint))

    def _text(self, tag: YamlScalar, file: str, data: bytes) -> str | None:
        self.bytes += len(data)
        if self.bytes > MAX_INCLUDED_BYTES:
            self._excess(tag.place, "too-large", f"more than {MAX_INCLUDED_BYTES:,} bytes included")
        try:
            return decode(data, file=file)
        except DefinitionError as error:
            self.problems.extend(Problem(**problem) for problem in error.problems)
            return None


def description_of(file: str) -> str:
    """The description of the workflow in a file; empty if the file cannot be read.

    For listings: one unreadable file must not break them; `workflow check` reports its errors.
    """
    try:
        node = compose_all(read_text(file), file=file, include=True).node
    except (UsageError, DefinitionError):
        return ""
    about = node.values.get("description") if isinstance(node, YamlMapping) else None
    if not isinstance(about, YamlScalar) or about.tag is not None:
        return ""
    return about.value if isinstance(about.value, str) else ""


# -- source files ----------------------------------------------------------------------------------


_PROJECT = (".git", *FOLDERS)


class SourceFile(NamedTuple):
    """A file that was read.

    Attributes:
        data: its bytes, at most one more than `MAX_BYTES`.
        folder: a descriptor of the folder that its name is in, open within the context.
        identity: the device and inode of the file.
    """

    data: bytes
    folder: int
    identity: tuple[int, int]


@contextmanager
def open_source(path: str) -> Iterator[SourceFile]:
    """A file that a user named; the links of a project lead only within it.

    Raises:
        UsageError: it is missing or cannot be read.
    """
    with ExitStack() as held:
        try:
            root = project_root(path, _PROJECT)
            above = root or os.path.dirname(path) or "."
            folder = os.open(above, ENTER & ~os.O_NOFOLLOW)
            held.callback(os.close, folder)
            if root is None:
                source = _read(folder, folder, os.path.basename(path), follow=True)
            else:
                roots = (root, os.path.realpath(root))
                name = os.path.relpath(os.path.abspath(path), root)
                source = held.enter_context(open_included(folder, name, roots))
        except PathOutside as error:
            raise UsageError(
                f"cannot read the file: a link leads out of the project {root}",
                where=path,
                hint="give the path of the file that it leads to",
            ) from error
        except (OSError, ValueError) as error:
            raise UsageError(
                f"cannot read the file: {reason(error)}",
                where=path,
                hint="check the path and its permissions",
            ) from error
        yield source


@contextmanager
def open_included(folder: int, name: str, roots: tuple[str, ...]) -> Iterator[SourceFile]:
    """A file below a folder.

    Args:
        folder: a descriptor of the folder.
        name: the file's path from there.
        roots: the folder's absolute paths, for absolute links that stay inside.

    Raises:
        PathOutside: it is outside of the folder.
        OSError: it cannot be read, or is not a regular file.
    """
    parts = name.split("/")
    if name.startswith("/") or ".." in parts:
        raise PathOutside
    with (
        PathWalk(folder, parts[:-1], roots=roots) as way,
        PathWalk(folder, parts, roots=roots) as walk,
    ):
        above, place = way.end(), walk.end()
        inner = os.open(above.name, ENTER, dir_fd=above.folder)
        try:
            yield _read(inner, place.folder, place.name)
        finally:
            os.close(inner)


def _read(folder: int, place: int, name: str, *, follow: bool = False) -> SourceFile:
    descriptor, status = open_regular(place, name, follow=follow)
    with open(descriptor, "rb") as file:
        return SourceFile(file.read(MAX_BYTES + 1), folder, (status.st_dev, status.st_ino))


def read_text(path: str) -> str:
    """The text of a file that a user named.

    Raises:
        UsageError: it is missing or cannot be read.
        DefinitionError: over 1 MB, or not UTF-8.
    """
    with open_source(path) as source:
        return decode(source.data, file=path)


def reason(error: Exception) -> str:
    """Why a file could not be read, in a few words."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
