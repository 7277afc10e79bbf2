"""The nodes of a thread: one typed class each; `thread.shape` derives schema and references.

Evolution: a schema that changes is a new type; readers know every type ever released. A missing
value is null, never left out. Times are integer ms since 1970, durations ms.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypedDict

from uwf_core.api.sums import LedgerPayload, ReservePayload, UsagePayload
from uwf_core.fields.mismatch import To, same
from uwf_core.thread.names import Reason, Status

Text = Annotated[str, To("string")]
ShownText = Annotated[str, To("string", shown=same)]
"""A text that documents have in place of its reference."""
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


class ExpiryPayload(TypedDict):
    """What follows if nobody answers before `deadline`: this role runs with this prompt; without a
    role the attempt that asked fails as `timeout`, and the workflow ends with `status` if it has
    one.
    """

    deadline: int
    role: str | None
    prompt: str | None
    status: str | None


class NextPayload(TypedDict):
    """The decision of an event: the role that runs next, the end, or why the thread waits.

    `kind` and `until` are those of a failure, `question` a pending question, `expires` the end of
    the time for an answer; the role does not run before `notBefore`.
    """

    status: Literal["idle", "suspended", "completed", "cancelled"]
    role: str | None
    reason: Reason | None
    message: str | None
    kind: str | None
    until: int | None
    question: Annotated[str, To("question")] | None
    expires: ExpiryPayload | None
    notBefore: int | None


class WaitFields(TypedDict):
    """An idle thread can be `waitingFor` a further attempt, the end of a service's limit or a time:
    not before `waitingUntil` (ms since 1970).
    """

    waitingFor: Literal["retry", "limit", "timer"] | None
    waitingUntil: int | None


class Standing(WaitFields):
    """The status of a thread. `done` = completed."""

    status: Status
    currentRole: str | None
    suspendedRole: str | None
    suspendMessage: str | None
    suspendReason: str | None
    done: bool


class PersonPayload(TypedDict):
    """Who answered, poked, cancelled or granted; `via` is the surface (`cli`, `web`, …)."""

    user: str
    host: str
    via: str


class ErrorPayload(TypedDict):
    """Why an attempt failed; `kind` is a word of the table of failures."""

    kind: str
    message: str
    until: int | None


class RetryPayload(TypedDict):
    """The policy that decided whether a failed attempt is made again (`thread.retry`).

    Attributes:
        failures: how many attempts have failed since the newest of a step, a grant and what a
            person asked for, this one included.
        maxAttempts, interval, backoff, maxInterval, on: as in a workflow; pauses in seconds.
        origin: `role`, `config`, or the usual one of a command (`run`), a worker or `uwf tick`.
        fallback: the words of the agents of `anyOf` that have not failed at this step, the next
            one first.
    """

    failures: int
    maxAttempts: int
    interval: float
    backoff: float
    maxInterval: float
    on: list[str]
    origin: Literal["role", "config", "run", "worker", "tick"]
    fallback: list[str]


class FailurePayload(ErrorPayload):
    """Why an attempt failed, in its step; `policy` is null where no attempt follows by itself."""

    policy: RetryPayload | None


class CorrectionPayload(TypedDict):
    """A rejected reply: the prompt of the correction, the reply, its errors."""

    prompt: ShownText
    raw: ShownText
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


class AskedForPayload(TypedDict):
    """What an attempt was asked to do. Its step embeds it as it ended.

    Attributes:
        number: which attempt at the step it is. replaces: the step that a poke replaces.
        edgePrompt: the moderator's instruction. instruction: that with the text of a person.
        prompt: exactly what the agent got.
        said: the text of a person. answer: a person's answer. by: that person.
        ownSession: whether the prompt was for a session that knows the earlier steps.
        skills: skills, memory and rules that the agent got.
    """

    number: int
    purpose: str
    replaces: StepRef | None
    edgePrompt: ShownText
    instruction: Text
    prompt: Text
    said: ShownText | None
    answer: Annotated[Any, To("string", shown=json.loads)] | None
    by: PersonPayload | None
    cwd: str
    ownSession: bool
    skills: list[GuidancePayload] | None


class FilesPayload(TypedDict):
    """The files of a step: those that it delivered, by path, and the recorded ones."""

    artifacts: dict[str, Annotated[str, To("file")]] | None
    workspace: WorkspacePayload | None


class SessionPayload(TypedDict):
    """The session of a step.

    Attributes:
        id: as the agent names it; the called thread, of a call. None if it named none.
        kept: whether a later run of the role may continue it.
        continuation: new, continued, forked, or restarted (the session asked for was lost).
        mark: the end of the reply in it, as the agent names it.
    """

    id: str | None
    kept: bool
    continuation: Literal["new", "continued", "forked", "restarted"]
    mark: str | None


class CallPayload(TypedDict):
    """The threads that a step called.

    Attributes:
        child, children: the last step of the thread, or of each branch, that it called (the start
            of a branch without one). branches: these branches, in the same order.
        called: threads that its agent started. usage: what all of these have used.
        usageByRole: the part of the branches of each role.
    """

    child: StepRef | None
    children: list[HeadRef] | None
    branches: list[BranchPayload] | None
    called: list[str] | None
    usage: LedgerPayload | None
    usageByRole: dict[str, LedgerPayload] | None


class _AttemptedPayload(TypedDict):
    """What an attempt and its step have in common.

    Attributes:
        seq: the number of the event that ends the attempt. number: that of the step.
        agent: null for the step of the engine after a failure that leads somewhere.
        prev: the step before; null in the first one.
    """

    thread: str
    seq: int
    number: int
    role: str
    agent: str | None
    prev: StepRef | None
    startedAtMs: int
    session: SessionPayload | None
    attempt: AskedForPayload
    files: FilesPayload | None


ATTEMPTED: Final = tuple(_AttemptedPayload.__annotations__)
"""What a step takes over from its attempt."""


class StepPayload(_AttemptedPayload):
    """One turn of a role, or a failed attempt at one (then it has a `failure` and no output).

    Attributes:
        workflow: the workflow that chose the role and routed the output; a fork can have another.
        status: the `$status` of the output.
        next: its decision.
        body: the text beside the output, as the extractor gave it, null where there is none.
        extractor: the extractor of the output, null for a typed object.
        ancestors: `[k]` is the newest earlier step whose number is a multiple of 2^k.
        toolList: the tools of the agent's servers. notices: what else a person has to know, such as
            work that is elsewhere.
    """

    start: Annotated[str, To("start")]
    workflow: Annotated[str, To("workflow")]
    status: str | None
    output: Annotated[Any, To(shown=same)] | None
    raw: Text | None
    body: ShownText | None
    detail: Annotated[str, To("detail")]
    failure: FailurePayload | None
    next: NextPayload
    agentVersion: str | None
    engineVersion: str
    model: str | None
    extractor: str | None
    completedAtMs: int
    usage: UsagePayload
    denials: list[str]
    proof: str | None
    stopReason: str | None
    corrections: list[CorrectionPayload]
    previousAttempts: list[StepRef]
    call: CallPayload | None
    ancestors: list[StepRef] | None
    toolList: Text | None
    notices: list[str] | None


class ProcessPayload(TypedDict):
    """A process; its start time distinguishes it from later ones with the same id."""

    pid: int
    start: str
    host: str


class AttemptPayload(_AttemptedPayload):
    """The start of an attempt, stored before the agent starts; replaced when the attempt ends.

    The variable `@uwf/attempt/<thread>/<number>.<attempt.number>` points to it. `engine` is the
    process that runs it; `marker` is in the environment of everything it starts (`UWF_ATTEMPT`).
    `reserved` counts against limits until it ends. `step` refers to its failed step, `question` to
    its question.
    """

    engine: ProcessPayload
    marker: str
    reserved: ReservePayload | None
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
    session: SessionPayload | None
    startedAtMs: int
    completedAtMs: int
    usage: UsagePayload
    next: NextPayload


class ExpiredPayload(_EventPayload):
    """Nobody answered before the deadline: `next` is what `expires` of the question says."""

    question: Annotated[str, To("question")] | None
    role: str
    deadline: int
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
    """The thread is cancelled permanently: by a person, or since its caller has taken the edge of
    its failure (`parent`).
    """

    cause: Literal["person", "parent"]
    next: NextPayload


class ToolCallPayload(TypedDict):
    """One use of a tool; `arguments` is text as it came, `result` refers to a string node."""

    id: str
    name: str
    arguments: str
    result: ShownText | None
    isError: bool
    startedAtMs: int | None
    endedAtMs: int | None


class TurnPayload(TypedDict):
    """One message inside the agent's own loop."""

    index: int
    speaker: str
    text: ShownText
    reasoning: ShownText | None
    toolCalls: list[ToolCallPayload]
    usage: UsagePayload | None


class DetailPayload(TypedDict):
    """The session of a step and its turns, in order."""

    session: str | None
    turns: list[Annotated[str, To("turn")]]


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
    "expired": ExpiredPayload,
    "ask": AskPayload,
    "granted": GrantedPayload,
    "limit": LimitPayload,
    "unrouted": UnroutedPayload,
    "tagged": TaggedPayload,
    "cancelled": CancelledPayload,
    "turn": TurnPayload,
    "detail": DetailPayload,
    "file": FilePayload,
    "part": PartPayload,
}
"""The nodes of a thread by kind. A change here is a new type: the old one stays readable."""

EVENTS: Final = (
    *("started", "called", "worktree", "compacted"),
    *("asked", "expired", "granted", "limit", "unrouted", "tagged", "cancelled"),
)
"""The kinds of nodes with a separate variable (`thread.names.event_name`)."""
