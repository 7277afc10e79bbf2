"""`uwf thread why`: explain a thread, each sentence with its proof."""

from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.cli.bundle import exported_text
from uwf_core.cli.session import Session
from uwf_core.errors import UsageError

if TYPE_CHECKING:
    from uwf_core.views.why.statements import WhyPage


def why(session: Session, thread: str, step: str | None, output: str | None) -> None:
    """Print why a thread went as it did, or write it as a page."""
    from uwf_core.engine.find import find_step
    from uwf_core.views.recorded import open_thread
    from uwf_core.views.why.page import why_page

    suffix = "" if output is None else _suffix(output)
    found = open_thread(session.engine, thread)
    page = why_page(found, None if step is None else find_step(session.engine, step))
    if output is not None:
        _write(session, page, output, suffix)
    elif session.format == "text":
        from uwf_core.escape import clean
        from uwf_core.views.why.text import why_text

        session.write(clean(why_text(page)))
    else:
        from uwf_core.views.why.document import why_document

        session.emit(why_document(page), lambda *_: "")


def _suffix(output: str) -> str:
    suffix = Path(output).suffix.lower()
    if suffix not in (".html", ".md"):
        raise UsageError(
            f"the name of the page ends with {suffix!r}" if suffix else "the page has no suffix",
            where=output,
            hint="end it with .html or .md",
        )
    return suffix


def _write(session: Session, page: "WhyPage", output: str, suffix: str) -> None:
    from uwf_core.maintenance.replaced_file import replaced_file
    from uwf_core.views.why.html import why_html
    from uwf_core.views.why.markdown import why_markdown

    text = why_html(page) if suffix == ".html" else why_markdown(page)
    target, content = Path(session.engine.cwd, output), text.encode()
    with replaced_file(target, "the page") as file:
        file.write(content)
    document = {
        "thread": page.thread,
        "head": page.head,
        "format": "html" if suffix == ".html" else "markdown",
        "bytes": len(content),
        "file": str(target),
    }
    session.emit(document, exported_text)
