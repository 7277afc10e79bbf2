"""The documents of the engine: what the commands print as JSON and the client returns.

Keys are camelCase and stable. Times are integer ms since 1970 (`…AtMs`, `until`), durations ms.
`workflow` is always a reference, `workflowName` its name.
"""

from typing import Annotated, Any, Literal, TypedDict

from uwf_core.api.sums import UsagePayload
from uwf_core.cas.gc import Kept
from uwf_core.engine.file_documents import FileDocument
from uwf_core.engine.worktree_documents import RemovedWorktree, WorktreeDocument
from uwf_core.thread.names import Reason, Status
from uwf_core.thread.types import (
    BranchPayload,
    CompactedPayload,
    ErrorPayload,
    Standing,
    StepPayload,
    TurnPayload,
)


class StartedDocument(TypedDict):
    """What `thread start` and `thread fork` give."""

    workflow: str
    workflowName: str
    thread: str


class StepResult(Standing, TypedDict):
    """One step of a run, of the thread or of one that it called. `status` is that thread's after
    it; `step` the stored step or failed attempt, else null; `answered`: a person's answer;
    `notices`: what else a person has to know.
    """

    thread: str
    step: str | None
    role: str | None
    agent: str | None
    alias: str | None
    durationMs: int
    usage: UsagePayload
    failure: ErrorPayload | None
    answered: bool
    notices: list[str]


class ExecDocument(TypedDict):
    """What `exec`, `run`, `resume`, `poke` and `wait` give."""

    thread: str
    workflow: str
    workflowName: str
    steps: list[StepResult]
    status: Status
    suspendReason: str | None
    suspendMessage: str | None
    waitingFor: Literal["retry", "limit", "timer"] | None
    waitingUntil: int | None
    done: bool


class RunningDocument(TypedDict):
    """The process that runs a thread now."""

    pid: int
    host: str
    startedAtMs: int


class ThreadRow(Standing, TypedDict):
    """A row of `thread list`. `depth`: calls above it (0: a root); `parent`: the thread that called
    it last; `tags`: those of persons; `original`: its id in the original uwf, then it is read-only;
    `task`: the first line of its task, null if it cannot be read.
    A thread with an open call shows the state of the called thread.
    """

    thread: str
    workflow: str
    workflowName: str
    cwd: str
    head: str
    depth: int
    parent: str | None
    tags: dict[str, str]
    steps: int
    usage: UsagePayload
    running: RunningDocument | None
    original: str | None
    startedAtMs: int
    updatedAtMs: int
    task: str | None


class RemovedDocument(TypedDict):
    """A deleted thread: its last status, steps (0 if corrupt), head, and the worktrees."""

    thread: str
    status: str
    steps: int
    head: str | None
    removed: bool
    worktrees: list[RemovedWorktree]


class ManyThreads(TypedDict):
    """What `thread cancel` and `thread rm` give of several threads, and how many failed."""

    threads: "list[ThreadDocument] | list[RemovedDocument]"
    failed: int


class PrunedDocument(TypedDict):
    """What `store prune` gives: the threads that finished before `olderThanMs` and were deleted, or
    with `dryRun` would be, how many are kept, and the worktrees.
    """

    dryRun: bool
    olderThanMs: int
    threads: list[str]
    kept: int
    worktrees: list[RemovedWorktree]


class BranchDocument(TypedDict):
    """A branch of an open fan-out; `name` is null for an item of a list."""

    index: int
    name: str | None
    thread: str
    status: Status
    reason: Reason | None


class FrameDocument(TypedDict):
    """A thread of a stack: the role that it is at, and the number of that step; both null if
    nothing is left to run. `branches`: those of an open fan-out, else null.
    """

    thread: str
    workflowName: str
    role: str | None
    step: int | None
    branches: list[BranchDocument] | None


class CalledDocument(TypedDict):
    """The thread that a role called last."""

    thread: str
    role: str
    workflowName: str
    status: Status


class CompactedDocument(CompactedPayload):
    """A summary that `thread compact` stored: the node of its event, with the text in place of its
    reference. `thread` is the one that it holds in, `number` that of the newest summarized step.
    """

    event: str
    number: int


class ResultDocument(TypedDict):
    """What the last step of a completed thread delivered."""

    role: str
    status: str | None
    output: dict[str, Any]
    body: str


