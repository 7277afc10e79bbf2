"""The builder: `build_docx.py --draft=FILE.draft.md [--original=FILE.docx]`.

With an original it writes FILE.modified.docx beside it: the original, in which only the paragraphs
that differ from the draft are changed; exit code 0. Without one it writes FILE.docx; exit code 3.
If the draft is missing or empty, exit code 4. The original is only read.
"""

from argparse import Namespace
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from program import run

if TYPE_CHECKING:
    from docx_lines import Line

MODIFIED, GENERATED, REJECTED = 0, 3, 4
DRAFT = ".draft.md"


def build(options: Namespace) -> tuple[int, dict[str, Any]]:
    """Build the document."""
    from docx_lines import read_markdown

    draft = Path(options.draft)
    if not draft.name.endswith(DRAFT) or not draft.is_file():
        return REJECTED, {"reason": f"there is no file {options.draft!r}; its name ends in {DRAFT}"}
    lines = read_markdown(draft)
    if not lines:
        return REJECTED, {"reason": f"{draft} is empty"}
    if not options.original:
        return GENERATED, {"document": str(_generate(draft, lines))}
    original = Path(options.original)
    return MODIFIED, {"original": str(original), "modified": str(_modify(original, lines))}


def _generate(draft: Path, lines: "list[Line]") -> Path:
    from docx import Document

    document = Document()
    for line in lines:
        document.add_paragraph(line.text, style=line.style)
    file = draft.with_name(draft.name.removesuffix(DRAFT) + ".docx")
    document.save(str(file))
    return file


def _modify(original: Path, lines: "list[Line]") -> Path:
    from docx import Document
    from docx_lines import changes, lines_of, paragraphs

    document = Document(str(original))
    old = paragraphs(document)
    for change in changes(lines_of(document), lines):
        if change.is_same:
            continue
        wanted = [lines[each] for each in change.new]
        replaced = [old[each] for each in change.old]
        for paragraph, line in zip(replaced, wanted, strict=False):
            _write(document, paragraph, line)
        for paragraph in replaced[len(wanted) :]:
            paragraph._element.getparent().remove(paragraph._element)
        after = (
            replaced[-1] if replaced else (old[change.old.start - 1] if change.old.start else None)
        )
        for line in wanted[len(replaced) :]:
            after = _insert(document, old, after, line)
    file = original.with_suffix(".modified.docx")
    document.save(str(file))
    return file


def _write(document: Any, paragraph: Any, line: "Line") -> None:
    """Give a paragraph another text, in the format of its first run."""
    from docx_lines import line_of

    if line_of(paragraph).style != line.style and line.style in document.styles:
        paragraph.style = document.styles[line.style]
    first = (paragraph.runs or [paragraph.add_run()])[0]
    for each in list(paragraph._element):  # also links, whose text is in `line`
        if each not in (paragraph._element.pPr, first._element):
            paragraph._element.remove(each)
    first.text = line.text


def _insert(document: Any, old: list[Any], after: Any, line: "Line") -> Any:
    """A new paragraph after another one, or before the first; like its neighbour in format."""
    from docx.text.paragraph import Paragraph

    neighbour = after if after is not None else (old[0] if old else None)
    if neighbour is None:
        return document.add_paragraph(line.text, style=line.style)
    element = deepcopy(neighbour._element)
    (neighbour._element.addnext if after is not None else neighbour._element.addprevious)(element)
    paragraph = Paragraph(element, neighbour._parent)
    _write(document, paragraph, line)
    return paragraph


if __name__ == "__main__":
    run(build, ["draft", "original"])
