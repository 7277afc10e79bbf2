"""Stage 1, read: a workflow file as nodes with positions, what it includes in their place."""

from pathlib import Path

from uwf_core.errors import DefinitionError
from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.json_source import compose_json
from uwf_core.workflow.problem import Place, Problem, error_at
from uwf_core.workflow.source_file import read_bytes, reason
from uwf_core.workflow.yaml_source import (
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
"""All included files together; here and above each counts as often as it is included."""

FILE_STYLE = "file"
"""The style of a scalar whose text is a whole included file."""


class Loaded(NamedTuple):
    """A file and all that it includes: `sources` has the text of each file by its name.

    `node` is None where nothing can be read; a value that could not be included is the scalar
    with the tag.
    """

    node: YamlNode | None
    problems: tuple[Problem, ...]
    sources: dict[str, str]


def load_text(text: str, file: str) -> Loaded:
    """The nodes of a workflow's text; `file` names it, and its folder is where includes are."""
    loader = _Loader()
    node = loader.document(text, file, (_real(file),), 0)
    return Loaded(node, tuple(loader.problems), loader.sources)


class _Excess(Exception):
    """Includes went over a limit; the rest is not read."""


class _Loader:
    """Follows includes; `chain` is the real paths of the files that include each other."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.sources: dict[str, str] = {}
        self.composed: dict[str, Composed] = {}
        self.nodes = 0
        self.includes = 0
        self.bytes = 0

    def document(self, text: str, file: str, chain: tuple[str, ...], depth: int) -> YamlNode | None:
        composed = self._compose(text, file)
        if composed.node is None:
            return None
        try:
            return self._resolve(composed.node, chain, depth)
        except _Excess:
            return None

    def _compose(self, text: str, file: str) -> Composed:
        """The file's nodes; a file included twice is read once and its faults are told once."""
        if file not in self.composed:
            self.sources[file] = text
            is_json = file.endswith(".json")
            composed = (
                compose_json(text, file=file)
                if is_json
                else compose_all(text, file=file, include=True)
            )
            self.composed[file] = composed
            self.problems.extend(composed.problems)
        return self.composed[file]

    def _resolve(self, node: YamlNode, chain: tuple[str, ...], depth: int) -> YamlNode:
        """`node` with its includes in place; recursion ends at the depth that YAML allows."""
        self._count(node, depth)
        if isinstance(node, YamlMapping):
            values = {
                key: self._resolve(value, chain, depth + 1) for key, value in node.values.items()
            }
            return YamlMapping(node.place, node.keys, values)
        if isinstance(node, YamlSequence):
            return YamlSequence(
                node.place, [self._resolve(item, chain, depth + 1) for item in node.items]
            )
        assert isinstance(node, YamlScalar)
        return node if node.tag is None else self._include(node, chain, depth)

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

    def _include(self, tag: YamlScalar, chain: tuple[str, ...], depth: int) -> YamlNode:
        self.includes += 1
        if self.includes > MAX_INCLUDES:
            self._excess(tag.place, "too-many-nodes", f"more than {MAX_INCLUDES:,} includes")
        file = self._target(tag, chain)
        text = None if file is None else self._read(tag, file)
        if file is None or text is None:
            return tag
        if file.endswith((".json", ".yaml", ".yml")):
            inner = (*chain, _real(file))
            composed = self._compose(text, file)
            if composed.node is None:
                return tag if composed.problems else YamlScalar(Place(file, 1, 1), "", "")
            return self._resolve(composed.node, inner, depth)
        self.sources[file] = text
        return YamlScalar(Place(file, 1, 1), text, FILE_STYLE)

    def _target(self, tag: YamlScalar, chain: tuple[str, ...]) -> str | None:
        """The file that an include names, if it may be included here."""
        name = Path(tag.text.strip())
        folder = Path(tag.place.file).parent
        if not tag.text.strip() or "\0" in tag.text:
            self._refuse(tag, "include-missing", "!include without a path", "name a file")
        elif _leads_out(name, folder):
            self._refuse(
                tag,
                "include-outside",
                f"{str(name)!r} leads out of the folder of the including file",
                f"keep included files below {folder}",
            )
        elif _real(str(folder / name)) in chain:
            message = f"{str(name)!r} includes itself, directly or through others"
            self._refuse(tag, "include-cycle", message, "break the circle of includes")
        else:
            return str(folder / name)
        return None

    def _refuse(self, tag: YamlScalar, code: str, message: str, hint: str) -> None:
        self.problems.append(error_at(tag.place, code, message, hint))

    def _read(self, tag: YamlScalar, file: str) -> str | None:
        try:
            data = read_bytes(_real(file))
        except (OSError, ValueError) as error:
            message = f"{file!r} cannot be included: {reason(error)}"
            hint = "the path is relative to the folder of the including file"
            self._refuse(tag, "include-missing", message, hint)
            return None
        self.bytes += len(data)
        if self.bytes > MAX_INCLUDED_BYTES:
            self._excess(
                tag.place, "too-large", f"more than {MAX_INCLUDED_BYTES:,} bytes to include"
            )
        try:
            return decode(data, file=file)
        except DefinitionError as error:
            self.problems.extend(Problem(**problem) for problem in error.problems)
            return None


def _real(file: str) -> str:
    """The path without symbolic links, whether or not anything is there."""
    return str(Path(file).resolve())


def _leads_out(name: Path, folder: Path) -> bool:
    """Whether `name`, relative to `folder`, is something outside of it."""
    if name.is_absolute() or ".." in name.parts:
        return True
    return not (folder / name).resolve().is_relative_to(folder.resolve())
