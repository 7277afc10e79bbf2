"""A summary in place of older steps (`thread compact`) as a document and as Markdown."""

from typing import TYPE_CHECKING

from uwf_core.markdown import fenced

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.documents import CompactedDocument
    from uwf_core.thread.summaries import StepsSummary
    from uwf_core.thread.types import CompactedPayload


def compacted_document(store: "Store", thread: str, found: "StepsSummary") -> "CompactedDocument":
    """A summary that holds in a thread."""
    node: CompactedPayload = found.event.payload  # type: ignore[assignment]
    own = {"thread": thread, "event": found.event.ref, "number": found.number}
    return {**node, **own, "summary": found.text(store)}  # type: ignore[typeddict-item]


def summary_markdown(store: "Store", found: "StepsSummary") -> str:
    """The summary at its place in a thread: after the newest step that it replaces."""
    payload = found.event.payload
    author = payload["agent"] or (payload["by"] or {}).get("user") or "a person"
    return (
        f"## Compacted up to step {found.number}\n\n{found.event.ref} · {author} · new sessions "
        f"get this summary in place of the steps above\n\n{fenced(found.text(store))}"
    )
