"""The agent: map calls of the contract to sessions and prompts of Hermes."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from uwf_agent_acp.protocol.client import AgentInfo, PermissionRequest, PromptEnd, SessionState
from uwf_agent_acp.protocol.errors import AcpError, ConnectionClosed, RpcError
from uwf_agent_hermes.acp_process import AcpProcess
from uwf_agent_hermes.failures import diagnosis_of, failure_of_end, failure_of_error
from uwf_agent_hermes.options import HermesOptions
from uwf_agent_hermes.overlay import READING
from uwf_agent_hermes.permissions import Policy, Questions
from uwf_agent_hermes.turn_builder import TurnBuilder
from uwf_agent_hermes.usage import usage_of
from uwf_core.api import (
    AgentContext,
    AgentFailure,
    AgentInterrupted,
    AgentReply,
    AgentRequest,
    AskRequest,
    BadRequest,
    Call,
    MaxTurns,
    NoSink,
    SessionLost,
    TimedOut,
    TurnSink,
    Unavailable,
)

_NO_COMMAND = "This message begins with a slash, but is not a command:\n\n"


class HermesAgent:
    """Hermes, one process for each call.

    Args:
        options: see `HermesOptions`.
        context: `state_dir` keeps the questions to a person.
    """

    def __init__(self, options: HermesOptions | None, context: AgentContext) -> None:
        self._options = options or HermesOptions()
        self._questions = Questions(Path(context.state_dir, "questions"))

    def run(self, request: AgentRequest, sink: TurnSink) -> AgentReply:
        """One turn of a role, in a new session or in the one it had.

        Raises:
            AgentFailure: by kind; the session's id is in it.
            NeedsAnswer: Hermes asks permission, and the option `permission` is `ask`.
        """
        decided = self._decided(request)
        conversation = _Conversation(
            request, self._options_of(request), sink, decided, self._questions.keep
        )
        reply = conversation.prompt(request.prompt)
        if request.session is not None and request.answer is not None:
            self._questions.forget(request.session)
        return reply

    def fork(self, session: str, request: AgentRequest, at: str | None = None) -> str:
        """A copy of the session under a new id. Hermes copies a whole session, so replies have no
        mark.

        Raises:
            AgentFailure: by kind; `SessionLost` if Hermes does not know the session.
        """
        options = self._options_of(request)
        return _Conversation(request, options, NoSink(), {}, self._questions.keep).fork(session)

    def ask(self, request: AskRequest, sink: TurnSink) -> AgentReply:
        """Answer a question, from the session if given, else from the record. Hermes gets only the
        tools that read, and no permission.

        Raises:
            AgentFailure: by kind.
        """
        options = replace(self._options_of(request), permission="deny", mode="default")
        text = request.question
        if request.session is None and request.record:
            text = f"{request.record}\n\n# Question\n\n{text}"
        return _Conversation(request, options, sink, {}, self._questions.keep, READING).prompt(text)

    def close(self) -> None:
        """Do nothing: no resources stay open between calls."""

    def _options_of(self, call: Call) -> HermesOptions:
        return call.options if isinstance(call.options, HermesOptions) else self._options

    def _decided(self, request: AgentRequest) -> Mapping[str, str]:
        """A person's decision about the last question of this session."""
        decision = (request.answer or {}).get("decision")
        if request.session is None or decision not in ("allow", "deny"):
            return {}
        asked = self._questions.asked(request.session)
        return {} if asked is None else {asked: decision}


class _Opened(NamedTuple):
    """An open session, and the proof that it is the requested one."""

    state: SessionState
    proof: str | None


