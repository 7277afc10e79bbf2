"""YAML text to nodes with positions, and from those to values: YAML 1.2 core schema, with limits.

Composed from PyYAML's event stream, for three reasons: PyYAML's own composer recurses and takes
the process down on deep nesting, its resolver is YAML 1.1 (`on`, `12:30` and dates would change),
and the events carry positions. What a text cannot say here:

- tags other than `!include` (and that one only where the caller allows it), duplicate keys,
  several documents, aliases into themselves;
- more than 1 MB of text, 64 levels, or 100,000 nodes after the expansion of aliases.
"""

import re
from collections.abc import Iterator
from typing import Any

from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.problem import Place, Problem, as_definition_error, error_at
from uwf_core.workflow.yaml_lines import compose_lines
from uwf_core.workflow.yaml_nodes import (
    YamlMapping,
    YamlNode,
    YamlScalar,
    YamlSequence,
    to_value,
)

__all__ = [
    "INCLUDE",
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_NODES",
    "Composed",
    "YamlMapping",
    "YamlNode",
    "YamlScalar",
    "YamlSequence",
    "compose",
    "compose_all",
    "decode",
    "parse_yaml",
    "to_value",
]

MAX_BYTES = 1_000_000
_ORDER_MARK = "\ufeff"
"""What some editors write before a text."""
MAX_DEPTH = 64
MAX_NODES = 100_000
# What YAML forbids, named and not complemented: `re` takes 15 ms to compile the complement.
_FORBIDDEN = "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]"
_MERGE = "<<"
INCLUDE = "!include"


class Composed(NamedTuple):
    """A document (None: empty or unreadable) and its errors, sorted by place."""

    node: YamlNode | None
    problems: tuple[Problem, ...]


def parse_yaml(text: str, *, file: str) -> Any:
    """Parse a YAML document (None for an empty one); `file` is its name in errors.

    Raises:
        DefinitionError: it is not YAML or has what this module rejects; `where` is
            `file:line:column`, `problems` has every error found.
    """
    node = compose(text, file=file)
    return None if node is None else to_value(node)


def compose(text: str, *, file: str, include: bool = False) -> YamlNode | None:
    """The document as nodes, None for an empty one. `include` allows the tag `!include`.

    Raises:
        DefinitionError: as `parse_yaml`.
    """
    composed = compose_all(text, file=file, include=include)
    if composed.problems:
        raise as_definition_error(composed.problems)
    return composed.node


def compose_all(text: str, *, file: str, include: bool = False) -> Composed:
    """Like `compose`, but returns the errors instead of raising.

    Duplicate keys and forbidden tags leave the rest readable; other errors give no node.
    """
    text = text.removeprefix(_ORDER_MARK)
    if (simple := compose_lines(text, file)) is not None:
        return Composed(simple, ())
    composer = _Composer(file, include)
    try:
        node = composer.document(text)
    except _Unreadable as fault:
        composer.problems.append(fault.problem)
        node = None
    return Composed(node, tuple(sorted(composer.problems, key=lambda each: each.place)))


def decode(data: bytes, *, file: str) -> str:
    """Decode the bytes of a text file; a byte order mark before it is dropped.

    Raises:
        DefinitionError: over 1 MB, or not UTF-8.
    """
    if len(data) > MAX_BYTES:
        raise as_definition_error([_too_large(file)])
    try:
        return data.decode("utf-8").removeprefix(_ORDER_MARK)
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8")
        problem = error_at(
            _place_after(good, file),
            "not-utf-8",
            f"the byte 0x{data[error.start]:02x} is not UTF-8",
            "save the file as UTF-8",
        )
        raise as_definition_error([problem]) from error


def _too_large(file: str) -> Problem:
    return error_at(
        Place(file, 1, 1),
        "too-large",
        f"the file is larger than {MAX_BYTES:,} bytes",
        "split it, or move long texts to separate files with !include",
    )


def _place_after(text: str, file: str) -> Place:
    line = text.count("\n")
    return Place(file, line + 1, len(text) - (text.rfind("\n") + 1) + 1)


