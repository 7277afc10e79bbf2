"""What `import-original` gives."""

from typing import Literal, TypedDict

from uwf_core.thread.names import Status


class OriginalThreadDocument(TypedDict):
    """A thread of a home of the original uwf: its id there and here, and what became of it."""

    original: str
    thread: str
    workflowName: str
    status: Status
    steps: int
    result: Literal["imported", "updated", "known", "skipped"]
    reason: str | None


class OriginalWorkflowDocument(TypedDict):
    """A registered workflow of such a home; `workflow` is its reference here."""

    name: str
    workflow: str | None
    result: Literal["imported", "known", "skipped"]
    reason: str | None


class OriginalDocument(TypedDict):
    """What `import-original` gives: every thread and name of a workflow of the home."""

    folder: str
    threads: list[OriginalThreadDocument]
    workflows: list[OriginalWorkflowDocument]
    dryRun: bool
