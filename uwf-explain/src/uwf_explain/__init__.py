"""Threads explained and compared: why one went as it did, and where two differ first.

    uwf_explain.why(client, "@last")
    uwf_explain.diff(client, first, second)["divergence"]

Both read what is recorded, and give the documents that the commands print as JSON.
"""

from typing import TYPE_CHECKING, Annotated, Any

if TYPE_CHECKING:
    from uwf_core.client import Client
    from uwf_explain.comparison.documents import ThreadDiffDocument
    from uwf_explain.explanation.statements import WhyPage

__version__ = "0.1.0"


def why(
    client: "Client", thread: str, step: str | None = None
) -> "Annotated[dict[str, Any], WhyPage]":
    """Why a thread went as it did, or how one step of it came about: sections of statements, each
    with the nodes that prove it. Errors as `uwf thread why`.
    """
    from uwf_core.fields.records import write_record
    from uwf_core.ids import Ref
    from uwf_explain.explanation.page import why_page

    if step is not None and not Ref.matches(step):
        step = client.step(step)["step"]
    page = why_page(client.thread(thread), step)
    return {**write_record(page), "sections": list(map(write_record, page.sections))}


def diff(client: "Client", a: str, b: str) -> "ThreadDiffDocument":
    """Two threads, aligned, with their first divergence. Errors as `uwf thread diff`."""
    from uwf_explain.comparison.compare import compare_threads

    return compare_threads(client, a, b)
