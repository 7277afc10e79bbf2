"""The reader: `read_docx.py --original=FILE.docx` makes a new folder FILE-1 (or the next free
number) with a copy of the document, original.docx, and its text, draft.md; exit code 0. Without a
document it makes a folder document-1 and names the draft of a new one; exit code 3.

Two threads never share a folder, because only one of them can make it.
"""

from argparse import Namespace
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

from program import DRAFT, ORIGINAL, run

EDIT, GENERATE = 0, 3


def read(options: Namespace) -> tuple[int, dict[str, Any]]:
    """Write the draft."""
    if not options.original:
        return GENERATE, {"draft": str(_new_folder("document") / DRAFT)}
    from docx import Document
    from docx_lines import as_markdown, lines_of

    original = Path(options.original)
    content = original.read_bytes()
    text = as_markdown(lines_of(Document(BytesIO(content))))
    folder = _new_folder(original.stem)
    (folder / ORIGINAL).write_bytes(content)
    (folder / DRAFT).write_text(text, encoding="utf-8")
    return EDIT, {"draft": str(folder / DRAFT), "original": str(folder / ORIGINAL)}


def _new_folder(name: str) -> Path:
    """A folder that no other thread has."""
    for number in count(1):
        folder = Path(f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise AssertionError


if __name__ == "__main__":
    run(read, ["original"])
