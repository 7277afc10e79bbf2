"""Mustache templates: variables, sections, inverted sections, comments, over JSON values only.

Follows the public Mustache specification (github.com/mustache/spec), standalone lines, dotted names
and the implicit iterator included, and differs where prompts need it:

- nothing is escaped for HTML: `{{x}}`, `{{{x}}}` and `{{&x}}` are the same; there are no lambdas;
- partials, inheritance and changed delimiters are rejected with their place;
- a name looks into mappings by key and into lists by position (`items.0.name`), never at
  attributes; it may begin with `$` (`{{$status}}`);
- a missing or null value renders empty; a value that is not a string renders as compact JSON.

A section is skipped if its value is missing, null, false, 0, "" or an empty list, not for an empty
mapping; `{{#name?}}` only if it is missing or null. Text from data is never read as a template.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeGuard

from uwf_core.errors import DefinitionError

MAX_DEPTH = 64
"""The maximum nesting of sections, and of parts in a name."""
MAX_TAGS = 2_000
MAX_RENDERED = 1_000_000
"""The most characters that a template may render; each rendered tag counts as one more."""
PRESENT = "?"
"""Ends a name that asks whether there is a value."""
Path = tuple[str, ...]
"""A dotted name, split; `()` is the implicit iterator `.`."""

_NAME = r"[^\s{}]+"
_BLANK_REST = re.compile(r"[ \t]*(?:\r?\n|\Z)")
_MISSING = object()
_MAX_EXACT = 2**53 - 1

_REFUSED = {
    ">": ("partials are not supported", "write the text itself here"),
    "<": ("template inheritance is not supported", "write the text itself here"),
    "=": ("delimiters cannot be changed", "use {{ and }}"),
}


class TemplateError(DefinitionError):
    """A template that cannot be read; `line` and `column` count from 1 within its text."""

    code = "invalid-template"

    def __init__(self, message: str, line: int, column: int, *, hint: str | None = None) -> None:
        super().__init__(message, where=f"template:{line}:{column}", hint=hint)
        self.line = line
        self.column = column


class TemplateName(NamedTuple):
    """A name that a template uses, for checks against a schema.

    Attributes:
        path: the dotted name, split; `()` is the implicit iterator.
        section_stack: the paths of the sections around it, outermost first, without inverted
            ones, since they do not change the context. A name is looked up in the innermost
            first.
        line, column: of its tag, from 1 within the template.
        kind: `variable`, `section` or `inverted` (the tag that opens one).
    """

    path: Path
    section_stack: tuple[Path, ...]
    line: int
    column: int
    kind: Literal["variable", "section", "inverted"]


class _Place(NamedTuple):
    line: int
    column: int


class TemplateVariable(NamedTuple):
    """A tag whose value is rendered."""

    path: Path
    place: _Place


class TemplateSection(NamedTuple):
    """A section, also an inverted one, with what is in it."""

    path: Path
    place: _Place
    inverted: bool
    children: "list[TemplateNode]"


TemplateNode = str | TemplateVariable | TemplateSection


class _Tag(NamedTuple):
    """A tag of the text: `sigil` is one of `{ & # ^ / !`, or empty."""

    sigil: str
    content: str
    end: int


class Template:
    """A parsed template; made by `parse`."""

    __slots__ = ("nodes",)

    def __init__(self, nodes: "Sequence[TemplateNode]") -> None:
        self.nodes = nodes

    def render(self, data: Any, *inner: Any) -> str:
        """Render the template for `data`, a JSON value, within the contexts `inner` as in sections.
        Raises:
            TemplateError: `data` holds no JSON, or the text is longer than `MAX_RENDERED`.
        """
        text = _Text()
        _render(self.nodes, [data, *inner], text)
        return "".join(text.parts)

    def names(self) -> list[TemplateName]:
        """Every name that the template uses, in the order of the text."""
        return list(_names(self.nodes, ()))


@lru_cache(maxsize=64)
def parse(text: str) -> Template:
    """Parse a template; cached, since each step of a workflow uses it.

    Raises:
        TemplateError: a tag that is not closed, empty or malformed, sections that do not match or
            are nested deeper than `MAX_DEPTH`, over `MAX_TAGS` tags, a partial, other delimiters.
    """
    return Template(_Parser(text).parse())


def render(text: str, data: Any, *inner: Any) -> str:
    """Parse and render `text` with `data`, within the contexts `inner`.

    Raises:
        TemplateError: see `parse` and `Template.render`.
    """
    return parse(text).render(data, *inner)


class _Parser:
    """One pass over the text; `open` are the sections that are not closed yet."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.root: list[TemplateNode] = []
        self.open: list[TemplateSection] = []
        self.tags = 0

    def parse(self) -> list[TemplateNode]:
        position = 0
        while (start := self.text.find("{{", position)) >= 0:
            tag = self.tag(start)
            before, after = start, tag.end
            if tag.sigil in ("#", "^", "/", "!"):
                before, after = self.widened_if_standalone(start, tag.end)
            self.add_text(self.text[position:before])
            self.apply(tag, start)
            position = after
        self.add_text(self.text[position:])
        if self.open:
            section = self.open[-1]
            name = _dotted(section.path)
            raise TemplateError(
                f"section {name!r} is not closed",
                *section.place,
                hint=f"end it with {{{{/{name}}}}}",
            )
        return self.root

    def tag(self, start: int) -> _Tag:
        """The tag that begins at `start`."""
        self.tags += 1
        if self.tags > MAX_TAGS:
            message = f"the template has more than {MAX_TAGS:,} tags"
            raise TemplateError(message, *self.place(start), hint="use a section over a list")
        sigil = self.text[start + 2 : start + 3]
        if sigil in _REFUSED:
            message, hint = _REFUSED[sigil]
            raise TemplateError(message, *self.place(start), hint=hint)
        if sigil not in ("{", "&", "#", "^", "/", "!"):
            sigil = ""
        closing = "}}}" if sigil == "{" else "}}"
        content = start + 2 + len(sigil)
        end = self.text.find(closing, content)
        if end < 0:
            raise TemplateError(
                "a tag is not closed",
                *self.place(start),
                hint=f"close it with {closing}",
            )
        return _Tag(sigil, self.text[content:end], end + len(closing))

    def apply(self, tag: _Tag, start: int) -> None:
        """Add the node of `tag`."""
        if tag.sigil == "!":
            return
        place = self.place(start)
        path = _path(tag.content, place)
        if tag.sigil == "/":
            self.close_section(path, place)
        elif tag.sigil in ("#", "^"):
            self.open_section(TemplateSection(path, place, tag.sigil == "^", []))
        else:
            self.children().append(TemplateVariable(path, place))

    def open_section(self, section: TemplateSection) -> None:
        if len(self.open) == MAX_DEPTH:
            raise TemplateError(f"sections are nested deeper than {MAX_DEPTH}", *section.place)
        self.children().append(section)
        self.open.append(section)

    def close_section(self, path: Path, place: _Place) -> None:
        name = _dotted(path)
        if not self.open:
            raise TemplateError(
                f"{name!r} is closed here, but no section is open",
                *place,
                hint=f"open it with {{{{#{name}}}}} or remove this tag",
            )
        section = self.open.pop()
        if section.path != path:
            opened = _dotted(section.path)
            line, column = section.place
            raise TemplateError(
                f"{name!r} is closed here, but the open section is {opened!r} "
                f"(opened at {line}:{column})",
                *place,
                hint=f"write {{{{/{opened}}}}}",
            )

    def children(self) -> list[TemplateNode]:
        return self.open[-1].children if self.open else self.root

    def add_text(self, text: str) -> None:
        if text:
            self.children().append(text)

    def widened_if_standalone(self, start: int, end: int) -> tuple[int, int]:
        """The span of the tag; the whole line if the tag is alone on it."""
        line_start = self.line_starts[bisect_right(self.line_starts, start) - 1]
        if self.text[line_start:start].strip(" \t"):
            return start, end
        rest = _BLANK_REST.match(self.text, end)
        return (line_start, rest.end()) if rest else (start, end)

    def place(self, offset: int) -> _Place:
        line = bisect_right(self.line_starts, offset)
        return _Place(line, offset - self.line_starts[line - 1] + 1)


