"""The lists of threads, what waits for a person, one thread, and the form that starts one."""

from uwf_core.client import ThreadFilter
from uwf_core.errors import UsageError
from uwf_core.ids import ThreadId
from uwf_web.actions import known_folders
from uwf_web.page import Document, Page, Visit

ROWS = 50
STATUSES = ("active", "idle", "running", "suspended", "completed", "cancelled", "corrupt")


def read_threads(visit: Visit) -> Document:
    """A page of threads, newest first, by the filter of the query."""
    found, before = visit.client.list(_filter(visit)), visit.query.get("before", "")
    # Several threads may begin in one millisecond, of which the key is one.
    rows = [row for row in found if not before or row["thread"] < before][:ROWS]
    return {"threads": rows}


def _filter(visit: Visit) -> "ThreadFilter":
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


def read_thread(visit: Visit) -> Document:
    """The documents of the thread, one key for each command."""
    client, thread = visit.client, visit.path["thread"]
    shown = client.show(thread)
    return {
        "thread": shown,
        "steps": list(client.steps(thread)),
        "workflow": client.workflow(shown["workflow"]),
        "usage": client.usage(thread),
        "turns": list(client.turns(thread, running=True)) if shown["running"] else [],
        "plugins": client.plugins(),
    }


def _commands(visit: Visit) -> tuple[str, ...]:
    thread = visit.path["thread"]
    return (
        f"uwf thread show {thread}",
        f"uwf step list {thread}",
        f"uwf workflow show {visit.client.show(thread)['workflow']}",
        f"uwf usage {thread}",
        f"uwf step turns {thread} --running",
        "uwf plugin list",
    )


THREAD: Page = Page("thread.html", read_thread, _commands)


def read_workflows(visit: Visit) -> Document:
    """The workflows that can be started here."""
    return {"workflows": list(visit.client.workflows())}


def read_start(visit: Visit) -> Document:
    """The workflow, and the folders in which it may run."""
    return {
        "name": visit.path["workflow"],
        "workflow": visit.client.workflow(visit.path["workflow"]),
        "folders": known_folders(visit.client),
    }


WORKFLOWS: Page = Page("workflows.html", read_workflows, ("uwf workflow list",))
START: Page = Page("start.html", read_start, ("uwf workflow show {workflow}",))
