"""The list of threads; its filter is the query of the URL."""

from uwf_web.page import Document, Page, Visit


def read_threads(visit: Visit) -> Document:
    """The document of `uwf thread list --all`."""
    return {"threads": list(visit.client.list())}


THREADS: Page = Page("threads.html", read_threads, ("uwf thread list --all",))
