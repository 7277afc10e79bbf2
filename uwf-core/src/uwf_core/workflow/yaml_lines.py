"""The YAML that most settings and replies are written in, read without PyYAML.

To import PyYAML takes as long as to start Python once more, and every command reads config.yaml.
Here a text is read if each of its lines is empty, a comment, `key: value`, `key:` with lines below
it, or `- value`, and each value ends on its line: plain text, quoted text without escapes, or lists
and mappings in brackets. Of any other text nothing is read, and PyYAML decides what it means or
what is wrong with it; `tests/core/workflow/test_yaml_lines.py` compares the two.
"""

from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.problem import Place
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence

# Below the limits of PyYAML and of `yaml_source`: 1,024 characters of a key and its value in
# brackets, 100,000 nodes, 64 levels.
_MOST_CHARACTERS = 100_000
_LONGEST_LINE = 1000
_LARGEST_INDENT = 40
_MOST_BRACKETS = 20

_KEY_BEGINS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$")
_KEY = _KEY_BEGINS | frozenset("./-")
_IN_BRACKETS = _KEY | frozenset(" +=~%@*()")
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")
_QUOTES = ("'", '"')
_OPENING = (*_QUOTES, "[", "{")


def compose_lines(text: str, file: str) -> YamlMapping | None:
    """The mapping that the text is, with the places of its nodes; None if it has anything else
    than the lines above. `file` is its name in places.
    """
    if len(text) > _MOST_CHARACTERS or not text.replace("\n", "").isprintable():
        return None
    try:
        return _LineReader(text, file).document()
    except _NotPlain:
        return None


class _NotPlain(Exception):
    """The text has something that is left to PyYAML."""


class _YamlLine(NamedTuple):
    """A line that is neither empty nor a comment, without the blanks around its content."""

    number: int
    indent: int
    content: str


_END = _YamlLine(0, -1, "")


