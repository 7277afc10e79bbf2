"""Runs an agent in its own workspace, home and temporary folder, supervised as by the engine.

Each call opens the agent again, as each step of a thread does in its own process, so that the
clauses test what survives a process.
"""

import contextlib
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import pytest

from uwf_core.agents.choose import Choice
from uwf_core.agents.open import OpenAgent, open_agent
from uwf_core.agents.supervise import ask_call, close_call, fork_call, run_call
from uwf_core.api.agent import (
    AgentContext,
    AgentReply,
    AgentRequest,
    AskRequest,
    Call,
    PromptParts,
    RunLimits,
    Turn,
    Usage,
)
from uwf_core.errors import AgentFailure, FailureKind
from uwf_core.plugins.plugins import Plugins
from uwf_core.plugins.scan import AGENTS
from uwf_core.process.cancel import Cancel
from uwf_core.process.identity import ProcessId
from uwf_core.process.leftovers import ATTEMPT_VARIABLE, end_leftovers, leftovers
from uwf_testing.peer import Act, Peer

_Call = TypeVar("_Call", bound=Call)

_OF_PROCESSES = frozenset(("hang", "hang_after", "spawn", "spawn_and_say"))
THREAD = "01JD0000000000000000000000"
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"$status": {"const": "done"}},
    "required": ["$status"],
}
PROMPT = "Answer as instructed."
PREAMBLE = "Every prompt of the kit begins with these instructions.\n\n"
"""The part of a prompt that is not its instruction."""


class KitLimits(NamedTuple):
    """The time limits and data sizes of the kit; a subclass may set its own.

    Attributes:
        call_seconds: the time limit of an ordinary call.
        hang_seconds: the time limit of a call that hangs; longer than the start of the peer.
        cancel_seconds: when a call that hangs is cancelled.
        grace_seconds: how long a program may take to exit after a signal.
        slack_seconds: the tolerance of these limits on a busy machine.
        gone_seconds: how long a process or thread may exist after its call.
        large_bytes: the length of a large answer, which must arrive complete.
        reply_bytes: the limit for a reply that is too large.
        prompt_bytes: the length of a long prompt, too long for an argument of a program.
    """

    call_seconds: float = 60.0
    hang_seconds: float = 1.0
    cancel_seconds: float = 0.4
    grace_seconds: float = 1.0
    slack_seconds: float = 10.0
    gone_seconds: float = 10.0
    large_bytes: int = 10_000_000
    reply_bytes: int = 100_000
    prompt_bytes: int = 300_000


class Command(NamedTuple):
    """An agent that is a command of the configuration: its program with arguments, and the
    capabilities that are declared for it.
    """

    argv: tuple[str, ...]
    capabilities: frozenset[str] = frozenset()


