"""`uwf thread list`: its options, filters and columns."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.table import Column, table
from uwf_core.cli.session import Session, now_ms

if TYPE_CHECKING:
    from uwf_core.views.row import ThreadFilter


def thread_filter(
    *,
    status: str | None = None,
    tag: Sequence[str] = (),
    after: int | None = None,
    before: int | None = None,
    **others: Any,
) -> "ThreadFilter":
    """The filter of the options that select threads.

    Raises:
        UsageError: a wrong tag.
    """
    from uwf_core.views.row import ThreadFilter

    tags: dict[str, str] = {}
    if tag:
        from uwf_core.thread.tags import parse_tags

        tags = parse_tags(tag)
    statuses = () if status is None else tuple(word.strip() for word in status.split(","))
    return ThreadFilter(statuses=statuses, after_ms=after, before_ms=before, tags=tags, **others)


def list_(session: Session, **options: Any) -> None:
    """List threads, newest first."""
    from uwf_core.views.thread_list import thread_rows

    chosen = thread_filter(**options)
    session.emit_rows("threads", thread_rows(session.engine, chosen), threads_text)


_COLUMNS = (
    Column("thread", "THREAD"),
    Column("status", "STATUS", status=True),
    Column("workflowName", "WORKFLOW", least=8, rank=2),
    Column("task", "TASK", least=40, rank=6, below=True),
    Column("role", "ROLE", least=5, rank=5),
    Column("reason", "REASON", below=True),
    Column("steps", "STEPS", rank=8, right=True),
    Column("cost", "COST", rank=7, right=True),
    Column("updated", "UPDATED", rank=4, right=True),
    Column("parent", "CALLED BY", rank=8),
    Column("original", "ORIGINAL", rank=9),
    Column("folder", "FOLDER", least=12, rank=10),
)


def threads_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The rows of `thread list`. A column in which no row has anything is left out."""
    threads: Sequence[Mapping[str, Any]] = document["threads"]
    if not threads:
        return "no unfinished threads; next: uwf thread list --all"
    now = now_ms()
    rows = [
        {
            **each,
            "role": each["suspendedRole"] or each["currentRole"],
            "reason": _reason(each),
            "folder": each["cwd"] or None,
            "cost": amounts.cost(each["usage"]),
            "tagged": ", ".join(f"{k}={v}" for k, v in each["tags"].items()) or None,
            "updated": amounts.ago(each["updatedAtMs"], now),
        }
        for each in threads
    ]
    columns = [each for each in _COLUMNS if any(row[each.key] is not None for row in rows)]
    return table(columns, rows, screen)


def _reason(row: Mapping[str, Any]) -> str | None:
    """Why a thread waits: the kind of reason, and its message; or its time."""
    parts = [row["suspendReason"], row["suspendMessage"], amounts.waiting(row)]
    return ": ".join(filter(None, parts)) or None
