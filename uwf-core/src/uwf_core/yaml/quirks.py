"""What PyYAML reads in another way than uwf: some characters, and comments that may be text.

Comments of YAML that their writer may have meant as text: `Closes #42` is `Closes` to YAML.
They are found in the source, beside the events of the parser: behind a plain text, in front of it
(`text: #42`), and on the lines below that are indented as its continuation.

Characters that PyYAML reads in another way are swapped one for one while it reads. Each becomes a
private character of Unicode that the text does not have, so positions stay:

- NEL, LS and PS are ordinary characters in YAML 1.2, but libyaml breaks lines there;
- JSON writes a character beyond the basic plane as two escapes, which YAML does not know;
- what PyYAML would read as a comment and belongs to a text.
"""

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from uwf_core.fields.mismatch import short
from uwf_core.yaml.nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence
from uwf_core.yaml.problem import Problem, error_at, warning_at

_BEGIN = r"(?<![^ \t\r\n])#"
_FLOW_BEGIN = r"(?<![^ \t\r\n,:\[{])#"
_FLOW_END = r"[,\[\]{}]"
_LINE = r"[^\r\n]*"
_INDICATOR = r"\A[ \t]*:(?=\s)|^[ \t]*(?:-[ \t]+)*-(?=\s)"
_NUMBERED = r"#\w"
_NOT_PLAIN = "[{'\""
_BEHIND = r"[ \t]+#"
SIGNS: Final = "#:"
"""What a comment may have that plain text may not."""
_BREAKS = "\x85\u2028\u2029"
_PAIR = r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\."
_ESCAPED = r"\\[uU](?:0000)?([e-fE-F][0-9a-fA-F]{3})"


class Part(NamedTuple):
    """A part of the source, by its indices."""

    start: int
    end: int


def part_of_text(source: str, before: int, found: Part, indent: int) -> Part:
    """A plain text in a block with all comments that may belong to it.

    Args:
        source: the document. before: where its key, or the item above it, ends.
        found: what the parser found. indent: of the collection around it, in characters.
    """
    start = found.start
    for each in re.finditer(_INDICATOR, source[before : found.start], re.MULTILINE):
        start = before + each.end()
    deeper = rf"[ ]{{{indent + 1},}}[^\r\n]*"
    below = rf"[^\r\n]*(?:\r?\n(?:[ \t]*(?=\r?\n|\Z)|{deeper}))*"
    match = re.compile(below).match(source, found.end)
    return Part(start, match.end() if match else found.end)


def signs_in_text(source: str, part: Part) -> Iterator[int]:
    """The indices of `SIGNS` in the comments of a part in a block."""
    for line in re.compile(_LINE).finditer(source, part.start, part.end):
        begin = re.compile(_BEGIN).search(source, line.start(), line.end())
        if begin:
            yield from _signs(source, Part(begin.start(), line.end()))


def signs_in_brackets(source: str, at: int, *, anywhere: bool = False) -> Iterator[int]:
    """The same in the rest of a line in brackets: behind the plain text that ends `at`, or
    `anywhere`. A comma or a bracket ends such a comment.
    """
    if not anywhere and re.compile(_BEHIND).match(source, at) is None:
        return
    line = re.compile(_LINE).match(source, at)
    end = line.end() if line else at
    while begin := re.compile(_FLOW_BEGIN).search(source, at, end):
        stop = re.compile(_FLOW_END).search(source, begin.start(), end)
        at = stop.start() if stop else end
        yield from _signs(source, Part(begin.start(), at))
        if not anywhere:
            return


def signs_of_items(source: str, gap: Part, *, may_begin: bool) -> Iterator[int]:
    """The indices of `SIGNS` of comments between two items of a list in brackets that stand in the
    place of an item and continue with a letter or a digit: `[#12,` and a separate line, `#13`.

    Args:
        source: the document. gap: what is between the items.
        may_begin: whether an item may begin with the gap, without a comma in it.
    """
    for line in re.compile(_LINE).finditer(source, gap.start, gap.end):
        begin = re.compile(_FLOW_BEGIN).search(source, line.start(), line.end())
        end = begin.start() if begin else line.end()
        may_begin = may_begin or "," in source[line.start() : end]
        if begin and may_begin and re.compile(_NUMBERED).match(source, begin.start()):
            stop = re.compile(_FLOW_END).search(source, begin.start(), line.end())
            # What a bracket or a quote follows is a comment.
            if source[stop.start()] == "," if stop else source[gap.end] not in _NOT_PLAIN:
                yield from _signs(source, Part(begin.start(), stop.start() if stop else line.end()))
                return