class RecordingSink:
    """A sink that records all events; `turns` has every state of a growing turn."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.sessions: list[str] = []
        self.usages: list[Usage] = []

    def turn(self, turn: Turn) -> None:
        """Record it."""
        self.turns.append(turn)

    def session(self, session: str) -> None:
        """Record it."""
        self.sessions.append(session)

    def usage(self, usage: Usage) -> None:
        """Record it."""
        self.usages.append(usage)

    def last_turns(self) -> list[Turn]:
        """The last state of each turn."""
        return list({turn.index: turn for turn in self.turns}.values())


class StoppingSink(RecordingSink):
    """A sink that cancels the call as soon as it gets a turn, or a session."""

    def __init__(self, cancel: Cancel, wanted: Literal["turn", "session"]) -> None:
        super().__init__()
        self._cancel, self._wanted = cancel, wanted

    def turn(self, turn: Turn) -> None:
        """Record it."""
        super().turn(turn)
        if self._wanted == "turn":
            self._cancel.set("the kit got a turn")

    def session(self, session: str) -> None:
        """Record it."""
        super().session(session)
        if self._wanted == "session":
            self._cancel.set("the kit got the session")


class Outcome(NamedTuple):
    """The outcome of a call: `reply` or `error`, the recorded events, the duration."""

    reply: AgentReply | None
    error: BaseException | None
    sink: RecordingSink
    seconds: float


class Replied(NamedTuple):
    """A successful call."""

    reply: AgentReply
    sink: RecordingSink
    seconds: float

    @property
    def session(self) -> str:
        """The session of the reply; "" without one."""
        return self.reply.session or ""


class Harness:
    """One agent and one peer in separate folders.

    Attributes:
        workspace, home, temporary: the agent's working folder, its HOME and its TMPDIR.
        state: the agent's own folder; not made by the kit.
        marker: the value of `UWF_ATTEMPT` in the environment of every call.
    """

    def __init__(
        self,
        agent: str | Command,
        options: Mapping[str, Any],
        peer: Peer,
        limits: KitLimits,
        plugins: Plugins,
    ) -> None:
        self.agent, self.options, self.peer, self.limits = agent, options, peer, limits
        self.plugins = plugins
        self.marker = f"kit-{uuid.uuid4().hex}"
        self._count = 0
        self._may_leave_processes = False

    def settle(self, root: Path) -> None:
        """Create the folders below `root`, which is empty or missing."""
        self.workspace, self.home, self.temporary = (
            root / name for name in ("workspace", "home", "temporary")
        )
        for folder in (self.workspace, self.home, self.temporary):
            folder.mkdir(parents=True)
        self.state = self.home / "uwf" / "agents" / "kit"
        self.peer.state_dir = str(self.state)

    # -- what a call is made of ------------------------------------------------------------------

    def environment(self) -> dict[str, str]:
        """The environment of a call, before the peer has added to it."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "LANG": "C.UTF-8",
            ATTEMPT_VARIABLE: self.marker,
        }

    def request(self, act: Act, **changes: Any) -> AgentRequest:
        """A request in which the peer plays `act`; `prompt` is its instruction."""
        self._count += 1
        instruction = changes.pop("prompt", f"{PROMPT} (call {self._count})")
        request = AgentRequest(
            thread=THREAD,
            role="writer",
            step_number=self._count,
            cwd=str(self.workspace),
            prompt=f"{PREAMBLE}{instruction}",
            parts=PromptParts(instructions=PREAMBLE.strip(), instruction=instruction),
            schema=SCHEMA,
            limits=self.run_limits(self.limits.call_seconds),
            env=self.environment(),
            on_process=self._note_process,
        ).with_(**changes)
        self._may_leave_processes |= act.do in _OF_PROCESSES
        return self.peer.prepare(act, request)

    def question(self, act: Act, question: str, **changes: Any) -> AskRequest:
        """A question to a past step, in which the peer plays `act`."""
        request = AskRequest(
            thread=THREAD,
            role="writer",
            step_number=1,
            cwd=str(self.workspace),
            question=question,
            limits=self.run_limits(self.limits.call_seconds),
            env=self.environment(),
            on_process=self._note_process,
        )
        return self.peer.prepare(act, replace(request, **changes))

    def _note_process(self, _identity: ProcessId) -> None:
        self._may_leave_processes = True

    def run_limits(self, seconds: float, **changes: Any) -> RunLimits:
        """Limits with the kit's own grace."""
        grace = self.limits.grace_seconds
        limits = RunLimits(seconds=seconds, idle_seconds=None, grace_seconds=grace)
        return replace(limits, **changes)

    def hanging(self) -> RunLimits:
        """The limits of a call that hangs."""
        return self.run_limits(self.limits.hang_seconds)

    def latest_end(self, started_to_stop: float) -> float:
        """After how many seconds a call that is stopped at `started_to_stop` must be over."""
        return started_to_stop + 3 * self.limits.grace_seconds + self.limits.slack_seconds

    # -- calls -----------------------------------------------------------------------------------

    def open(self) -> OpenAgent:
        """A new agent, created as by the engine."""
        context = AgentContext(name=self.name, state_dir=str(self.state))
        return open_agent(
            self.choice(),
            lambda name: self.plugins.record(AGENTS, name),
            context,
            load_attribute=lambda name, path: self.plugins.attribute(AGENTS, name, path),
            guard=self.plugins.guard,
        )

    @property
    def name(self) -> str:
        """The agent's name in messages."""
        return self.agent if isinstance(self.agent, str) else Path(self.agent.argv[-1]).name

    def choice(self) -> Choice:
        """The choice of this agent, as from the configuration."""
        if isinstance(self.agent, str):
            return Choice(
                kind="plugin",
                word=self.agent,
                source="the kit",
                name=self.agent,
                plugin=self.agent,
                options=self.options,
                where="options",
            )
        return Choice(
            kind="command",
            word=self.name,
            source="the kit",
            name=self.name,
            command=self.agent.argv,
            options=self.options,
            capabilities=self.agent.capabilities,
        )

    def capabilities(self) -> frozenset[str]:
        """The capabilities that the agent declares."""
        if isinstance(self.agent, str):
            return frozenset(self.plugins.record(AGENTS, self.agent).capabilities)
        return self.agent.capabilities

    @contextlib.contextmanager
    def opened(self) -> Iterator[OpenAgent]:
        """A new agent, closed in any case at the end."""
        opened = self.open()
        try:
            yield opened
        finally:
            close_call(opened, grace_seconds=self.limits.grace_seconds)

    def call(
        self, request: AgentRequest | AskRequest, sink: RecordingSink | None = None
    ) -> Outcome:
        """The outcome of one call of a new agent."""
        with self.opened() as opened:
            return outcome_of(opened, request, sink)

    def reply(self, act: Act, **changes: Any) -> Replied:
        """The reply of a call that must succeed."""
        return succeeded(self.call(self.request(act, **changes)), act)

    def answer(self, act: Act, question: str, **changes: Any) -> Replied:
        """The reply to a question, which must succeed."""
        return succeeded(self.call(self.question(act, question, **changes)), act)

    def failure(self, act: Act, *kinds: FailureKind, **changes: Any) -> AgentFailure:
        """The failure of a call: one of `kinds`; by default any kind except `internal`."""
        return failed(self.call(self.request(act, **changes)), act, *kinds)

    def fork(self, session: str, act: Act, at: str | None = None) -> str:
        """A fork of the session, up to the mark `at`, made by an agent opened for it; by a prompt
        where the agent forks only with one. Raises AgentFailure.
        """
        request = self.request(act)
        with self.opened() as opened:
            forked = fork_call(opened, session, request, at)
        if forked is not None:
            return forked
        outcome = self.call(self.request(act, session=session, forks=True))
        if isinstance(outcome.error, AgentFailure):
            raise outcome.error
        return succeeded(outcome, act).session

    # -- what is left ----------------------------------------------------------------------------

    def processes_left(self) -> int:
        """The number of processes that outlive their calls by `gone_seconds`; kills them."""
        deadline = time.monotonic() + self.limits.gone_seconds
        while leftovers(self.marker) and time.monotonic() < deadline:
            time.sleep(0.02)
        return end_leftovers(self.marker, grace_seconds=0.0)

    def clean_up(self) -> None:
        """End all processes that a clause may have left running."""
        self.peer.close()
        if self._may_leave_processes:
            end_leftovers(self.marker, grace_seconds=0.0)


