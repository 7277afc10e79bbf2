"""The page as data: the same statements, for programs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref
from uwf_explain.explanation.page import why_page
from uwf_explain.explanation.statements import Statement, WhyPage

if TYPE_CHECKING:
    from uwf_core.client import Client


def explain_thread(client: "Client", thread: str, step: str | None = None) -> dict[str, Any]:
    """Why a thread went as it did: sections of statements with the nodes that prove them."""
    if step is not None and not Ref.matches(step):
        step = client.step(step)["step"]
    return why_document(why_page(client.thread(thread), step))


def why_document(page: WhyPage) -> dict[str, Any]:
    """The page as JSON: each statement has `kind`, `text`, `refs`, `quote`, `command`, `note`."""
    return {
        "thread": page.thread,
        "head": page.head,
        "root": page.root,
        "title": page.title,
        "sections": [
            {
                "title": each.title,
                "step": each.step,
                "number": each.number,
                "role": each.role,
                "status": each.status,
                "statements": _statements(each.statements),
                "prompt": _statements(each.prompt),
            }
            for each in page.sections
        ],
    }


def _statements(statements: Sequence[Statement]) -> list[dict[str, Any]]:
    return [
        {
            "kind": each.kind,
            "text": each.text,
            "refs": list(each.refs),
            "quote": each.quote,
            "command": each.command,
            "note": each.note,
        }
        for each in statements
    ]
