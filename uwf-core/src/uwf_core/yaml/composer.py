"""Composes the nodes of a YAML document from PyYAML's events, with limits."""

import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from uwf_core.yaml.nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence
from uwf_core.yaml.problem import Place, Problem, error_at
from uwf_core.yaml.quirks import (
    Part,
    Swaps,
    part_of_text,
    signs_in_brackets,
    signs_in_text,
    signs_of_items,
    without_comments,
)

MAX_BYTES = 1_000_000
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


def too_large(file: str) -> Problem:
    """The problem of a file over `MAX_BYTES`."""
    return error_at(
        Place(file, 1, 1),
        "too-large",
        f"the file is larger than {MAX_BYTES:,} bytes",
        "split it, or move long texts to separate files with !include",
    )


def place_after(text: str, file: str) -> Place:
    """The place that follows a text."""
    line = text.count("\n")
    return Place(file, line + 1, len(text) - (text.rfind("\n") + 1) + 1)


class _Unreadable(Exception):
    """An error after which the rest of the document cannot be read."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class _Open:
    """An open collection: its children (keys and values in turn for a mapping), and whether it is
    in brackets.
    """

    __slots__ = ("anchor", "begin", "children", "is_flow", "is_mapping", "place")

    def __init__(self, place: Place, is_mapping: bool, event: Any) -> None:
        self.place = place
        self.is_mapping = is_mapping
        self.is_flow: bool = event.flow_style
        self.begin: int = event.start_mark.index
        self.anchor: str | None = event.anchor
        self.children: list[YamlNode] = []

    def expects_key(self) -> bool:
        """Whether the next node is a key."""
        return self.is_mapping and len(self.children) % 2 == 0


class Composer:
    """Builds nodes from events with an explicit stack; one use per document.

    `plain` are the indices of what is text and no sign of YAML (None: whatever YAML says), and
    `signs` those that should be.
    """

    def __init__(self, file: str, include: bool, plain: Collection[int] | None = None) -> None:
        self.file = file
        self.include = include
        self.plain = plain
        self.signs: set[int] = set()
        self.named: dict[str, int] = {}
        self.before = 0
        self.problems: list[Problem] = []
        self.anchors: dict[str, YamlNode] = {}
        self.open: list[_Open] = []
        self.total = 0
        self.swaps = Swaps("")
        self.has_comments = False
        self.text = ""
        self.root: YamlNode | None = None

    def compose(self, text: str) -> Composed:
        """The root of the only document of `text`, and the problems; without a byte order mark."""
        text = text.removeprefix("\ufeff")
        try:
            node = self.document(text)
            self.signs.update(self.named.values())
        except _Unreadable as fault:
            self.problems.append(fault.problem)
            node = None
            flow = [frame.begin for frame in self.open if frame.is_flow]
            if self.plain is not None and flow:  # a comment may have swallowed the bracket's end
                self.signs |= self._first_signs(flow[0])
        return Composed(node, tuple(sorted(self.problems, key=lambda each: each.place)))

    def _first_signs(self, at: int) -> set[int]:
        """Comments in the first line with one, from an open bracket on, that are not text yet."""
        assert self.plain is not None
        while at < len(self.text):
            signs = set(signs_in_brackets(self.text, at, anywhere=True)).difference(self.plain)
            if signs:
                return signs
            at = self.text.find("\n", at) + 1 or len(self.text)
        return set()

    def document(self, text: str) -> YamlNode | None:
        """The root of the only document of `text`.

        Raises:
            _Unreadable: an error that ends the reading.
        """
        self._check_text(text)
        self.swaps = Swaps(text, self.plain or ())
        self.has_comments = "#" in text
        self.text = text
        documents = 0
        for event in self._events(self.swaps.hidden):
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
            # The mark of a block's first item belongs to the event of its list.
            is_block = kind == "SequenceStartEvent" and not event.flow_style
            self.before = (event.start_mark if is_block else event.end_mark).index
        root = self.root
        empty = isinstance(root, YamlScalar) and root.plain and root.text == ""
        return None if empty else root

    def _take(self, kind: str, event: Any) -> None:
        if self.plain is not None and self.has_comments and self.open:
            self._look_between(Part(self.before, event.start_mark.index))
        if kind == "ScalarEvent":
            self._scalar(event)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._begin(event, kind == "MappingStartEvent")
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._end()
        elif kind == "AliasEvent":
            self._alias(event)

    def _look_between(self, gap: Part) -> None:
        """Find items of a list in brackets that YAML reads as comments."""
        frame = self.open[-1]
        if frame.is_flow and not frame.is_mapping:
            hidden = self.swaps.hidden
            self.signs |= set(signs_of_items(hidden, gap, may_begin=not frame.children))

    def _check_text(self, text: str) -> None:
        if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
            raise _Unreadable(too_large(self.file))
        usual = text.translate({9: None, 10: None, 13: None}).isprintable()  # without the pattern
        found = None if usual else re.search(_FORBIDDEN, text)
        if found is None:
            return
        place = place_after(text[: found.start()], self.file)
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
        style = event.style or ""
        text = self.swaps.restore(event.value, style)
        scalar = YamlScalar(place, text, style, tag)
        if scalar.plain and event.anchor:  # `&x y` is a text where no alias names the anchor
            self.named[event.anchor] = event.start_mark.index
        if self.has_comments and scalar.plain and self.open and not self.open[-1].expects_key():
            scalar = self._with_comments(event, scalar)
        self._add(scalar, event.anchor)

    def _with_comments(self, event: Any, scalar: YamlScalar) -> YamlScalar:
        """The scalar, with the comments that may belong to it in its `whole`."""
        found = Part(event.start_mark.index, event.end_mark.index)
        frame = self.open[-1]
        mark = self.swaps.marks.get("#")
        if mark is not None and mark in event.value:
            text = without_comments(self.swaps.hidden[found.start : found.end], mark)
            return YamlScalar(scalar.place, self.swaps.restore(text), whole=scalar.text, style="")
        if frame.is_flow:
            signs = set(signs_in_brackets(self.text, found.end))
            part = Part(found.start, max(signs, default=found.end))
        else:
            part = part_of_text(self.text, self.before, found, frame.place.column - 1)
            signs = set(signs_in_text(self.text, part))
        if not signs:
            return scalar
        if self.plain is not None:
            self.signs |= signs
        whole = "\n".join(
            line.strip() for line in self.text[part.start : part.end].strip().splitlines()
        )
        return YamlScalar(scalar.place, scalar.text, "", scalar.tag, whole)

    def _begin(self, event: Any, is_mapping: bool) -> None:
        place = self._place(event.start_mark)
        self._count(1, place)
        self._check_depth(1, place)
        self._check_tag(event, place)
        self.anchors.pop(event.anchor, None)
        self.open.append(_Open(place, is_mapping, event))

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
        self.named.pop(event.anchor, None)
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
    line = "".join(text.splitlines()[place.line - 1 : place.line])
    hint = ""
    near = "".join(text.splitlines(keepends=True)[max(place.line - 3, 0) : place.line])
    if "\t" in line[: max(place.column, 1)]:
        hint = "indent with spaces, not tabs"
    elif "mapping values are not allowed" in reason:
        hint = "put text with `: ` in quotes"
    elif line[place.column - 1 : place.column] in ("{", "}", "[", "]", "%", "@", "`", "*", "&"):
        hint = "put text that begins with a special character in quotes"
    elif re.search(r"\S[ \t]+#\w", near):
        hint = "put text with ` #` in quotes: it begins a comment"
    return error_at(place, "yaml-syntax", f"invalid YAML: {reason}", hint)
