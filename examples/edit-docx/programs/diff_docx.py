"""The differ: `diff_docx.py --original=A.docx --modified=B.docx`, like `diff`: exit code 0 if the
texts are the same, 1 if they differ. Then diff.docx, beside the modified document, shows deleted
text struck out in red and new text underlined in green.
"""

from argparse import Namespace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

from program import run

if TYPE_CHECKING:
    from docx_lines import Change, Line

SAME, DIFFERENT = 0, 1
RED, GREEN = (0xC0, 0x00, 0x00), (0x00, 0x80, 0x00)


def diff(options: Namespace) -> tuple[int, dict[str, Any]]:
    """Compare the texts, and write the differences."""
    from docx import Document
    from docx_lines import changes, lines_of

    old, new = lines_of(Document(options.original)), lines_of(Document(options.modified))
    found = changes(old, new)
    different = sum(max(len(each.old), len(each.new)) for each in found if not each.is_same)
    if not different:
        return SAME, {}
    file = Path(options.modified).with_name("diff.docx")
    document = Document()
    for change in found:
        _show(document, change, old, new)
    document.save(str(file))
    return DIFFERENT, {"diff": str(file), "changes": different}


def _show(document: Any, change: "Change", old: "list[Line]", new: "list[Line]") -> None:
    """Paragraphs of a change; of one that is replaced, word by word."""
    pairs = min(len(change.old), len(change.new))
    for a, b in zip(change.old, change.new, strict=False):
        _words(document.add_paragraph(style=new[b].style), old[a].text.split(), new[b].text.split())
    for a in change.old[pairs:]:
        _words(document.add_paragraph(style=old[a].style), old[a].text.split(), [])
    for b in change.new[pairs:]:
        _words(document.add_paragraph(style=new[b].style), [], new[b].text.split())


def _words(paragraph: Any, old: list[str], new: list[str]) -> None:
    from docx.shared import RGBColor

    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            paragraph.add_run(" ".join(old[a:b]) + " ")
            continue
        if b > a:
            deleted = paragraph.add_run(" ".join(old[a:b]) + " ")
            deleted.font.strike, deleted.font.color.rgb = True, RGBColor(*RED)
        if d > c:
            added = paragraph.add_run(" ".join(new[c:d]) + " ")
            added.font.underline, added.font.color.rgb = True, RGBColor(*GREEN)


if __name__ == "__main__":
    run(diff, ["original", "modified"])
