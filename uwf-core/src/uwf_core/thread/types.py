"""The nodes of a thread: one typed class each; `thread.shape` derives schema and references.

Evolution: a schema that changes is a new type; readers know every type ever released. A missing
value is null, never left out. Times are integer ms since 1970, durations ms.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypedDict

from uwf_core.api.sums import LedgerPayload, ReservePayload, UsagePayload
from uwf_core.fields.mismatch import To
from uwf_core.thread.names import Reason

Text = Annotated[str, To("string")]
StepRef = Annotated[str, To("step")]
HeadRef = Annotated[str, To("step", "start")]
AnyRef = Annotated[str, To()]


class StartPayload(TypedDict):
    """The root of a chain. `agent` keeps the word of `--agent`.

    Attributes:
        parent: the head of the calling thread when it was created; null for a root.
        depth: how many calls are above it.
        input: the typed input. bindings: agents by path of roles (`develop/reviewer`).
        limits: those of `--max-…`, by the names of a workflow's limits.
    """

    workflow: Annotated[str, To("workflow")]
    prompt: Text
    cwd: str
    agent: str | None
    startedAtMs: int
    parent: HeadRef | None
    depth: int
    input: AnyRef | None
    bindings: dict[str, str] | None
    limits: dict[str, float] | None


class NextPayload(TypedDict):
    """The decision of an event: the role that runs next, the end, or why the thread waits.

    `kind` and `until` are those of a failure, `question` a pending question.
    """

    status: Literal["idle", "suspended", "completed", "cancelled"]
    role: str | None
    reason: Reason | None
    message: str | None
    kind: str | None
    until: int | None
    question: Annotated[str, To("question")] | None


class PersonPayload(TypedDict):
    """Who answered, poked, cancelled or granted; `via` is the surface (`cli`, `web`, …)."""

    user: str
    host: str
    via: str


class CorrectionPayload(TypedDict):
    """A rejected reply: the prompt of the correction, the reply, its errors."""

    prompt: Text
    raw: Text
    errors: list[str]


class SnapshotPayload(TypedDict):
    """The files of a folder at one moment. Their bytes are in `files.git` of the home.

    Attributes:
        tree: the SHA-256 id of the tree; null if they are not recorded, for `reason`.
        reason: why they are not recorded; with a tree, the paths that it lacks, with the causes.
        commit: the commit that the folder's repository was at, null without one.
        nested: the commits of repositories inside the folder, by path; empty for one without.
        files, bytes: how many files, and how large they are together.
    """

    tree: str | None
    reason: str | None
    commit: str | None
    nested: dict[str, str]
    files: int
    bytes: int


class WorkspacePayload(TypedDict):
    """The recorded files before and after a step. `folder` is the top of its git working tree, or
    the folder of the step; `after` is null in an attempt that runs.
    """

    folder: str
    before: SnapshotPayload
    after: SnapshotPayload | None


class FilePayload(TypedDict):
    """A file that a role delivered: its name, bytes, mode, and content in parts of at most 1 MB."""

    name: str
    size: int
    mode: int
    parts: list[Annotated[str, To("part")]]


class PartPayload(TypedDict):
    """A part of a file, in base64."""

    data: str


class BranchPayload(TypedDict):
    """A branch of a fan-out: its name in `parallel`, its role, and the status that ended it."""

    name: str | None
    role: str
    thread: str
    status: str


class GuidancePayload(TypedDict):
    """A text that a role got besides its own: a skill or memory that it names, or the rules
    (AGENTS.md) of the project. `given` is `name` where the agent loads the text itself.
    """

    kind: Literal["skill", "memory", "rules"]
    name: str
    path: str
    given: Literal["text", "name"]
    text: Text


class StepPayload(TypedDict):
    """One turn of a role, or a failed attempt at one (then `output` is an error output).

    Attributes:
        prev: null in the first step. replaces: the step that a poke replaced.
        seq: its number among the events of its thread.
        workflow: the workflow that chose the role and routed the output; a fork can have another.
        failure: the kind of a failed attempt's failure, else null.
        sessionKept: whether a later run of the role may continue `session`.
        next: its decision.
        body: the text beside the output, as the extractor gave it, null where there is none.
        edgePrompt: the moderator's instruction. prompt: exactly what the agent got.
        said: the text of a person. answer: a person's answer (JSON). by: that person.
        ownSession: whether the prompt was for a session that knows the earlier steps.
        continuation: new, continued, forked, or restarted (the session asked for was lost).
        mark: the end of the reply in its session, as the agent names it.
        extractor: the extractor of the output, null for a typed object.
        child, children: the last step of the thread, or of each branch, that it called (the start
            of a branch without one). branches: these branches, in the same order.
        called: threads that its agent started. calledUsage: what all of these have used.
        usageByRole: the part of the branches of each role.
        ancestors: `[k]` is the newest earlier step whose number is a multiple of 2^k.
        artifacts: files by path. workspace: the recorded files. skills: skills, memory and rules
            that the agent got. toolList: the tools of its servers. notices: what else a person has
            to know, such as work that is elsewhere. All null until used.
    """

    thread: str
    seq: int
    start: Annotated[str, To("start")]
    workflow: Annotated[str, To("workflow")]
    prev: StepRef | None
    replaces: StepRef | None
    number: int
    role: str
    purpose: str
    output: AnyRef
    raw: Text | None
    body: Text | None
    detail: Annotated[str, To("detail")]
    failure: str | None
    sessionKept: bool
    next: NextPayload
    agent: str
    agentVersion: str | None
    engineVersion: str
    model: str | None
    extractor: str | None
    session: str | None
    ownSession: bool
    continuation: Literal["new", "continued", "forked", "restarted"]
    mark: str | None
    edgePrompt: Text
    prompt: Text
    said: Text | None
    answer: Text | None
    by: PersonPayload | None
    cwd: str
    startedAtMs: int
    completedAtMs: int
    usage: UsagePayload
    denials: list[str]
    proof: str | None
    stopReason: str | None
    corrections: list[CorrectionPayload]
    previousAttempts: list[StepRef]
    child: StepRef | None
    children: list[HeadRef] | None
    branches: list[BranchPayload] | None
    called: list[str] | None
    calledUsage: LedgerPayload | None
    usageByRole: dict[str, LedgerPayload] | None
    ancestors: list[StepRef] | None
    artifacts: dict[str, Annotated[str, To("file")]] | None
    workspace: WorkspacePayload | None
    skills: list[GuidancePayload] | None
    toolList: Text | None
    notices: list[str] | None


class ProcessPayload(TypedDict):
    """A process; its start time distinguishes it from later ones with the same id."""

    pid: int
    start: str
    host: str


class AttemptPayload(TypedDict):
    """The start of an attempt, stored before the agent starts; replaced when the attempt ends.

    The variable `@uwf/attempt/<thread>/<number>.<try>` points to it. `seq` is the number of the
    event that will end it. `instruction` is the edge prompt with the text of a person
    (`said`); `engine` the process that runs it; `marker` is in the environment of everything it
    starts (`UWF_ATTEMPT`). `reserved` counts against limits until it ends. `skills` as in a step.
    `step` refers to its failed step, `question` to its question.
    """

    thread: str
    seq: int
    number: int
    attempt: int
    role: str
    agent: str
    purpose: str
    prev: StepRef | None
    replaces: StepRef | None
    edgePrompt: Text
    instruction: Text
    prompt: Text
    said: Text | None
    answer: Text | None
    by: PersonPayload | None
    cwd: str
    session: str | None
    ownSession: bool
    startedAtMs: int
    engine: ProcessPayload
    marker: str
    reserved: ReservePayload | None
    workspace: WorkspacePayload | None
    skills: list[GuidancePayload] | None
    step: StepRef | None
    question: Annotated[str, To("question")] | None


class QuestionPayload(TypedDict):
    """A question to a person; `form` is the JSON Schema of the answer, as JSON text."""

    message: Text
    form: Text


class _EventPayload(TypedDict):
    thread: str
    seq: int
    atMs: int
    by: PersonPayload | None


class StartedPayload(_EventPayload):
    """A thread's first event: at its start node, or (a fork) at a step of another thread. `depth`
    counts the calls above the thread, and `limits` are those of its start node.
    """

    workflow: Annotated[str, To("workflow")]
    workflowName: str
    start: Annotated[str, To("start")]
    head: Annotated[str, To("step", "start")]
    cwd: str
    agent: str | None
    depth: int
    limits: dict[str, float] | None
    next: NextPayload


class CalledPayload(_EventPayload):
    """A step of another thread calls this thread; the newest one is the open or last call.

    Attributes:
        parent, parentHead, role: the calling thread, its head and role.
        number, purpose, replaces, said, edgePrompt, prompt: of the step that the call is.
        plays: the role that this thread plays; that of a branch is not that of the step.
        index, branch: the number of a branch, and its name in `parallel`.
        input: the typed input.
        cwd: the folder of this thread during the call. base: the commit at which its worktree
            begins; null if it works in `cwd`.
        ledger: what this thread had used before. limits: those of this call, set by its edge.
    """

    parent: str
    parentHead: HeadRef
    number: int
    role: str
    plays: str
    index: int | None
    branch: str | None
    purpose: str
    replaces: StepRef | None
    said: Text | None
    edgePrompt: Text
    prompt: Text
    input: AnyRef | None
    cwd: str
    base: str | None
    ledger: LedgerPayload
    limits: dict[str, float] | None
    next: NextPayload


class WorktreePayload(_EventPayload):
    """The thread has a git worktree from here on.

    Attributes:
        repository: the top folder of the working tree that it was made from.
        origin: the folder of the thread before. cwd: the same folder in the worktree.
        folder: the worktree. branch: its branch. base: the commit at which it begins.
    """

    repository: str
    origin: str
    cwd: str
    folder: str
    branch: str
    base: str


class CompactedPayload(_EventPayload):
    """A summary in place of the steps up to one, in the prompts of new sessions.

    Attributes:
        step: the newest summarized step. summary: the text.
        previous: the event before it; in a fork, first that of the forked thread.
        agent, model, prompt, usage: of the agent that wrote it; null for a person's text.
    """

    step: StepRef
    summary: Text
    previous: Annotated[str, To("compacted")] | None
    agent: str | None
    model: str | None
    prompt: Text | None
    startedAtMs: int
    completedAtMs: int
    usage: UsagePayload


class AskedPayload(_EventPayload):
    """An attempt ended with a question to a person, and without a step."""

    attempt: Annotated[str, To("attempt")]
    role: str
    agent: str
    session: str | None
    startedAtMs: int
    completedAtMs: int
    usage: UsagePayload
    next: NextPayload


class AskPayload(TypedDict):
    """A question about a step and its answer (`step ask`): no event, since it takes no lock."""

    thread: str
    step: StepRef
    role: str
    agent: str
    model: str | None
    question: Text
    answer: Text
    askedAtMs: int
    usage: UsagePayload


class GrantedPayload(_EventPayload):
    """A person granted more of limits of this thread.

    Attributes:
        scope: what the limits hold for (`thread.limits`). amounts: what was added, by limit.
        next: null if the thread waits for something else.
    """

    scope: str
    amounts: dict[str, float]
    next: NextPayload | None


class LimitPayload(_EventPayload):
    """A limit was reached.

    Attributes:
        limited: the limited thread: this one, or one that called it.
        scope: what of that thread is limited (`thread.limits`). origin: where the limit is set.
        limit, value, used: its name, its value with what was granted, and the usage.
        reserved: what the next step and those that run may use.
    """

    limited: str
    scope: str
    origin: str
    limit: str
    value: float
    used: float
    reserved: float
    next: NextPayload


class UnroutedPayload(_EventPayload):
    """No step could be run, because of the graph or a working folder."""

    next: NextPayload


class TaggedPayload(_EventPayload):
    """A person gave the thread tags, by which lists select; null removes one."""

    tags: dict[str, str | None]


class CancelledPayload(_EventPayload):
    """A person cancelled the thread permanently."""

    next: NextPayload


class ToolCallPayload(TypedDict):
    """One use of a tool; `arguments` is text as it came, `result` refers to a string node."""

    id: str
    name: str
    arguments: str
    result: Text | None
    isError: bool
    startedAtMs: int | None
    endedAtMs: int | None


class TurnPayload(TypedDict):
    """One message inside the agent's own loop."""

    index: int
    role: str
    text: Text
    reasoning: Text | None
    toolCalls: list[ToolCallPayload]
    usage: UsagePayload | None