class _LineReader:
    """Reads one text; `at` is the index of the next line."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.lines: list[_YamlLine] = []
        self.at = 0
        for number, line in enumerate(text.split("\n"), 1):
            content = line.strip(" ")
            if content and content[0] != "#":
                indent = len(line) - len(line.lstrip(" "))
                if indent > _LARGEST_INDENT or len(line) > _LONGEST_LINE:
                    raise _NotPlain
                self.lines.append(_YamlLine(number, indent, content))
        self.lines.append(_END)

    def document(self) -> YamlMapping:
        """The whole text. A line that nothing takes, for its indent or its content, ends all."""
        found = self._mapping() if self.lines[0] is not _END else None
        if found is None or self.lines[self.at] is not _END:
            raise _NotPlain
        return found

    def _mapping(self) -> YamlMapping:
        number, indent, _ = self.lines[self.at]
        keys: dict[str, YamlScalar] = {}
        values: dict[str, YamlNode] = {}
        while self.lines[self.at].indent == indent:
            line = self.lines[self.at]
            self.at += 1
            key, colon = self._key(line)
            if key.text in keys:
                raise _NotPlain
            keys[key.text], values[key.text] = key, self._value(line, colon)
        return YamlMapping(Place(self.file, number, indent + 1), keys, values)

    def _key(self, line: _YamlLine) -> tuple[YamlScalar, int]:
        """The key of a line, and the index of its colon."""
        content = line.content
        style = content[0] if content[0] in _QUOTES else ""
        if style:
            colon = content.find(style, 1) + 1
            text = content[1 : colon - 1]
        else:
            colon = content.find(":")
            text = content[: max(colon, 0)]
        is_plain = not style and text and text[0] in _KEY_BEGINS and _KEY.issuperset(text)
        is_quoted = style and colon > 0 and "\\" not in text
        if content[colon : colon + 2] not in (":", ": ") or not (is_plain or is_quoted):
            raise _NotPlain
        return YamlScalar(Place(self.file, line.number, line.indent + 1), text, style), colon

    def _value(self, line: _YamlLine, colon: int) -> YamlNode:
        after = line.content[colon + 1 :]
        text = after.lstrip(" ")
        column = line.indent + len(line.content) - len(text) + 1
        if text and text[0] != "#":
            return self._inline(text, Place(self.file, line.number, column))
        below = self.lines[self.at]
        if below.indent >= line.indent and below.content.startswith("- "):
            return self._sequence()
        if below.indent > line.indent:
            return self._mapping()
        return YamlScalar(Place(self.file, line.number, line.indent + colon + 2), "", "")

    def _sequence(self) -> YamlSequence:
        number, indent, _ = self.lines[self.at]
        items: list[YamlNode] = []
        while self.lines[self.at].indent == indent and self.lines[self.at].content[:2] == "- ":
            line = self.lines[self.at]
            self.at += 1
            text = line.content[1:].lstrip(" ")
            column = indent + len(line.content) - len(text) + 1
            items.append(self._inline(text, Place(self.file, line.number, column)))
        return YamlSequence(Place(self.file, number, indent + 1), items)

    def _inline(self, text: str, place: Place) -> YamlNode:
        """The value that a line ends with."""
        if text[0] not in _OPENING:
            plain = text.partition(" #")[0].rstrip(" ")
            _check_plain(plain)
            return YamlScalar(place, plain, "")
        found, end = _InlineReader(text, place).value(0)
        rest = text[end:].lstrip(" ")
        if rest and (rest[0] != "#" or text[end] != " "):
            raise _NotPlain
        return found


def _check_plain(text: str) -> None:
    """Text without quotes must begin as such, and have no colon that could end a key."""
    begins = text[0] not in _INDICATORS or (text[0] == "-" and text[1:2] not in ("", " "))
    if not begins or ": " in text or text[-1] == ":":
        raise _NotPlain


class _InlineReader:
    """Reads quoted texts and brackets of one line; each method takes the index where it begins and
    returns the index after it.
    """

    def __init__(self, text: str, place: Place) -> None:
        if text.count("[") + text.count("{") > _MOST_BRACKETS:
            raise _NotPlain
        self.text = text
        self.begin = place

    def value(self, at: int) -> tuple[YamlNode, int]:
        first = self.text[at : at + 1]
        if first == "[":
            return self._list(at)
        return self._record(at) if first == "{" else self._scalar(at)

    def _place(self, at: int) -> Place:
        return Place(self.begin.file, self.begin.line, self.begin.column + at)

    def _skip(self, at: int) -> int:
        while self.text[at : at + 1] == " ":
            at += 1
        return at

    def _next(self, at: int, closing: str) -> tuple[bool, int]:
        """After a value: whether the bracket closes here."""
        at = self._skip(at)
        if self.text[at : at + 1] not in (",", closing):
            raise _NotPlain
        return self.text[at] == closing, at + 1

    def _list(self, begin: int) -> tuple[YamlSequence, int]:
        items: list[YamlNode] = []
        at = self._skip(begin + 1)
        is_closed = self.text[at : at + 1] == "]"
        at += is_closed
        while not is_closed:
            item, at = self.value(self._skip(at))
            items.append(item)
            is_closed, at = self._next(at, "]")
        return YamlSequence(self._place(begin), items), at

    def _record(self, begin: int) -> tuple[YamlMapping, int]:
        keys: dict[str, YamlScalar] = {}
        values: dict[str, YamlNode] = {}
        at = self._skip(begin + 1)
        is_closed = self.text[at : at + 1] == "}"
        at += is_closed
        while not is_closed:
            key, at = self._scalar(self._skip(at))
            if self.text[at : at + 2] != ": " or key.text in keys:
                raise _NotPlain
            keys[key.text] = key
            values[key.text], at = self.value(self._skip(at + 1))
            is_closed, at = self._next(at, "}")
        return YamlMapping(self._place(begin), keys, values), at

    def _scalar(self, begin: int) -> tuple[YamlScalar, int]:
        style = self.text[begin : begin + 1]
        if style not in _QUOTES:
            return self._plain(begin)
        end = self.text.find(style, begin + 1)
        inner = self.text[begin + 1 : end]
        if end < 0 or "\\" in inner:
            raise _NotPlain
        return YamlScalar(self._place(begin), inner, style), end + 1

    def _plain(self, begin: int) -> tuple[YamlScalar, int]:
        end = begin
        while (letter := self.text[end : end + 1]) in _IN_BRACKETS or (
            letter == ":" and self.text[end + 1 : end + 2] in _KEY
        ):
            end += 1
        found = self.text[begin:end].rstrip(" ")
        if not found:
            raise _NotPlain
        _check_plain(found)
        return YamlScalar(self._place(begin), found, ""), begin + len(found)
