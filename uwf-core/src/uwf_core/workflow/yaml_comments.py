"""Comments of YAML that their writer may have meant as text: `Closes #42` is `Closes` to YAML.

These functions find them in the source, beside the events of the parser: behind a plain text, in
front of it (`text: #42`), and on the lines below that are indented as its continuation.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

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
