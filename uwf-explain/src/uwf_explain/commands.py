"""`uwf thread why` and `uwf thread diff` of two threads."""

from pathlib import Path

from uwf_core.commands import Session, clean
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

        session.write(clean(why_text(page)))
    else:
        session.emit(write_record(page), lambda *_: "")


def thread_diff(session: Session, a: str, b: str, quota: int, output: str | None) -> int:
    """Compare two threads for `uwf thread diff`."""
    from uwf_explain.comparison.compare import compare
    from uwf_explain.comparison.text import thread_diff_text

    document = compare(session.recorded_thread(a), session.recorded_thread(b))
    if output is not None:
        from uwf_explain.comparison.page import diff_page

        session.write_file(output, "the page", diff_page(document).encode())
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

    content = (why_html(page) if suffix == ".html" else why_markdown(page)).encode()
    document = {
        "thread": page.thread,
        "head": page.head,
        "format": "html" if suffix == ".html" else "markdown",
        "bytes": len(content),
        "file": session.write_file(output, "the page", content),
    }
    session.emit_file(document)
