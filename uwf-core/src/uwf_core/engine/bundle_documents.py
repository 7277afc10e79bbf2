"""The documents of bundles and of other exports."""

from typing import Literal, NotRequired, TypedDict


class BundleDocument(TypedDict):
    """What `thread export` and `bundle verify` give: the thread, its head, the root over all nodes
    and their SHA-256, how many other `threads` (those below it), nodes, objects of recorded
    `files` and bytes there are, the file, the statement that `--attest` wrote, and what the
    recorded files of an export lack.
    """

    thread: str
    head: str
    root: str
    threads: int
    nodes: int
    files: int
    bytes: int
    file: str
    statement: NotRequired[str]
    notRecorded: NotRequired[list[str]]


class ExportDocument(TypedDict):
    """What `thread export --format NAME -o FILE` and `thread why -o FILE` give: the thread, its
    head, the format, the file and its size.
    """

    thread: str
    head: str
    format: str
    bytes: int
    file: str


class ImportDocument(TypedDict):
    """What `cas import` gives: the thread's id here, how many other threads, how many of the
    bundle's `nodes` (`added`) and objects of recorded `files` (`filesAdded`) were added, or with
    `dryRun` would be, and whether the thread was created. For nodes alone, `thread`, `head` and
    `root` are null.
    """

    thread: str | None
    head: str | None
    root: str | None
    threads: int
    nodes: int
    added: int
    files: int
    filesAdded: int
    imported: bool
    dryRun: bool


class SourceThreadDocument(TypedDict):
    """A thread of another program: its id there and here, and whether it was imported."""

    original: str
    thread: str
    workflowName: str
    status: str
    steps: int
    result: Literal["imported", "updated", "known", "skipped"]
    reason: str | None


class SourceWorkflowDocument(TypedDict):
    """A name of a workflow of such a program; `workflow` is its reference here."""

    name: str
    workflow: str | None
    result: Literal["imported", "known", "skipped"]
    reason: str | None


class SourceDocument(TypedDict):
    """What `cas import` gives for what an importer recognized: every thread and name in it;
    `complete` if none of them was skipped.
    """

    source: str
    importer: str
    threads: list[SourceThreadDocument]
    workflows: list[SourceWorkflowDocument]
    complete: bool
    dryRun: bool