def _path(content: str, place: _Place) -> Path:
    """The name within a tag, split at its dots."""
    name = content.strip()
    if not re.fullmatch(_NAME, name):
        message = f"{name!r} is not a valid name" if name else "a tag without a name"
        hint = "write a name without spaces and braces: {{user.name}}"
        if "|" in name:  # a filter, as in templates of the original uwf
            field = name.partition("|")[0].strip()
            hint = f"write {{{{{field}}}}}: there are no filters, and a list renders as JSON"
        raise TemplateError(message, *place, hint=hint)
    if name == ".":
        return ()
    path = tuple(name.split("."))
    if len(path) > MAX_DEPTH:
        raise TemplateError(f"a name has more than {MAX_DEPTH} parts", *place)
    if "" in path:
        raise TemplateError(
            f"{name!r} has an empty part", *place, hint="write user.name, with single dots"
        )
    return path


def _dotted(path: Path) -> str:
    return ".".join(path) or "."


def _names(nodes: "Sequence[TemplateNode]", stack: tuple[Path, ...]) -> Iterator[TemplateName]:
    for node in nodes:
        if isinstance(node, TemplateVariable):
            yield TemplateName(node.path, stack, *node.place, "variable")
        elif isinstance(node, TemplateSection):
            yield TemplateName(
                node.path, stack, *node.place, "inverted" if node.inverted else "section"
            )
            yield from _names(node.children, stack if node.inverted else (*stack, node.path))


