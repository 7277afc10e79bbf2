"""One call of an agent: one process, one session, one prompt."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from uwf_agent_acp.agent.failures import failure_of_error
from uwf_agent_acp.agent.permissions import Policy
from uwf_agent_acp.agent.process import AcpProcess
from uwf_agent_acp.agent.profile import Profile
from uwf_agent_acp.agent.turn_builder import TurnBuilder
from uwf_agent_acp.protocol.client import AcpClient, AgentInfo, PromptEnd, SessionState
from uwf_agent_acp.protocol.errors import AcpError, ConnectionClosed, RpcError
from uwf_core.api import (
    AgentFailure,
    AgentInterrupted,
    AgentReply,
    BadRequest,
    Call,
    End,
    MaxTurns,
    SessionLost,
    TimedOut,
    TurnSink,
    Unavailable,
    failure_of,
    received,
)

_SHOWN = 8
"""How many values a hint has."""


class _Opened(NamedTuple):
    """An open session, and the proof that it is the requested one."""

    state: SessionState
    proof: str | None


class AgentConversation:
    """A prompt or a fork, in a new process.

    Args:
        call: the call.
        profile: the agent.
        sink: gets turns, session and usage.
        decided: what a person has answered, by fingerprint of the question.
        keep_question: called with session and fingerprint of a question to a person.
    """

    def __init__(
        self,
        call: Call,
        profile: Profile,
        sink: TurnSink,
        decided: Mapping[str, Mapping[str, Any]],
        keep_question: Callable[[str, str], None],
    ) -> None:
        self._call, self._profile, self._sink = call, profile, sink
        self._who, self._settings = profile.title, profile.settings
        self._keep_question = keep_question
        self._policy = Policy(self._who, self._settings.permission, decided, self._ask_a_person)
        self._turns = TurnBuilder(
            sink, self._policy.decide, self._count_round, self._profile.is_said
        )
        self._session = call.session
        self._too_many_turns = False
        self._started = time.monotonic()

    def prompt(self, text: str) -> AgentReply:
        """Send `text` to the session of the call, or to a new one; return the reply.

        Raises:
            AgentFailure: by kind; the session's id is in it.
            NeedsAnswer: a person must answer.
        """
        with self._started_process() as program:
            try:
                info = program.begin()
                opened = self._opened(program, info)
                self._profile.check_ready()
                end = program.prompt(opened.state.id, self._profile.prompt_text(text))
                stopped = self._stopped()
                if stopped is not None:
                    raise stopped
                fault = self._end_turn(program, info, opened.state.id)
            except AcpError as error:
                raise self._broken(error) from error
            finally:
                self._turns.finish()
            return self._reply(end, opened, info, fault)

    def fork(self, session: str) -> str:
        """The id of a copy of `session`.

        Raises:
            AgentFailure: by kind; `SessionLost` where the agent has no such session or no fork.
        """
        with self._started_process() as program:
            try:
                info = program.begin()
                if not info.can("fork"):
                    raise SessionLost(f"{self._who} announces no fork", session=session)
                if info.can_load:
                    self._load(program, info, session)
                meta = self._profile.meta(self._call)
                forked = program.client.open_session("fork", self._call.cwd, session, meta)
                self._profile.check_fork(forked, session)
                self._end_turn(program, info, forked.id)
            except AcpError as error:
                raise self._broken(error) from error
        return forked.id

    def _started_process(self) -> AcpProcess:
        services = {"elicitation/create": self._policy.elicit}
        self._program = AcpProcess(self._call, self._profile, self._turns, services)
        return self._program

    def _opened(self, program: AcpProcess, info: AgentInfo) -> _Opened:
        """Open the session of the call, or a new one; report it immediately."""
        asked = self._call.session
        opened = self._load(program, info, asked) if asked else _Opened(self._new(program), None)
        session = self._session = opened.state.id
        self._sink.session(session)
        self._set(program.client, opened.state, "mode", opened.state.mode_ids)
        self._set(program.client, opened.state, "model", ())
        self._turns.listen_to(session)
        return opened

    def _set(
        self,
        client: AcpClient,
        state: SessionState,
        what: Literal["mode", "model"],
        known: Sequence[str],
    ) -> None:
        """Put a session into the mode, or let it use the model, that the settings name.

        Args:
            known: the modes it can be put into; where there are none, a setting has the values.
        """
        wanted, option = getattr(self._settings, what), state.option(what)
        if wanted is None:
            return
        values = known or (option.values if option else ())
        if wanted not in values and (what == "mode" or option):
            if what == "mode" and not self._profile.is_mode_required:
                return
            raise BadRequest(
                f"{self._who} has no {what} {wanted!r}, which the option `{what}` names",
                session=state.id,
                hint=f"it has {_listed(values)}",
            )
        if option is None or known:
            client.tell_session(state.id, f"set_{what}", **{f"{what}Id": wanted})
        else:
            client.tell_session(state.id, "set_config_option", configId=option.id, value=wanted)

    def _new(self, program: AcpProcess) -> SessionState:
        try:
            meta = self._profile.meta(self._call)
            return program.client.open_session("new", self._call.cwd, meta=meta)
        except RpcError as error:
            raise Unavailable(
                f"{self._who} cannot begin a session: {error}", hint=self._profile.setup_hint
            ) from error

    def _load(self, program: AcpProcess, info: AgentInfo, session: str) -> _Opened:
        """Open an earlier session as far as the agent announces that, and check the evidence."""
        client, meta = program.client, self._profile.meta(self._call)
        self._profile.check_load(session)
        try:
            if info.can_load:
                state = client.open_session("load", self._call.cwd, session, meta)
                return _Opened(state, self._profile.proof_of_load(state, self._turns.replayed))
            if info.can("resume"):
                state = client.open_session("resume", self._call.cwd, session, meta)
                if state.id == session:
                    return _Opened(state, f"session/resume of {session} was accepted")
        except RpcError as error:
            raise SessionLost(
                f"{self._who} cannot load the session {session}: {error}", session=session
            ) from error
        raise SessionLost(f"{self._who} announces no loading of sessions", session=session)

    def _end_turn(self, program: AcpProcess, info: AgentInfo, session: str) -> str | None:
        """Let the agent end its turn, and store the session where it announces that."""
        return program.end_turn(session if info.can("close") else None)

    def _ask_a_person(self, session: str, asked: str) -> None:
        self._keep_question(session or self._session or "", asked)
        self._program.end_prompt()

    def _count_round(self, count: int) -> None:
        limit = self._settings.max_turns
        if limit is not None and count > limit:
            self._too_many_turns = True
            self._program.end_prompt()

    def _stopped(self) -> AgentFailure | None:
        """The reason if we ended the conversation."""
        if self._policy.question is not None:
            raise self._policy.question
        if self._too_many_turns:
            limit = self._settings.max_turns
            return MaxTurns(
                f"{self._who} used tools in more than {limit} turns", session=self._session
            )
        if self._program.ended == "timeout":
            return TimedOut(
                f"{self._who} was not done within {self._call.limits.seconds:g} s",
                session=self._session,
                hint="raise the role's `timeout` or the agent's; the next exec continues",
            )
        if self._program.ended == "cancelled":
            why = self._call.cancel.reason or "asked to stop"
            return AgentInterrupted(f"{self._who} was stopped: {why}", session=self._session)
        return None

    def _broken(self, error: AcpError) -> AgentFailure:
        result = self._program.finish(is_ending=isinstance(error, ConnectionClosed))
        hint = self._profile.setup_hint
        return self._stopped() or failure_of_error(self._who, error, result, self._session, hint)

    def _reply(
        self, end: PromptEnd, opened: _Opened, info: AgentInfo, fault: str | None
    ) -> AgentReply:
        usage = self._profile.usage(
            self._profile.counts(end, self._turns.metas),
            turns=self._turns.turns,
            duration_ms=int((time.monotonic() - self._started) * 1000),
        )
        if usage.input_tokens is not None:
            self._sink.usage(usage)
        result = self._program.finish()
        text, session = self._turns.final_text, opened.state.id
        failure = self._profile.failure_of_own(self._turns.own, session)
        failure = failure or self._profile.failure_of_end(end, text, result, session)
        if failure is not None:
            raise failure
        reply = AgentReply(
            text=text,
            session=session,
            continuation="new" if opened.proof is None else "continued",
            proof=opened.proof,
            usage=usage,
            model=self._settings.model or opened.state.model,
            agent_version=info.version,
            stop_reason=self._profile.stop_reason(end, result),
            denials=tuple(self._policy.denials),
        )
        by_itself = failure_of(result, self._who) if result.end is End.EXITED else None
        return received(reply, by_itself, fault)


def _listed(values: Sequence[str]) -> str:
    some = ", ".join(values[:_SHOWN]) or "none"
    return f"among others {some}" if len(values) > _SHOWN else some