class DetailPayload(TypedDict):
    """The session of a step and its turns, in order."""

    session: str | None
    turns: list[Annotated[str, To("turn")]]


class ErrorPayload(TypedDict):
    """The output of a failed attempt; `kind` is a word of the table of failures."""

    kind: str
    message: str
    until: int | None


NODES: Final[Mapping[str, Any]] = {
    "start": StartPayload,
    "step": StepPayload,
    "attempt": AttemptPayload,
    "question": QuestionPayload,
    "started": StartedPayload,
    "called": CalledPayload,
    "worktree": WorktreePayload,
    "compacted": CompactedPayload,
    "asked": AskedPayload,
    "ask": AskPayload,
    "granted": GrantedPayload,
    "limit": LimitPayload,
    "unrouted": UnroutedPayload,
    "tagged": TaggedPayload,
    "cancelled": CancelledPayload,
    "turn": TurnPayload,
    "detail": DetailPayload,
    "error": ErrorPayload,
    "file": FilePayload,
    "part": PartPayload,
}
"""The nodes of a thread by kind. A change here is a new type: the old one stays readable."""

EVENTS: Final = (
    *("started", "called", "worktree", "compacted"),
    *("asked", "granted", "limit", "unrouted", "tagged", "cancelled"),
)
"""The kinds of nodes with a separate variable (`thread.names.event_name`)."""
