"""The builder: `build_docx.py --draft=FOLDER/draft.md [--original=FILE.docx]`.

With an original it writes FOLDER/modified.docx: the original, in which only the paragraphs that
differ from the draft are changed; exit code 0. Without one it writes FOLDER/document.docx; exit
code 3. If the draft is missing or empty, exit code 4. If the original is not what the reader copied
to FOLDER/original.docx, exit code 5. The original is only read.
"""

from argparse import Namespace
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from program import DRAFT, ORIGINAL, run

if TYPE_CHECKING:
    from docx_lines import Line

MODIFIED, GENERATED, REJECTED, CHANGED = 0, 3, 4, 5


def build(options: Namespace) -> tuple[int, dict[str, Any]]:
    """Build the document."""
    from docx_lines import read_markdown

    draft = Path(options.draft)
    if draft.name != DRAFT or not draft.is_file():
        return REJECTED, {"reason": f"there is no file {options.draft!r}; its name is {DRAFT}"}
    lines = read_markdown(draft)
    if not lines:
        return REJECTED, {"reason": f"{draft} is empty"}
    if not options.original:
        return GENERATED, {"document": str(_generate(draft, lines))}
    original, read = Path(options.original), draft.with_name(ORIGINAL)
    reason = _change(original, read)
    if reason:
        return CHANGED, {"reason": reason}
    return MODIFIED, {"original": str(read), "modified": str(_modify(read, lines))}


def _change(original: Path, read: Path) -> str | None:
    """Why the original is not the document that the reader read."""
    for file in (original, read):
        if not file.is_file():
            return f"{file} is missing"
    if original.read_bytes() != read.read_bytes():
        return f"{original} and {read} differ, but {read} was copied from it"
    return None


def _generate(draft: Path, lines: "list[Line]") -> Path:
    from docx import Document

    document = Document()
    for line in lines:
        document.add_paragraph(line.text, style=line.style)
    file = draft.with_name("document.docx")
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
    file = original.with_name("modified.docx")
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
