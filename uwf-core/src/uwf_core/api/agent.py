"""The agent contract: what an adapter gets, what it returns, how it is announced.

All records are frozen. Pass their fields by name: only a name is never removed within a major
version.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, runtime_checkable

from uwf_core import API_VERSION
from uwf_core.api.reply import ReplyFacts
from uwf_core.api.sums import FIELDS, UsageField, UsagePayload, add_usage, is_exact
from uwf_core.process.cancel import Cancel

if TYPE_CHECKING:
    from uwf_core.api.models import Model
    from uwf_core.api.tool import LoadedTool
    from uwf_core.process.identity import ProcessId
    from uwf_core.process.program import ChildProgram, ProgramResult


Capability = Literal[
    "continue", "fork", "ask", "stream", "structured", "usage", "tools", "model", "skills", "rules"
]
CAPABILITIES: frozenset[str] = frozenset(
    (
        *("continue", "fork", "ask", "stream", "structured", "usage", "tools", "model"),
        *("skills", "rules"),
    )
)
Purpose = Literal["run", "correction", "resume", "poke"]
Continuation = Literal["new", "continued", "forked"]


class AgentSpec(NamedTuple):
    """An agent as its distribution announces it; import paths are text, so nothing is loaded.

    Attributes:
        name: what a user types (`hermes`); equals the entry point's name.
        summary: one line for `uwf agent list`.
        factory: `module:attribute`, called as `factory(options, context)`, gives an `Agent`.
        options: `module:attribute` of a frozen dataclass whose fields are the options, each with
            a default; None if it has none. uwf rejects unknown keys and wrong types.
        capabilities: the subset of `CAPABILITIES` that the agent has. Only these are used.
            `skills`: it loads skills itself, so the prompt only names them. `rules`: it does not
            read AGENTS.md itself, so the prompt has it.
        api: the version of this contract that the adapter was written for.
        checks: `module:attribute`, called as `checks(request)` with a `CheckRequest`, gives the
            `Check`s that `uwf agent check` runs; None if it has none.
        env: names of the environment variables that the agent needs besides the usual ones (its
            own settings and keys); `*` at the end of a name matches any suffix.
    """

    name: str
    summary: str
    factory: str
    options: str | None = None
    capabilities: frozenset[str] = frozenset()
    api: str = API_VERSION
    checks: str | None = None
    env: tuple[str, ...] = ()


def _no_tools() -> "Sequence[LoadedTool]":
    """The default of `AgentContext.tools`."""
    return ()


class AgentContext(NamedTuple):
    """What an agent is created with, besides its options.

    Attributes:
        name: the word that selected it (an alias of the configuration or the agent's own name).
        state_dir: a folder (0700, may not exist yet) that is the agent's own and outlives runs.
        tools: gives the tools that plugins announce (`uwf_tools`), loaded with the first call; for
            agents whose loop is their own.
    """

    name: str
    state_dir: str
    tools: "Callable[[], Sequence[LoadedTool]]" = _no_tools


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What one call used, never cumulative. None means unknown; 0 is a measured zero.

    Attributes:
        turns: messages of the model.
        input_tokens, output_tokens: without the cached ones.
        cache_read_tokens, cache_write_tokens: the cached ones.
        cost_usd: in dollars.
        duration_ms: in milliseconds.
        at_least: the numbers (as in JSON: `costUsd`) that are lower bounds, because a part of the
            call is unknown.
    """

    turns: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: float | None = None
    duration_ms: int | None = None
    at_least: tuple[UsageField, ...] = ()

    def plus(self, other: "Usage") -> "Usage":
        """The sum, number by number; what only one of them knows is a lower bound of it."""
        total: Any = add_usage(usage_payload(self), usage_payload(other))
        numbers = {python: total[json] for json, python in FIELDS}
        return Usage(**numbers, at_least=tuple(total["atLeast"]))

    @property
    def tokens(self) -> int | None:
        """The tokens of all kinds, as far as they are known; None if none are."""
        counts = (self.input_tokens, self.output_tokens)
        cached = (self.cache_read_tokens or 0) + (self.cache_write_tokens or 0)
        return None if counts == (None, None) else sum(each or 0 for each in counts) + cached

    def is_exact(self, *names: UsageField) -> bool:
        """Whether these numbers (as in JSON) are known, and none is a lower bound."""
        return is_exact(usage_payload(self), *names)


def usage_payload(usage: Usage) -> UsagePayload:
    """`usage` as it is stored and printed."""
    values = usage.__dict__
    payload: Any = {json: values[python] for json, python in FIELDS}
    payload["atLeast"] = [*usage.at_least]
    return payload  # type: ignore[no-any-return]


PER_TOKENS = 1_000_000


def priced(usage: Usage, model: "Model | None") -> Usage:
    """The usage with its cost, unless it was reported: a lower bound if a part of it is unknown or
    has no price.

    Unknown cached tokens count as 0, because services without a cache omit them.
    """
    if usage.cost_usd is not None:
        return usage
    price = model and model.price
    parts = (
        (usage.input_tokens, price and price.input),
        (usage.output_tokens, price and price.output),
        (usage.cache_read_tokens, price and price.cache_read),
        (usage.cache_write_tokens, price and price.cache_write),
    )
    cost = sum((tokens or 0) * (each or 0.0) / PER_TOKENS for tokens, each in parts)
    if usage.is_exact("inputTokens", "outputTokens") and not any(
        tokens and each is None for tokens, each in parts
    ):
        return replace(usage, cost_usd=cost)
    return replace(usage, cost_usd=cost, at_least=(*usage.at_least, "costUsd")) if cost else usage


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One use of a tool.

    Attributes:
        id: unique in its turn.
        name: of the tool.
        arguments, result: unchanged text (often JSON), never parsed; None: no result yet.
        is_error: whether the tool failed.
        started_ms, ended_ms: in ms since 1970; None if unknown.
    """

    id: str
    name: str
    arguments: str = ""
    result: str | None = None
    is_error: bool = False
    started_ms: int | None = None
    ended_ms: int | None = None


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message inside the agent's own loop.

    Attributes:
        index: counts from 0 within one call; a turn that grows is sent again with its index.
        role: the speaker; a note is what the agent's program says.
        text, reasoning: what the model wrote, and what it thought if it shows that.
        tool_calls: the tools that this message uses.
        usage: of the request for this message; None if unknown.
    """

    index: int
    role: Literal["assistant", "tool", "note"]
    text: str = ""
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None


class TurnSink(Protocol):
    """Receives an agent's reports while it runs. Thread-safe; a report that was accepted is kept
    even if the process dies in the next moment.
    """

    def turn(self, turn: Turn) -> None:
        """A turn, or a newer state of the turn with the same index."""

    def session(self, session: str) -> None:
        """The session's id, as soon as it is known."""

    def usage(self, usage: Usage) -> None:
        """What this call has used so far (a total of the call, not an increment)."""


class NoSink:
    """A `TurnSink` that ignores everything."""

    def turn(self, turn: Turn) -> None:
        """Do nothing."""

    def session(self, session: str) -> None:
        """Do nothing."""

    def usage(self, usage: Usage) -> None:
        """Do nothing."""


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """What is left for this call.

    Attributes:
        seconds: the longest time in total.
        idle_seconds: the longest time without any output; None: no limit.
        grace_seconds: between the request to end and the kill of a program.
        reply_bytes: the longest output.
    """

    seconds: float = 3600.0
    idle_seconds: float | None = 900.0
    grace_seconds: float = 5.0
    reply_bytes: int = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class PromptParts:
    """The parts of the prompt in their order (stable ones first); empty parts are left out.

    Attributes:
        instructions: the goal and procedure of the role, and the form of its output. In the role's
            own session one line replaces this part and `task` in the prompt.
        guidance: skills, memory and rules of the role; in its own session those that have changed.
        task: of the thread.
        progress: the steps so far, in a line each.
        history: what the roles before delivered, and what persons said.
        instruction: the request of this call only, as its author wrote it: without the heading
            that it has in the prompt. A person sees only this part, a command as `--prompt`.
        form: the form of the output once more, in a line.
    """

    instructions: str = ""
    guidance: str = ""
    task: str = ""
    progress: str = ""
    history: str = ""
    instruction: str = ""
    form: str = ""


def _no_process(_identity: "ProcessId") -> None:
    """The default of `on_process`: do nothing."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """The fields of every call of an agent. Run external programs with `run_program` and
    `start_program`: they use the call's folder, environment, limits, cancel token and a reaper.

    Attributes:
        thread, role, step_number: of the step; the number counts from 1.
        cwd: the working folder, absolute.
        session: the session to continue or to ask; None for a new one.
        model: the model of the configuration; None if no model is set.
        options: an instance of the class in `AgentSpec.options`.
        limits: what is left for this call.
        env: the environment for programs: standard names and those that the agent declares.
        cancel: set when the call must end.
        on_process: gets each process that the call starts, so that it can be ended after a crash.
        trusted: whether the user trusts `cwd` (`uwf config trust`). If not, an adapter must not
            let the folder's own files run anything or redirect requests: hooks, settings,
            servers, plugins of the program that it drives.
    """

    thread: str
    role: str
    step_number: int
    cwd: str
    session: str | None = None
    model: "Model | None" = None
    options: Any = None
    limits: RunLimits = RunLimits()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    trusted: bool = False
    cancel: Cancel = field(default_factory=Cancel, repr=False)
    on_process: "Callable[[ProcessId], None]" = field(default=_no_process, repr=False)

    def with_(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return type(self)(**{**self.__dict__, **changes})

    def start_program(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = b"",
        first_signal: int | None = None,
    ) -> "ChildProgram":
        """Start `argv` under a reaper; its whole tree ends with this call.

        Args:
            argv: the program (looked up on the PATH of the call's environment) and arguments.
            env: additions to the call's environment.
            stdin: bytes to feed before closing; None keeps stdin open for `write`.
            first_signal: sent before TERM when the tree is stopped.

        Raises:
            Unavailable: the program was not found.
        """
        from uwf_core.process.program import ProcessLimits, Program, start_program

        program = Program(
            argv=tuple(argv),
            cwd=self.cwd,
            env={**self.env, **(env or {})},
            stdin=stdin,
            first_signal=first_signal,
        )
        limits = ProcessLimits(
            total_seconds=self.limits.seconds,
            idle_seconds=self.limits.idle_seconds,
            grace_seconds=self.limits.grace_seconds,
            output_bytes=self.limits.reply_bytes,
        )
        return start_program(program, limits, cancel=self.cancel, on_start=self.on_process)

    def run_program(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        first_signal: int | None = None,
        on_line: Callable[[bytes], None] | None = None,
    ) -> "ProgramResult":
        """As `start_program`, then wait; `on_line` gets each line of stdout as it comes."""
        child = self.start_program(argv, env=env, stdin=stdin, first_signal=first_signal)
        return child.run(on_line)


@dataclass(frozen=True, kw_only=True)
class AgentRequest(Call):
    """One turn of a role.

    Attributes:
        purpose: why the agent is called.
        prompt: the whole text to send.
        parts: the parts of the prompt.
        schema: the JSON Schema of what the role must deliver.
        answer: a person's answer to the question that this agent asked with `NeedsAnswer`.
        tools: the only tools that the role allows; None does not restrict.
        forks: `session` is another thread's and must not change: the agent, whose `fork` returned
            None, copies it with this prompt, and replies from the copy (`forked`).
    """

    purpose: Purpose = "run"
    prompt: str
    parts: PromptParts = PromptParts()
    schema: Mapping[str, Any] = field(default_factory=dict)
    answer: Mapping[str, Any] | None = None
    tools: tuple[str, ...] | None = None
    forks: bool = False


@dataclass(frozen=True, kw_only=True)
class AgentReply(ReplyFacts):
    """An agent's reply: either `text` (with frontmatter) or `structured`.

    Attributes:
        text, structured: the reply; exactly one of them is not None.
        session: the session that was used, None if the agent has none.
        continuation: how that session relates to this call.
        usage: of this call alone.
        is_received: the agent's protocol has marked the reply as complete; set by `received`.
    """

    text: str | None = None
    structured: Mapping[str, Any] | None = None
    session: str | None = None
    continuation: Continuation = "new"
    usage: Usage = Usage()
    is_received: bool = False


@dataclass(frozen=True, kw_only=True)
class AskRequest(Call):
    """A question to the session of a past step.

    Attributes:
        question: the text to answer.
        record: the step's record as Markdown, for an agent that has no session to ask.
        session: the session to ask (a fork of the step's own), or None.
        tools: the only tools that the step's role allows; None does not restrict.
    """

    question: str
    record: str = ""
    tools: tuple[str, ...] | None = None


@runtime_checkable
class Agent(Protocol):
    """An agent. Synchronous; an adapter may use asyncio internally.

    One agent serves all steps of a command. uwf makes all of its calls in one thread (not the main
    thread), one after the other; only if a call does not return, it makes the next one (`close`) in
    another thread.

    Raise a subclass of `AgentFailure` for a failure, and `NeedsAnswer` to ask a person.
    """

    def run(self, request: AgentRequest, sink: TurnSink) -> AgentReply:
        """Play the role in a new session, or continue `request.session`."""

    def fork(self, session: str, request: AgentRequest, at: str | None = None) -> str | None:
        """Copy `session` (capability `fork`), up to the mark `at` of a reply; the new id. None
        where the agent can only copy it with the next prompt: `run` gets that as `request.forks`.
        """

    def ask(self, request: AskRequest, sink: TurnSink) -> AgentReply:
        """Answer a question in a session (capability `ask`); permit no tool that changes things."""

    def close(self) -> None:
        """Release all resources. Called once, at the end of the command, also after a failure."""