class ThreadDocument(ThreadRow):
    """A thread, as `thread show` prints it: a row, what it was started with (null if corrupt), the
    form of an answer, the commands that continue it (replace what is in <>), and what they do.
    `stack`: from the thread to the one whose role runs next in its open calls; `children`: threads
    that it called; `compacted`: the summary that new sessions get; `result`: of a completed thread;
    `files`: those that its newest step delivered; `notices`: what else there is to know of that.
    """

    task: str | None
    input: dict[str, Any] | None
    agent: str | None
    bindings: dict[str, str] | None
    form: dict[str, Any] | None
    worktree: WorktreeDocument | None
    stack: list[FrameDocument]
    children: list[CalledDocument]
    compacted: CompactedDocument | None
    result: ResultDocument | None
    files: list[FileDocument]
    notices: list[str]
    next: list[str]
    hint: str | None


class StepRow(TypedDict):
    """A row of `step list`; the first row is the start (`number` 0, `role` `$START`).
    `alias`: of a command that is configured as one. `answered`: the step is the answer of a person.
    `childThread`: the thread that it called, if the step is a call (its agent is `workflow`);
    `branches`: those of its branches, in their order.
    """

    step: str
    number: int
    role: str
    agent: str | None
    alias: str | None
    status: str | None
    startedAtMs: int
    completedAtMs: int | None
    durationMs: int | None
    usage: UsagePayload | None
    denials: list[str]
    attempts: int
    answered: bool
    childThread: str | None
    branches: list[BranchPayload] | None


class TurnDocument(TurnPayload):
    """One message inside the agent's own loop: its node with its texts. `step` is null while the
    step runs.
    """

    step: str | None
    number: int
    role: str


class WatchedTurn(TurnDocument):
    """A finished turn, as `watch` prints it in a line; `root`: the thread that is followed."""

    event: Literal["turn"]
    root: str
    thread: str
    label: str


class WatchedStep(TypedDict):
    """A step, or an attempt that failed, as `watch` prints it in a line."""

    event: Literal["step"]
    root: str
    thread: str
    label: str
    number: int
    step: str | None
    role: str
    agent: str
    status: str | None
    leadsTo: str | None
    back: bool
    durationMs: int | None
    usage: UsagePayload | None
    failure: "WatchedFailure | None"


class WatchedFailure(TypedDict):
    """Why an attempt failed."""

    kind: str
    message: str


class WatchedStatus(Standing, TypedDict):
    """A change of the status, as `watch` prints it in a line."""

    event: Literal["status"]
    root: str
    thread: str
    steps: int
    usage: UsagePayload


class WatchedEnd(ExecDocument):
    """The document of the run, which `watch` prints in its last line."""

    event: Literal["end"]
    root: str
    exitCode: int


class StepDocument(StepPayload):
    """A whole step, as `step show` gives it: its node, with texts and the output in place of their
    references. `answered`: it is the answer of a person. `childThread`: the thread that it called.
    `delivered`: the files that it delivered.
    """

    step: str
    alias: str | None
    durationMs: int  # noqa: N815 - a key
    answered: bool
    childThread: str | None  # noqa: N815
    delivered: list[FileDocument]
    turns: list[TurnDocument]


class UsageRow(TypedDict):
    """What a group has used; `steps` are attempts that succeeded, `asks` asks about past steps."""

    name: str | None
    steps: int
    attempts: int
    asks: int
    durationMs: int
    usage: UsagePayload


class UsageDocument(TypedDict):
    """What `uwf usage` gives: groups by role, agent, model or workflow."""

    by: str
    threads: int
    unreadable: int
    rows: list[UsageRow]
    total: UsageRow


class AnswerDocument(TypedDict):
    """What `step ask` gives; `continuation` is `original` or `reconstructed`."""

    step: str
    thread: str
    role: str
    agent: str
    answer: str
    continuation: Literal["original", "reconstructed"]
    session: str | None
    usage: UsagePayload


class ProblemDocument(TypedDict):
    """A problem in a store: a node (`damaged`, `missing`), a variable (`damaged`, `stray`),
    the tags of a head (`tags`; `mark`: only the mark), a call that its threads record
    differently (`call`), or the store itself (`unreadable`); `threads` are affected by it.
    """

    kind: str
    node: str | None
    variable: str | None
    message: str
    threads: list[str]


class VerifyDocument(TypedDict):
    """What `cas verify` prints: how much it read, and every problem.

    `damaged` are all affected threads, `marked` those that lists show as corrupt, `repaired` the
    restored nodes and variables.
    """

    valid: bool
    nodes: int
    variables: int
    threads: int
    problems: list[ProblemDocument]
    damaged: list[str]
    marked: list[str]
    repaired: list[str]


class CollectDocument(TypedDict):
    """What `cas gc` gives. Of `nodes`, those put at `keptSinceMs` or later were kept, `freed` were
    deleted, or with `dryRun` would be, as `files` objects of files; `dropped`: deleted variables.
    """

    dryRun: bool
    keptSinceMs: int
    nodes: int
    kept: list[Annotated[dict[str, Any], Kept]]
    freed: int
    dropped: list[str]
    files: int
