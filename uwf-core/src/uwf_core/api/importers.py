"""The contract of importers: what another program has recorded becomes bundles of uwf.

An importer reads a file or a folder that is not a bundle, and gives its threads and workflows one
by one. uwf writes each thread to a bundle, checks that as any other, and stores it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from uwf_core import API_VERSION
from uwf_core.api.agent import Turn, Usage
from uwf_core.ids import Ref


@dataclass(frozen=True, kw_only=True)
class ImporterSpec:
    """An importer as its distribution announces it; import paths are text, so nothing is loaded.

    Attributes:
        name: equals the entry point's name.
        summary: one line for people.
        factory: `module:attribute`, called without arguments, gives an `Importer`.
        api: the version of this contract that the importer was written for.
    """

    name: str
    summary: str
    factory: str
    api: str = API_VERSION


@dataclass(frozen=True, kw_only=True)
class ImportedThread:
    """A thread that a `BundleMaker` has made.

    Attributes:
        original: its id in the other program.
        thread: its id here.
        status: its status there.
        bundle: the file of its bundle; None: it cannot be imported.
        reason: why it cannot.
        workflow_name, steps: what the bundle holds.
    """

    original: str
    thread: str
    status: str
    bundle: str | None = None
    reason: str | None = None
    workflow_name: str = ""
    steps: int = 0


@dataclass(frozen=True, kw_only=True)
class ImportedWorkflow:
    """A name of a workflow.

    Attributes:
        name: that name.
        workflow: the workflow as in a checked file; None: it cannot be imported.
        reason: why it cannot.
    """

    name: str
    workflow: dict[str, Any] | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class ImportedStep:
    """A step, or a failed attempt at one.

    Attributes:
        role: who played it.
        agent: the agent that did.
        output: the node of its output; of a failed attempt None.
        error: why an attempt failed.
        turns: what was said.
        session: where it was said.
        edge_prompt, prompt: the instruction, and all that the agent got; empty if unknown.
        cwd: its folder; empty: that of the thread.
        started_ms, ended_ms: in ms since 1970; None if unknown.
        usage: what it used.
        proof: what names it in the other program.
        failed: the failed attempts before it, oldest first.
    """

    role: str
    agent: str
    output: str | None = None
    error: str = ""
    turns: tuple[Turn, ...] = ()
    session: str | None = None
    edge_prompt: str = ""
    prompt: str = ""
    cwd: str = ""
    started_ms: int | None = None
    ended_ms: int | None = None
    usage: Usage = Usage()
    proof: str = ""
    failed: tuple["ImportedStep", ...] = ()


Ending = Literal["idle", "suspended", "completed", "cancelled"]
"""The statuses that an imported thread can have."""


class ThreadMaker(Protocol):
    """Writes the steps of a thread, oldest first."""

    def step(self, step: ImportedStep) -> Ref:
        """Store a step after the failed attempts at it; return its node."""

    def end(self, status: Ending, role: str | None = None, message: str = "") -> ImportedThread:
        """Write the bundle of the thread, which the other program left with this status; of one
        that it suspended after a failure also the role and the message.
        """


class BundleMaker(Protocol):
    """Makes a bundle of each thread. Nodes are stored once, however many threads share them."""

    def put_type(self, schema: Any) -> Ref:
        """Store a JSON Schema as a type; raises PayloadError."""

    def put(self, type_: str, payload: Any) -> Ref:
        """Store a node of a type; raises PayloadError."""

    def references(self, type_: str, payload: Any) -> set[str]:
        """The nodes that a payload of a type refers to."""

    def workflow(self, workflow: Mapping[str, Any]) -> Ref:
        """Store a workflow, as in a checked file; raises PayloadError."""

    def thread(
        self, thread: str, original: str, workflow: Ref, *, task: str, cwd: str, after: Ref | None
    ) -> ThreadMaker:
        """Begin a thread.

        Args:
            thread: its id here. original: its id in the other program.
            workflow: of `workflow`. task: its prompt. cwd: its folder.
            after: the step of another thread that it continues, None: it begins with the task.
        """


class Importer(Protocol):
    """Reads what another program has recorded. It changes nothing there, and trusts nothing."""

    def recognizes(self, path: str) -> bool:
        """Whether this file or folder is of that program; looks at little of it."""

    def convert(self, path: str, maker: BundleMaker) -> Iterable[ImportedThread | ImportedWorkflow]:
        """The threads and the names of workflows in it.

        Raises:
            BundleError: it is damaged or cannot be read; then nothing of it is imported.
        """
