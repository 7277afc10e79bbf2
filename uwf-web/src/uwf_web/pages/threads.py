"""The lists of threads: what waits for a person, and all of them."""

from typing import TYPE_CHECKING

from uwf_core.errors import UsageError
from uwf_core.ids import ThreadId
from uwf_web.page import Document, Page, Visit

if TYPE_CHECKING:
    from uwf_core.client import ThreadFilter

ROWS = 50
STATUSES = ("active", "idle", "running", "suspended", "completed", "cancelled", "corrupt")


def read_threads(visit: Visit) -> Document:
    """A page of threads, newest first, by the filter of the query."""
    found, before = visit.client.list(_filter(visit)), visit.query.get("before", "")
    # Several threads may begin in one millisecond, of which the key is one.
    rows = [row for row in found if not before or row["thread"] < before][:ROWS]
    return {"threads": rows}


def _filter(visit: Visit) -> "ThreadFilter":
    from uwf_core.client import ThreadFilter

    query, before = visit.query, visit.query.get("before", "")
    if before and not ThreadId.matches(before):
        raise UsageError(f"{before!r} is not a thread id", hint="begin at the first page")
    statuses = [each for each in query.get("status", "").split(",") if each]
    if unknown := set(statuses) - set(STATUSES):
        raise UsageError(f"unknown status {min(unknown)!r}", hint=f"use {', '.join(STATUSES)}")
    return ThreadFilter(
        all=True,
        statuses=statuses,
        before_ms=ThreadId(before).created_ms + 1 if before else None,
        limit=ROWS + (ROWS if before else 0),
        workflow=query.get("workflow") or None,
        text=query.get("text") or None,
        children="children" in query,
        trials="trials" in query,
    )


def list_command(visit: Visit) -> tuple[str, ...]:
    """The command of the list as it is filtered."""
    import shlex

    words = ["uwf", "thread", "list", "--all"]
    for name in ("status", "workflow", "text"):
        if visit.query.get(name):
            words += [f"--{name}", visit.query[name]]
    words += [f"--{name}" for name in ("children", "trials") if name in visit.query]
    return shlex.join([*words, "--limit", str(ROWS)]), "uwf thread show THREAD"


def read_inbox(visit: Visit) -> Document:
    """What waits for a person."""
    return {"items": list(visit.client.inbox())}


THREADS: Page = Page("threads.html", read_threads, list_command)
INBOX: Page = Page("inbox.html", read_inbox, ("uwf inbox",))
