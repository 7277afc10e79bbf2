"""Threads compared and explained: two side by side, why one went as it did, what they used."""

from typing import Any

import uwf_explain
from uwf_core.client import ThreadFilter
from uwf_core.errors import UsageError
from uwf_web.page import Document, Page, Visit

SHOWN = 50
GROUPS = ("workflow", "role", "agent", "model")


def read_compare(visit: Visit) -> Document:
    """A thread, and the newest ones that it can be compared with."""
    thread = visit.client.show(visit.path["thread"])
    wanted = ThreadFilter(all=True, children=True, workflow=thread["workflowName"], limit=SHOWN)
    return {"thread": thread, "threads": visit.client.list(wanted)}


def read_diff(visit: Visit) -> Document:
    """Two threads, aligned."""
    return {**uwf_explain.diff(visit.client, visit.path["thread"], visit.path["other"])}


def read_why(visit: Visit) -> Document:
    """Why a thread went as it did."""
    return {**uwf_explain.why(visit.client, visit.path["thread"])}


def read_usage(visit: Visit) -> Document:
    """What a thread used, with all that it called; without one, what all threads used."""
    return {**visit.client.usage(visit.path.get("thread"), by=_group(visit))}


def _group(visit: Visit) -> Any:
    by = visit.query.get("by", "role" if "thread" in visit.path else "workflow")
    if by not in GROUPS:
        raise UsageError(f"usage has no groups by {by!r}", hint=f"use {', '.join(GROUPS)}")
    return by


def _usage_command(visit: Visit) -> tuple[str, ...]:
    return (" ".join(["uwf usage", *visit.path.values(), "--by", _group(visit)]),)


COMPARE: Page = Page(
    "compare.html", read_compare, ("uwf thread show {thread}", "uwf thread list --all --children")
)
DIFF: Page = Page("thread_diff.html", read_diff, ("uwf thread diff {thread} {other}",))
WHY: Page = Page("why.html", read_why, ("uwf thread why {thread} --format json",))
USAGE: Page = Page("usage.html", read_usage, _usage_command)