def without_comments(text: str, mark: str) -> str:
    """A plain text as YAML reads it, where each of its comments begins with `mark`."""
    lines = [line.partition(mark)[0].strip(" \t") for line in text.splitlines()]
    return " ".join(line for line in lines if line)


def _signs(source: str, part: Part) -> Iterator[int]:
    return (at for at in range(part.start, part.end) if source[at] in SIGNS)


class Swaps:
    """The swaps of one text.

    Args:
        text: what was written.
        plain: the indices of characters that belong to a text, whatever YAML says.

    Attributes:
        hidden: what PyYAML gets. marks: what it gets for each character at `plain`.
    """

    __slots__ = ("_back", "_escapes", "_unused", "hidden", "marks")

    def __init__(self, text: str, plain: Collection[int] = ()) -> None:
        self.hidden = text
        self.marks: dict[str, str] = {}
        self._back: dict[int, str] = {}
        self._escapes: dict[str, str] = {}
        breaks = [each for each in _BREAKS if each in text]
        if not (breaks or plain or "\\u" in text):
            return
        taken = {int(code, 16) for code in re.findall(_ESCAPED, text)}
        free = (code for code in range(0xE000, 0xF900) if code not in taken)
        self._unused = (chr(code) for code in free if chr(code) not in text)
        letters = list(text)
        for at in plain:
            letters[at] = self._mark(text[at])
        table = {ord(each): self._private(each) for each in breaks}
        self.hidden = "".join(letters).translate(table)
        if "\\u" in text:
            self.hidden = re.sub(_PAIR, self._hide_pair, self.hidden, flags=re.DOTALL)

    def restore(self, text: str, style: str = "") -> str:
        """The text of a scalar as it was written; the escapes in double quotes are read."""
        if not self._back:
            return text
        if self._escapes and style == '"':
            whole = text.translate(self._back).encode("utf-16", "surrogatepass")
            return whole.decode("utf-16", "surrogatepass")
        for written, hidden in self._escapes.items():
            text = text.replace(hidden, written)
        return text.translate(self._back)

    def _mark(self, character: str) -> str:
        if character not in self.marks:
            self.marks[character] = self._private(character)
        return self.marks[character]

    def _private(self, character: str) -> str:
        private = next(self._unused, character)  # after 6,400 others it stays as it is
        self._back[ord(private)] = character
        return private

    def _hide_pair(self, found: re.Match[str]) -> str:
        return found[0] if found[1] is None else self._hide(found[1]) + self._hide(found[2])

    def _hide(self, half: str) -> str:
        written = f"\\u{half}"
        if written not in self._escapes:
            private = self._private(chr(int(half, 16)))
            self._escapes[written] = f"\\u{ord(private):04x}"
        return self._escapes[written]


_PROSE: Final = frozenset(
    (
        *("argv", "criteria", "criterion", "description", "goal", "handed", "instructions"),
        *("location", "output", "procedure", "prompt", "question", "result", "rubric", "title"),
    )
)
"""Keys of workflows, tasks and calibration sets that hold sentences or templates."""

_COMMENT = re.compile(r"(?<!\S)#(.*)")
_MEANT = re.compile(r"\w|\{\{")
_TAG = re.compile(r"\{\{.*?\}\}")


def check_comments(root: YamlNode) -> Iterator[Problem]:
    """Each plain text in a key for sentences whose end is a comment to YAML, but hardly to its
    writer: it continues with a digit, a letter or a template. A template that is lost is an error.
    """
    stack: list[tuple[str, YamlNode]] = [("", root)]
    while stack:
        key, node = stack.pop()
        if isinstance(node, YamlMapping):
            stack.extend(node.values.items())
        elif isinstance(node, YamlSequence):
            stack.extend((key, item) for item in node.items)
        elif isinstance(node, YamlScalar) and node.whole != node.text and key in _PROSE:
            yield from _problem(key, node)


def _problem(key: str, node: YamlScalar) -> Iterator[Problem]:
    for number, line in enumerate(node.whole.split("\n")):
        comment = _COMMENT.search(line)
        if comment is None:
            continue
        is_meant = _MEANT.match(comment[1]) is not None
        is_own_line = number > 0 and comment.start() == 0
        tag = None if is_own_line and not is_meant else _TAG.search(comment[1])
        if tag is None and not is_meant:
            continue
        lost = f"the template {short(tag[0])}" if tag else f"{short(comment[0])!r}"
        message = f"{key} ends before {lost}: in a text without quotes, ` #` begins a comment"
        hint = f"put the text in quotes, or after `{key}: |`; write a comment as `# …` above it"
        at = error_at if tag else warning_at
        yield at(node.place, "text-ends-at-comment", message, hint)
        return
