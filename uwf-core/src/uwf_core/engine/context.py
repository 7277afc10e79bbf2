"""What a run of a thread passes from stage to stage."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from uwf_core.api.agent import TurnSink
from uwf_core.api.extract import NO_USAGE
from uwf_core.thread.decisions import OpenAttempt

if TYPE_CHECKING:
    from uwf_core.agents.choose import Choice
    from uwf_core.api.agent import AgentReply, AgentRequest, Usage
    from uwf_core.api.store import Variable
    from uwf_core.engine.documents import StepResult
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.open_plugins import OpenPlugins
    from uwf_core.engine.watch import Broadcast
    from uwf_core.errors import AgentFailure, UwfError
    from uwf_core.files.surroundings import OutsideState
    from uwf_core.ids import Ref
    from uwf_core.process.cancel import Cancel
    from uwf_core.process.identity import ProcessId
    from uwf_core.thread.decisions import Event, Wait
    from uwf_core.thread.head import Head
    from uwf_core.thread.history import Guidance
    from uwf_core.thread.state import RoleSession
    from uwf_core.thread.types import (
        AttemptPayload,
        CallPayload,
        CorrectionPayload,
        PersonPayload,
        RetryPayload,
    )
    from uwf_core.workflow.definition import Definition


class Intent(NamedTuple):
    """What a person asks for: `go`, `resume` with a text or an answer, or `poke` with a text."""

    kind: Literal["go", "resume", "poke"] = "go"
    text: str | None = None
    answer: dict[str, Any] | None = None


GO_ON = Intent()


class Task(NamedTuple):
    """The step to run.

    Attributes:
        base: the edge prompt (or suspend message) without the text of a person.
        instruction: `base` with that text; the last part of the prompt.
        prev: the step before, None for the first.
        replaces: the step that this one replaces (poke).
        number: the step's number in its chain, from 1.
        agent: the recorded agent of the step or attempt that runs again. alias: its alias.
        said: the text of a person (`by`) that `instruction` contains.
        answer: a person's answer to the question of `agent`; no other agent may get it.
        last_failure: the kind of the failure of the last attempt at this step.
        question: the question with which the attempt at this task ended.
    """

    role: str
    base: str
    instruction: str
    cwd: str
    purpose: str
    prev: str | None
    number: int
    replaces: str | None = None
    agent: str | None = None
    alias: str | None = None
    said: str | None = None
    by: "PersonPayload | None" = None
    answer: dict[str, Any] | None = None
    last_failure: str | None = None
    question: str | None = None


class RunOptions(NamedTuple):
    """How far to run, and how.

    Attributes:
        count: the number of steps, unless `until_done`; None: one, or one round of branches.
        agent: the word of `--agent`.
        cwd: a working folder in place of the thread's.
        announce: the descriptor on which a background run reports that it holds the lock.
        wait_limits: the most seconds to wait for the ends of rate limits; None: as configured.
        earlier: steps that the same command took in a thread below; its outcome has them too.
        player: an agent that also replaces a person. call: in place of that of the thread.
        in_copy: the folder is a copy already, so it needs no worktree.
        head: the reference that the head must have, None: any.
        now: whether a step is taken before its time. waits: the most seconds for which the run
            waits for such a time, with the locks of its threads.
        unattended: whether nobody watches it; `tick` has started it.
        background, queue: let a detached process run it, or workers.
        worker: of a worker: whether to take another step from this head. Then threads below are
            not run here: they have dispatch rows as well.
    """

    count: int | None = None  # type: ignore[assignment]  # as the option is called
    until_done: bool = False
    agent: str | None = None
    cwd: str | None = None
    announce: int | None = None
    wait_limits: float | None = None
    earlier: "Sequence[StepResult]" = ()
    player: str | None = None
    call: tuple[str, str] | None = None
    in_copy: bool = False
    head: str | None = None
    now: bool = False
    waits: float = 0
    unattended: bool = False
    background: bool = False
    queue: bool = False
    worker: "Callable[[Head], bool] | None" = None

    @property
    def is_round(self) -> bool:
        """Whether a fan-out takes a step of as many branches as may run at a time."""
        return self.count is None and not self.until_done


class Run(NamedTuple):
    """A command's run of one thread, whose lock it holds.

    Attributes:
        head: the head of the thread; each step continues with a copy that has the next head.
        watch: who gets its events and notices. cancel: stops it.
        plugins: the agents and extractors that it has opened.
        cwd: the folder that replaces the thread's, absolute.
        is_call: whether the run of the calling thread continues in this process.
    """

    engine: "Engine"
    head: "Head"
    watch: "Broadcast"
    cancel: "Cancel"
    plugins: "OpenPlugins"
    options: RunOptions = RunOptions()
    cwd: str | None = None
    is_call: bool = False

    @property
    def definition(self) -> "Definition":
        """The workflow of the thread."""
        return self.engine.definitions[self.head.state.workflow]

    @property
    def folder(self) -> str:
        """The folder of the thread in this run."""
        return self.cwd or self.head.state.cwd

    def may_wait(self, wait: "Wait") -> bool:
        """Whether the run waits so long; `tick` continues a thread whose run does not."""
        seconds = (wait.until_ms - self.engine.now_ms()) / 1000
        return self.options.waits > 0 and seconds <= self.options.waits


class CallProgress(TurnSink, Protocol):
    """Where an attempt stores what the calls of its agent report: see `engine.progress`."""

    began: float
    usage_seen: "Usage | None"
    session_seen: str | None

    @property
    def has_turns(self) -> bool:
        """Whether the current call has reported a turn."""

    def process(self, identity: "ProcessId") -> None:
        """Store the process of the agent."""

    def next_call(self) -> None:
        """Start another call of the same attempt."""

    def flush(self) -> None:
        """Store what waits."""

    def finish(self) -> None:
        """Fill the turns of the attempt at its end."""


class Attempt:
    """One attempt at a step. Each stage fills its part, so what is known survives a failure.

    Attributes:
        head: the head of the thread: before the attempt, with it open, after it.
        by_person: whether a person asks for this step now.
        task: what to run (stage 5). choice: the agent for it.
        known: the session that the agent can use, None for a new one (6).
        guidance: the skills, memory and rules of the role (6).
        request: the request of the current session (6). saved: the one whose prompt is stored.
        progress: the sink of the agent's calls.
        payload, variable: the stored start of the attempt, None until `save_prompt`.
        reply: the newest reply, redacted (7, 8). session, continuation, usage: what it used.
        mark: the place in the session after its newest reply.
        corrections: the replies that were rejected.
        output, body, extractor: the typed output (9).
        artifacts: the nodes of the files that the output names (9).
        turns, loose: the turn nodes, and the names of those that were stored during the run.
        ended_ms: when it ended, 0 while it is open.
        step: the stored step (10). failure: why there is no output, or no next role.
        call: the result of the thread that it called, if a workflow plays the role.
        may_call: whether its agent had a process, which may have started threads.
        notices: what a person has to know about the step, besides its output.
        policy: of retries, once it has failed.
        outside: what surrounded the worktree of the thread before the attempt.
        error: the error after which the run cannot continue.
    """

    task: Task
    choice: "Choice"
    payload: "AttemptPayload"
    progress: "CallProgress"
    known: "RoleSession | None" = None
    guidance: "Sequence[Guidance]" = ()
    request: "AgentRequest | None" = None
    saved: "AgentRequest | None" = None
    variable: "Variable | None" = None
    reply: "AgentReply | None" = None
    session: str | None = None
    mark: str | None = None
    continuation = "new"
    usage: "Usage | None" = None
    corrections: "tuple[CorrectionPayload, ...]" = ()
    output: "Mapping[str, Any] | None" = None
    artifacts: dict[str, str] | None = None
    body = ""
    extractor: str | None = None
    policy: "RetryPayload | None" = None
    loose: "Sequence[Variable]" = ()
    ended_ms = 0
    step: "Event | None" = None
    files: "tuple[Ref, dict[str, str]] | None" = None
    failure: "AgentFailure | None" = None
    call: "CallPayload | None" = None
    may_call = False
    outside: "OutsideState | None" = None
    error: "UwfError | None" = None

    def __init__(self, head: "Head", *, by_person: bool = False) -> None:
        self.head = head
        self.by_person = by_person
        self.turns: list[Ref] = []
        self.notices: list[str] = []

    @property
    def opened(self) -> OpenAttempt:
        """Its number and try in the thread."""
        state = self.head.state
        return state.attempt or OpenAttempt(self.task.number, state.tries + 1, self.task.role)

    @property
    def marker(self) -> str:
        """`UWF_ATTEMPT` in the environment of everything that it starts."""
        return f"{self.head.thread}/{self.opened.name}"

    def spend(self, usage: "Usage | None") -> None:
        """Add the usage of a call."""
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage.plus(usage)

    def total_usage(self) -> "Usage":
        """What it used, nothing if its agent was not called; the engine measures the duration if
        the agent does not report it.
        """
        usage = self.usage or NO_USAGE
        if self.usage is not None and usage.duration_ms is not None:
            return usage
        return replace(usage, duration_ms=self.ended_ms - self.payload["startedAtMs"])