class _Conversation:
    """One call: one process, one session, one prompt."""

    def __init__(
        self,
        call: Call,
        options: HermesOptions,
        sink: TurnSink,
        decided: Mapping[str, str],
        keep_question: Callable[[str, PermissionRequest], None],
        only: Sequence[str] | None = None,
    ) -> None:
        self._call, self._options, self._sink = call, options, sink
        self._only = only
        self._keep_question = keep_question
        self._policy = Policy(options.permission, decided, self._ask_a_person)
        self._turns = TurnBuilder(sink, self._policy.decide, self._count_round)
        self._session = call.session
        self._too_many_turns = False
        self._started = time.monotonic()

    def prompt(self, text: str) -> AgentReply:
        """Send `text` to the session of the call, or to a new one; return the reply.

        Raises:
            AgentFailure, NeedsAnswer: see `HermesAgent.run`.
        """
        with self._started_process() as program:
            try:
                info = program.begin()
                opened = self._opened(program)
                program.check_overlay()
                end = program.prompt(opened.state.id, _guarded(text))
            except AcpError as error:
                raise self._broken(error) from error
            finally:
                self._turns.finish()
            return self._reply(end, opened, info)

    def fork(self, session: str) -> str:
        """The id of a copy of `session`.

        Raises:
            AgentFailure: see `HermesAgent.fork`.
        """
        with self._started_process() as program:
            try:
                program.begin()
                self._load(program, session)
                forked = program.client.fork_session(session, self._call.cwd)
            except AcpError as error:
                raise self._broken(error) from error
        if not forked.id or forked.modes is None:
            raise SessionLost(f"Hermes did not fork the session {session}", session=session)
        return forked.id

    def _started_process(self) -> AcpProcess:
        self._program = AcpProcess(self._call, self._options, self._turns, self._only)
        return self._program

    def _opened(self, program: AcpProcess) -> _Opened:
        """Open the session of the call, or a new one; report it immediately."""
        asked = self._call.session
        opened = self._load(program, asked) if asked else _Opened(self._new(program), None)
        session = self._session = opened.state.id
        self._sink.session(session)
        self._set_mode(opened.state, program)
        model = self._options.model_id
        if model is not None:
            program.client.set_model(session, model)
        self._turns.listen_to(session)
        return opened

    def _set_mode(self, state: SessionState, program: AcpProcess) -> None:
        """Put the session into its mode; Hermes would take any word, and then ask for each edit."""
        mode, known = self._options.edit_mode, state.mode_ids
        if self._options.mode is not None and mode not in known:
            raise BadRequest(
                f"Hermes has no mode {mode!r}, which the option `mode` names",
                session=state.id,
                hint=f"it has {', '.join(known) or 'none'}",
            )
        if mode in known:
            program.client.set_mode(state.id, mode)

    def _new(self, program: AcpProcess) -> SessionState:
        try:
            return program.client.new_session(self._call.cwd)
        except RpcError as error:
            raise Unavailable(
                f"Hermes cannot begin a session: {error}",
                hint="`uwf agent check hermes` shows what is missing; `hermes setup` fixes it",
            ) from error

    def _load(self, program: AcpProcess, session: str) -> _Opened:
        """Load a session and check the evidence: `modes` in the answer, which is missing for an
        unknown session, and a replayed transcript.
        """
        try:
            state = program.client.load_session(session, self._call.cwd)
        except RpcError as error:
            raise SessionLost(
                f"Hermes cannot load the session {session}: {error}", session=session
            ) from error
        if state.modes is None:
            raise SessionLost(f"Hermes does not know the session {session}", session=session)
        replayed = self._turns.replayed
        if not replayed:
            raise SessionLost(
                f"Hermes has nothing recorded of the session {session}", session=session
            )
        return _Opened(state, f"session/load of {session} replayed {replayed} messages")

    def _ask_a_person(self, request: PermissionRequest) -> None:
        self._keep_question(request.session, request)
        self._program.end_prompt()

    def _count_round(self, count: int) -> None:
        limit = self._options.max_turns
        if limit is not None and count > limit:
            self._too_many_turns = True
            self._program.end_prompt()

    def _stopped(self) -> AgentFailure | None:
        """The reason if we ended the conversation."""
        if self._policy.question is not None:
            raise self._policy.question
        if self._too_many_turns:
            limit = self._options.max_turns
            return MaxTurns(f"Hermes used tools in more than {limit} turns", session=self._session)
        if self._program.ended == "timeout":
            return TimedOut(
                f"Hermes was not done within {self._call.limits.seconds:g} s",
                session=self._session,
                hint="raise the role's `timeout` or the agent's; the next exec continues",
            )
        if self._program.ended == "cancelled":
            why = self._call.cancel.reason or "asked to stop"
            return AgentInterrupted(f"Hermes was stopped: {why}", session=self._session)
        return None

    def _broken(self, error: AcpError) -> AgentFailure:
        result = self._program.finish(is_ending=isinstance(error, ConnectionClosed))
        return self._stopped() or failure_of_error(error, result, self._session)

    def _reply(self, end: PromptEnd, opened: _Opened, info: AgentInfo) -> AgentReply:
        stopped = self._stopped()
        if stopped is not None:
            raise stopped
        usage = usage_of(
            end.usage,
            turns=self._turns.turns,
            duration_ms=int((time.monotonic() - self._started) * 1000),
        )
        if usage.input_tokens is not None:
            self._sink.usage(usage)
        diagnosis = diagnosis_of(self._program.finish())
        text, session = self._turns.final_text, opened.state.id
        failure = failure_of_end(end, text, diagnosis, session)
        if failure is not None:
            raise failure
        return AgentReply(
            text=text,
            session=session,
            continuation="new" if opened.proof is None else "continued",
            proof=opened.proof,
            usage=usage,
            model=self._options.model_id or opened.state.model,
            agent_version=info.version,
            stop_reason=diagnosis.reason or end.stop_reason,
            denials=tuple(self._policy.denials),
        )


def _guarded(text: str) -> str:
    """`text` that Hermes does not treat as one of its commands (such as `/reset`)."""
    return _NO_COMMAND + text if text.lstrip().startswith("/") else text
