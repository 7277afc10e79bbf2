"""Workflows: the list, one of them with its graph and versions, two versions compared."""

from uwf_core.client import ThreadFilter
from uwf_web.page import Document, Page, Visit

SHOWN = 200
"""How many of the newest threads are searched for versions."""


def read_workflows(visit: Visit) -> Document:
    """The workflows that can be started here."""
    return {"workflows": visit.client.workflows()}


def read_workflow(visit: Visit) -> Document:
    """A workflow by name or reference; the threads of its name tell which versions ran."""
    workflow = visit.client.workflow(visit.path["word"])
    wanted = ThreadFilter(all=True, children=True, workflow=workflow["name"], limit=SHOWN)
    return {
        "workflow": workflow,
        "workflows": visit.client.workflows(),
        "threads": visit.client.list(wanted),
    }


def read_workflow_diff(visit: Visit) -> Document:
    """Two workflows, compared by meaning."""
    return {**visit.client.workflow_diff(visit.path["a"], visit.path["b"])}


WORKFLOWS: Page = Page("workflow_list.html", read_workflows, ("uwf workflow list",))
WORKFLOW: Page = Page(
    "workflow.html",
    read_workflow,
    (
        "uwf workflow show {word}",
        "uwf workflow list",
        f"uwf thread list --all --children --workflow {{word}} --limit {SHOWN}",
    ),
)
WORKFLOW_DIFF: Page = Page("workflow_diff.html", read_workflow_diff, ("uwf workflow diff {a} {b}",))