class _Unreadable(Exception):
    """An error after which the rest of the document cannot be read."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class _Breaks:
    """Keep NEL, LS and PS as ordinary characters, as in YAML 1.2: libyaml breaks lines there.

    They are swapped for private characters that the text does not use, one for one, so that
    positions stay.
    """

    __slots__ = ("_back", "_there")

    def __init__(self, text: str) -> None:
        present = [character for character in "\x85\u2028\u2029" if character in text]
        unused = (chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in text)
        self._there = {ord(character): next(unused, character) for character in present}
        self._back = {ord(private): chr(code) for code, private in self._there.items()}

    def hide(self, text: str) -> str:
        return text.translate(self._there) if self._there else text

    def restore(self, text: str) -> str:
        return text.translate(self._back) if self._back else text


class _Open:
    """An open collection: its children (keys and values in turn for a mapping)."""

    __slots__ = ("anchor", "children", "is_mapping", "place")

    def __init__(self, place: Place, is_mapping: bool, anchor: str | None) -> None:
        self.place = place
        self.is_mapping = is_mapping
        self.anchor = anchor
        self.children: list[YamlNode] = []


class _Composer:
    """Builds nodes from events with an explicit stack; one use per document."""

    def __init__(self, file: str, include: bool) -> None:
        self.file = file
        self.include = include
        self.problems: list[Problem] = []
        self.anchors: dict[str, YamlNode] = {}
        self.open: list[_Open] = []
        self.total = 0
        self.breaks = _Breaks("")
        self.root: YamlNode | None = None

    def document(self, text: str) -> YamlNode | None:
        """The root of the only document of `text`.

        Raises:
            _Unreadable: an error that ends the reading.
        """
        self._check_text(text)
        self.breaks = _Breaks(text)
        documents = 0
        for event in self._events(self.breaks.hide(text)):
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    self._fail(
                        self._place(event.start_mark),
                        "several-documents",
                        "a second YAML document begins here",
                        "remove the `---` line: a file holds one document",
                    )
            else:
                self._take(kind, event)
        root = self.root
        empty = isinstance(root, YamlScalar) and root.plain and root.text == ""
        return None if empty else root

    def _take(self, kind: str, event: Any) -> None:
        if kind == "ScalarEvent":
            self._scalar(event)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._begin(event, kind == "MappingStartEvent")
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._end()
        elif kind == "AliasEvent":
            self._alias(event)

    def _check_text(self, text: str) -> None:
        if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
            raise _Unreadable(_too_large(self.file))
        usual = text.translate({9: None, 10: None, 13: None}).isprintable()  # without the pattern
        found = None if usual else re.search(_FORBIDDEN, text)
        if found is None:
            return
        place = _place_after(text[: found.start()], self.file)
        name = f"U+{ord(found[0]):04X}"
        self._fail(place, "forbidden-character", f"the character {name} is not allowed in YAML")

    def _events(self, text: str) -> Iterator[Any]:
        import yaml

        loader = getattr(yaml, "CLoader", yaml.SafeLoader)
        try:
            yield from yaml.parse(text, Loader=loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = self._place(mark) if mark else Place(self.file, 1, 1)
            raise _Unreadable(_syntax_problem(place, _reason(error), text)) from error
        except yaml.YAMLError as error:
            raise _Unreadable(_syntax_problem(Place(self.file, 1, 1), str(error), text)) from error

    def _place(self, mark: Any) -> Place:
        return Place(self.file, mark.line + 1, mark.column + 1)

    def _fail(self, place: Place, code: str, message: str, hint: str = "") -> None:
        raise _Unreadable(error_at(place, code, message, hint))

    def _count(self, nodes: int, place: Place) -> None:
        self.total += nodes
        if self.total > MAX_NODES:
            self._fail(
                place,
                "too-many-nodes",
                f"more than {MAX_NODES:,} values once its aliases are expanded",
            )

    def _check_tag(self, event: Any, place: Place) -> str | None:
        tag: str | None = event.tag
        if tag is None or (tag == INCLUDE and self.include and hasattr(event, "value")):
            return tag
        allowed = "use only !include" if self.include else "tags are not allowed here"
        self.problems.append(
            error_at(place, "tag", f"unknown tag {tag}", f"{allowed}; remove the tag")
        )
        return None

    def _scalar(self, event: Any) -> None:
        place = self._place(event.start_mark)
        self._count(1, place)
        tag = self._check_tag(event, place)
        text = self.breaks.restore(event.value)
        self._add(YamlScalar(place, text, event.style or "", tag), event.anchor)

    def _begin(self, event: Any, is_mapping: bool) -> None:
        place = self._place(event.start_mark)
        self._count(1, place)
        self._check_depth(1, place)
        self._check_tag(event, place)
        self.anchors.pop(event.anchor, None)
        self.open.append(_Open(place, is_mapping, event.anchor))

    def _check_depth(self, more: int, place: Place) -> None:
        if len(self.open) + more > MAX_DEPTH:
            self._fail(place, "too-deep", f"nested deeper than {MAX_DEPTH} levels")

    def _end(self) -> None:
        done = self.open.pop()
        node = self._mapping(done) if done.is_mapping else YamlSequence(done.place, done.children)
        self._add(node, done.anchor)

    def _alias(self, event: Any) -> None:
        place = self._place(event.start_mark)
        target = self.anchors.get(event.anchor)
        if target is None:
            within = any(frame.anchor == event.anchor for frame in self.open)
            self._fail(
                place,
                "alias",
                f"the alias *{event.anchor} is within its own anchor"
                if within
                else f"the alias *{event.anchor} has no anchor &{event.anchor} above it",
            )
            return
        self._count(target.size, place)
        self._check_depth(target.height, place)
        self._add(target, None)

    def _add(self, node: YamlNode, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = node
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node

    def _mapping(self, done: _Open) -> YamlMapping:
        keys: dict[str, YamlScalar] = {}
        values: dict[str, YamlNode] = {}
        merged: YamlNode | None = None
        for key, value in zip(done.children[::2], done.children[1::2], strict=True):
            if not isinstance(key, YamlScalar) or key.tag:
                self.problems.append(
                    error_at(
                        key.place,
                        "key",
                        "a key must be text",
                        "put a template such as {{x}} in quotes",
                    )
                )
            elif key.plain and key.text == _MERGE and merged is None:
                merged = value
            elif key.text in keys or (key.plain and key.text == _MERGE):
                self.problems.append(self._duplicate(key, keys))
            else:
                keys[key.text], values[key.text] = key, value
        if merged is not None:
            self._merge(merged, keys, values)
        return YamlMapping(done.place, keys, values)

    def _duplicate(self, key: YamlScalar, keys: dict[str, YamlScalar]) -> Problem:
        first = keys.get(key.text)
        hint = f"the first one is at line {first.place.line}" if first else "write `<<: [*a, *b]`"
        return error_at(key.place, "duplicate-key", f"duplicate key {key.text!r}", hint)

    def _merge(
        self, merged: YamlNode, keys: dict[str, YamlScalar], values: dict[str, YamlNode]
    ) -> None:
        sources = merged.items if isinstance(merged, YamlSequence) else [merged]
        for source in sources:
            if not isinstance(source, YamlMapping):
                self.problems.append(
                    error_at(
                        source.place,
                        "merge-key",
                        "<< needs a mapping or a list of mappings",
                        "write `<<: *anchor`",
                    )
                )
                continue
            for name, key in source.keys.items():
                if name not in keys:
                    keys[name], values[name] = key, source.values[name]


def _reason(error: Any) -> str:
    """The message of PyYAML on one line, with the line where the broken construct began."""
    reason = " ".join(part for part in (error.problem, error.context) if part)
    began, found = error.context_mark, error.problem_mark
    if began is None or found is None or began.line == found.line:
        return reason
    return f"{reason} that begins at line {began.line + 1}"


def _syntax_problem(place: Place, reason: str, text: str) -> Problem:
    if "maximum nesting depth" in reason:  # libyaml's own limit, reached while it reads ahead
        return error_at(place, "too-deep", f"nested deeper than {MAX_DEPTH} levels")
    line = "".join(text.split("\n")[place.line - 1 : place.line])
    hint = ""
    if "\t" in line[: max(place.column, 1)]:
        hint = "indent with spaces, not tabs"
    elif "mapping values are not allowed" in reason:
        hint = "put text with `: ` in quotes"
    elif line[place.column - 1 : place.column] in ("{", "}", "[", "]", "%", "@", "`", "*", "&"):
        hint = "put text that begins with a special character in quotes"
    return error_at(place, "yaml-syntax", f"invalid YAML: {reason}", hint)