class _Text:
    """The text rendered so far; `left` is the remaining limit."""

    __slots__ = ("left", "parts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.left = MAX_RENDERED

    def take(self, size: int, node: "TemplateVariable | TemplateSection") -> None:
        self.left -= size
        if self.left < 0:
            raise TemplateError(
                f"more than {MAX_RENDERED:,} characters rendered, at {_dotted(node.path)!r}",
                *node.place,
                hint="shorten the outputs of the roles, or pass the path of a file",
            )


def _render(nodes: "Sequence[TemplateNode]", stack: list[Any], text: _Text) -> None:
    for node in nodes:
        if isinstance(node, str):
            text.parts.append(node)
        elif isinstance(node, TemplateVariable):
            value = _as_text(_lookup(node.path, stack), node)
            text.take(1 + len(value), node)
            text.parts.append(value)
        elif node.inverted:
            text.take(1, node)
            if not _items(_lookup(node.path, stack)):
                _render(node.children, stack, text)
        else:
            text.take(1, node)
            plain = sum(len(child) for child in node.children if isinstance(child, str))
            for item in _items(_lookup(node.path, stack)):
                text.take(1 + plain, node)
                _render(node.children, [*stack, item], text)


def _lookup(path: Path, stack: list[Any]) -> Any:
    """The value of `path`: its first part in the innermost context that has it, the rest within."""
    if not path:
        return stack[-1]
    for context in reversed(stack):
        value = _member(context, path[0])
        if value is not _MISSING:
            break
    else:
        return None
    for part in path[1:]:
        value = _member(value, part)
    return None if value is _MISSING else value


def _member(value: Any, part: str) -> Any:
    """`part` of a mapping (by key) or a list (by position); true for `part?` that has a value."""
    if isinstance(value, Mapping) and part in value:
        return value[part]
    if part.endswith(PRESENT):
        return _MISSING if _member(value, part[:-1]) in (_MISSING, None) else True
    if _is_list(value) and part.isascii() and part.isdigit() and len(part) < 10:
        index = int(part)
        return value[index] if index < len(value) else _MISSING
    return _MISSING


def _items(value: Any) -> Sequence[Any]:
    """The contexts for which a section over `value` is rendered."""
    if _is_list(value):
        return value
    absent = value is None or value == "" or value == 0  # `False == 0`
    return () if absent else (value,)


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (list, tuple))


def _as_text(value: Any, tag: TemplateVariable) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(_exact(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TemplateError(
            f"the value of {_dotted(tag.path)!r} is not valid JSON: {error}", *tag.place
        ) from error


def _exact(value: Any) -> Any:
    """Convert whole floats to integers, as the store does: 3.0 becomes 3."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _MAX_EXACT:
        return int(value)
    if isinstance(value, Mapping):
        return {key: _exact(each) for key, each in value.items()}
    if _is_list(value):
        return [_exact(each) for each in value]
    return value