def outcome_of(
    opened: OpenAgent, request: AgentRequest | AskRequest, sink: RecordingSink | None = None
) -> Outcome:
    """The outcome of one call of an open agent."""
    sink = sink or RecordingSink()
    started = time.monotonic()
    try:
        if isinstance(request, AskRequest):
            reply = ask_call(opened, request, sink)
        else:
            reply = run_call(opened, request, sink)
    except Exception as error:
        return Outcome(None, error, sink, time.monotonic() - started)
    return Outcome(reply, None, sink, time.monotonic() - started)


def succeeded(outcome: Outcome, act: Act) -> Replied:
    """The reply of a call that must succeed."""
    if outcome.reply is None:
        pytest.fail(f"the peer was to {act.do}, and the call failed: {described(outcome.error)}")
    return Replied(outcome.reply, outcome.sink, outcome.seconds)


def failed(outcome: Outcome, act: Act, *kinds: FailureKind) -> AgentFailure:
    """The failure of a call that must fail."""
    wanted = " or ".join(kind.word for kind in kinds) or "a failure of the closed table"
    if outcome.reply is not None:
        said = outcome.reply.text if outcome.reply.structured is None else outcome.reply.structured
        pytest.fail(f"the peer was to {act.do}; wanted {wanted}, and got the reply {said!r:.200}")
    error = outcome.error
    right = isinstance(error, AgentFailure) and (
        error.kind in kinds if kinds else error.kind is not FailureKind.INTERNAL
    )
    if not right:
        pytest.fail(f"the peer was to {act.do}; wanted {wanted}, and got {described(error)}")
    assert isinstance(error, AgentFailure)
    assert error.message.strip(), "a failure has a message"
    return error


def described(error: BaseException | None) -> str:
    """An error with its kind, for the message of a clause."""
    kind = f"{error.kind.word}: " if isinstance(error, AgentFailure) else ""
    return f"{kind}{type(error).__name__}: {error!s:.500}"
