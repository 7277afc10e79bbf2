"""The text of a Word document as lines of Markdown, and back. Tables and pictures are not text
here: they stay where they are.
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

from docx.text.paragraph import Paragraph

LISTS = {"List Bullet": "- ", "List Number": "1. "}
_ALIKE = 0.4
_HEADING = re.compile(r"(#{1,6}) +(.*)")
_ITEM = re.compile(r"(?:[-*]|\d+\.) +(.*)")


class Line(NamedTuple):
    """A paragraph: its style by name, and its text in one line."""

    style: str
    text: str

    def markdown(self) -> str:
        """The line with the mark of its style."""
        if self.style.startswith("Heading "):
            return f"{'#' * int(self.style.removeprefix('Heading '))} {self.text}"
        return LISTS.get(self.style, "") + self.text


class Change(NamedTuple):
    """Lines of the original, and those that replace them; equal if `is_same`."""

    is_same: bool
    old: range
    new: range


def line_of(paragraph: Paragraph) -> Line:
    """A paragraph of a document as a line. A title is a heading of the first level."""
    name = str(paragraph.style.name) if paragraph.style is not None else "Normal"
    style = "Heading 1" if name == "Title" else name
    if not re.fullmatch(r"Heading [1-6]", style) and style not in LISTS:
        style = "Normal"
    return Line(style, " ".join(paragraph.text.split()))


def paragraphs(document: Any) -> list[Paragraph]:
    """The paragraphs of a document that have text."""
    return [each for each in document.paragraphs if each.text.strip()]


def lines_of(document: Any) -> list[Line]:
    """The text of a document."""
    return [line_of(each) for each in paragraphs(document)]


def as_markdown(lines: list[Line]) -> str:
    """A file for the writer."""
    return "\n\n".join(line.markdown() for line in lines) + "\n" if lines else ""


def read_markdown(file: Path) -> list[Line]:
    """The lines of the writer's file. Lines of a paragraph are joined."""
    return list(_lines(file.read_text(encoding="utf-8")))


def _lines(text: str) -> Iterator[Line]:
    plain: list[str] = []
    for each in [*text.splitlines(), ""]:
        line = _marked(each.strip())
        if each.strip() and line is None:
            plain.append(each.strip())
            continue
        if plain:
            yield Line("Normal", " ".join(" ".join(plain).split()))
            plain = []
        if line is not None:
            yield line


def _marked(text: str) -> Line | None:
    heading, item = _HEADING.fullmatch(text), _ITEM.fullmatch(text)
    if heading:
        return Line(f"Heading {len(heading[1])}", " ".join(heading[2].split()))
    if item:
        style = "List Number" if text[0].isdigit() else "List Bullet"
        return Line(style, " ".join(item[1].split()))
    return None


def changes(old: list[Line], new: list[Line]) -> list[Change]:
    """The steps from one text to another one, in order. A line that was edited is one change."""
    found: list[Change] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "replace":
            found += _paired(old, new, range(a, b), range(c, d))
        else:
            found.append(Change(tag == "equal", range(a, b), range(c, d)))
    return found


def _paired(old: list[Line], new: list[Line], a: range, b: range) -> Iterator[Change]:
    """The two lines that are most alike as one change, then the same before and after them."""
    alike = ((_likeness(old[x], new[y]), -x, -y) for x in a for y in b)
    best, x, y = max(alike, default=(0.0, 0, 0))
    if best >= _ALIKE:
        yield from _paired(old, new, range(a.start, -x), range(b.start, -y))
        yield Change(False, range(-x, -x + 1), range(-y, -y + 1))
        yield from _paired(old, new, range(-x + 1, a.stop), range(-y + 1, b.stop))
    elif a or b:
        yield Change(False, a, b)


def _likeness(old: Line, new: Line) -> float:
    return SequenceMatcher(None, old.text.split(), new.text.split(), autojunk=False).ratio()
