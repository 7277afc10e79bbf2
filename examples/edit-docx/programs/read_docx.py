"""The reader: `read_docx.py --original=FILE.docx` writes FILE.draft.md beside it; exit code 0.
Without a document it names the draft of a new one; exit code 3.
"""

from argparse import Namespace
from pathlib import Path
from typing import Any

from program import run

EDIT, GENERATE = 0, 3
NEW = "document.draft.md"


def read(options: Namespace) -> tuple[int, dict[str, Any]]:
    """Write the draft."""
    if not options.original:
        return GENERATE, {"draft": NEW}
    from docx import Document
    from docx_lines import as_markdown, lines_of

    original = Path(options.original)
    draft = original.with_suffix(".draft.md")
    draft.write_text(as_markdown(lines_of(Document(str(original)))), encoding="utf-8")
    return EDIT, {"draft": str(draft)}


if __name__ == "__main__":
    run(read, ["original"])
