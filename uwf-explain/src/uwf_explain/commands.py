"""`uwf thread why` and `uwf thread diff` of two threads."""

import json
from pathlib import Path

from uwf_core.commands import Session
from uwf_core.errors import ExitCode, UsageError
from uwf_core.fields.records import write_record
from uwf_explain.explanation.page import why_page
from uwf_explain.explanation.statements import WhyPage


def why(session: Session, thread: str, step: str | None, output: str | None) -> None:
    """Explain a thread for `uwf thread why`."""
    suffix = "" if output is None else _suffix(output)
    found = session.recorded_thread(thread)
    page = why_page(found, None if step is None else session.recorded_step(step).ref)
    if output is not None:
        _write(session, page, output, suffix)
    elif session.format == "text":
        from uwf_explain.explanation.text import why_text

        session.write_lines(why_text(page))
    else:
        head = {name: each for name, each in page._asdict().items() if name != "sections"}
        rows = (json.dumps(write_record(each), ensure_ascii=False) for each in page.sections)
        session.emit_rows("sections", rows, lambda *_: "", head)


def thread_diff(session: Session, a: str, b: str, quota: int, output: str | None) -> int:
    """Compare two threads for `uwf thread diff`."""
    from uwf_explain.comparison.compare import compare
    from uwf_explain.comparison.text import thread_diff_text

    document = compare(session.recorded_thread(a), session.recorded_thread(b))
    if output is not None:
        from uwf_explain.comparison.page import diff_page

        session.write_file(output, "the page", [diff_page(document).encode()])
        session.note(f"written: {output}")
    session.emit(document, lambda each, screen: thread_diff_text(each, screen, quota))
    return ExitCode.DONE if document["same"] else ExitCode.FAILED


def _suffix(output: str) -> str:
    suffix = Path(output).suffix.lower()
    if suffix not in (".html", ".md"):
        raise UsageError(
            f"the name of the page ends with {suffix!r}" if suffix else "the page has no suffix",
            where=output,
            hint="end it with .html or .md",
        )
    return suffix


def _write(session: Session, page: WhyPage, output: str, suffix: str) -> None:
    from uwf_explain.explanation.html import why_html
    from uwf_explain.explanation.markdown import why_markdown

    parts = why_html(page) if suffix == ".html" else why_markdown(page)
    file, size = session.write_file(output, "the page", map(str.encode, parts))
    document = {
        "thread": page.thread,
        "head": page.head,
        "format": "html" if suffix == ".html" else "markdown",
        "bytes": size,
        "file": file,
    }
    session.emit_file(document)
