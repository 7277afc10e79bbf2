"""Start a thread: choose a workflow, then fill in its form."""

from uwf_web.actions import known_folders
from uwf_web.page import Document, Page, Visit


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
