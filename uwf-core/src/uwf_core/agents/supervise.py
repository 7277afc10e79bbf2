"""Call an agent under supervision: in a separate thread, with limits, and validate its reply.

Whatever an adapter does, the result is a reply that can be stored, one of the failures of the
closed table, `NeedsAnswer`, or `AgentStuck`.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from uwf_core.agents.cleaning import (
    TURNS_PER_REPLY,
    WatchedSink,
    clean_reply,
    clean_text,
    clean_value,
)
from uwf_core.agents.open import Done, OpenAgent
from uwf_core.api.agent import (
    AgentReply,
    AgentRequest,
    Call,
    Continuation,
    NoSink,
    RunLimits,
    TurnSink,
)
from uwf_core.api.reply import received
from uwf_core.cas.schemas import CompiledSchema
from uwf_core.errors import (
    AgentFailure,
    AgentInterrupted,
    AgentStuck,
    Crashed,
    EmptyReply,
    InternalFailure,
    NeedsAnswer,
    PayloadError,
    SessionLost,
    Stalled,
    TimedOut,
    TooLarge,
)
from uwf_core.fields.mismatch import FieldFault
from uwf_core.process.cancel import Cancel

if TYPE_CHECKING:
    from uwf_core.api.agent import AskRequest
    from uwf_core.process.identity import ProcessId

_Result = TypeVar("_Result")
_CallType = TypeVar("_CallType", bound=Call)

TICK_SECONDS = 0.05
"""The interval of checks of limits and the cancel token; the end of an agent is noticed at once."""


def run_call(
    opened: OpenAgent,
    request: AgentRequest,
    sink: TurnSink,
    on_tick: Callable[[], None] | None = None,
) -> AgentReply:
    """One call of `Agent.run`; `on_tick` is called in this thread, now and then, until it ends.

    Raises:
        AgentFailure: one of the closed table. `SessionLost` also where `request.session` was to be
            continued and the reply does not prove that it was.
        NeedsAnswer: the agent needs an answer of a person.
        AgentStuck: it kept running after the cancel token was set; its cause is the reason.
    """
    reply = _Supervised(opened, request, sink, on_tick).result(
        lambda call, watched: opened.agent.run(call, watched)
    )
    reply = _checked_reply(reply, opened, request.limits.reply_bytes)
    _check_session(reply, request, opened)
    return reply


def ask_call(opened: OpenAgent, request: "AskRequest", sink: TurnSink) -> AgentReply:
    """One call of `Agent.ask`; raises like `run_call`, but needs no proof of a session."""
    reply = _Supervised(opened, request, sink).result(
        lambda call, watched: opened.agent.ask(call, watched)
    )
    return _checked_reply(reply, opened, request.limits.reply_bytes)


def fork_call(
    opened: OpenAgent, session: str, request: AgentRequest, at: str | None = None
) -> str | None:
    """One call of `Agent.fork`: the id of the new session, which differs from `session`; None
    where the agent copies a session only with the next prompt.

    `at` is the mark up to which it is copied; an agent without marks need not take the argument.

    Raises:
        AgentFailure, NeedsAnswer, AgentStuck: as `run_call`.
    """
    forked = _Supervised(opened, request, NoSink()).result(
        lambda call, watched: (
            opened.agent.fork(session, call)
            if at is None
            else opened.agent.fork(session, call, at=at)
        )
    )
    if forked is None and at is None:
        return None
    if not isinstance(forked, str) or not forked.strip():
        raise InternalFailure(f"{opened.origin} forked a session and returned {forked!r} as its id")
    forked = clean_text(forked)
    if forked == session:
        raise SessionLost(
            f"{opened.origin} forked the session {session!r} but returned the same id",
            session=session,
        )
    return forked


def close_call(opened: OpenAgent, *, grace_seconds: float = 5.0) -> AgentFailure | None:
    """Call `Agent.close`; return an error for the log instead of losing the result."""
    limits = RunLimits(seconds=grace_seconds, idle_seconds=None, grace_seconds=0.0)
    call = Call(thread="", role="", step_number=0, cwd="", limits=limits)
    try:
        _Supervised(opened, call, NoSink()).result(lambda _call, _sink: opened.agent.close())
    except AgentFailure as failure:
        return failure
    except (AgentStuck, NeedsAnswer) as fault:
        return InternalFailure(f"{opened.origin} did not close: {fault.message}")
    finally:
        opened.thread.end()
    return None


def speaks_from(reply: AgentReply, session: str | None) -> bool:
    """Whether an answer provably comes from `session` (`original`), or from a fork that
    was made of it for this question; otherwise it is `reconstructed`.
    """
    if session is None or not reply.proof:
        return False
    if reply.continuation == "forked":
        return True
    return reply.continuation == "continued" and reply.session == session


class _Outcome(NamedTuple, Generic[_Result]):
    """The end of a call: one of both."""

    result: _Result | None
    error: BaseException | None


class _Supervised(Generic[_CallType]):
    """One running call."""

    def __init__(
        self,
        opened: OpenAgent,
        request: _CallType,
        sink: TurnSink,
        on_tick: Callable[[], None] | None = None,
    ) -> None:
        self._opened = opened
        self._on_tick = on_tick
        self._outer = request.cancel
        self._cancel = Cancel()
        self._limits = request.limits
        if "stream" not in opened.capabilities:
            self._limits = replace(self._limits, idle_seconds=None)
        self._sink = WatchedSink(sink, request.limits.reply_bytes * TURNS_PER_REPLY)
        self._runs_programs = False
        on_process = request.on_process

        def note_process(identity: "ProcessId") -> None:
            self._runs_programs = True
            on_process(identity)

        self._call = request.with_(
            cancel=self._cancel, limits=self._limits, on_process=note_process
        )
        self._outcome: _Outcome[object] = _Outcome(None, None)

    def result(self, method: Callable[[_CallType, TurnSink], _Result]) -> _Result:
        """Call it and wait for the result.

        Raises:
            AgentFailure, NeedsAnswer, AgentStuck: see `run_call`.
        """
        if self._outer.is_set():
            raise AgentInterrupted(f"stopped before {self._opened.origin} was started")
        self._outer.working.add(self)
        with self._opened.guard:
            done: Done | None = None
            try:
                done = self._opened.thread.call(lambda: self._work(method))
                reason = self._wait(done)
            except AgentStuck:
                raise
            except BaseException:
                if done is not None:  # otherwise it could not be started
                    self._stop(done, "interrupted")
                raise
            finally:
                self._outer.working.discard(self)
                self._sink.close()
        lost = self._too_large() if self._sink.too_large else self._sink.fault
        if lost is not None:
            raise lost from self._outcome.error
        reply: Any = self._outcome.result
        if isinstance(reply, AgentReply) and reply.is_received:
            return received(reply, None if reply.notices else reason)  # type: ignore[return-value]
        if reason is not None:
            raise reason from self._outcome.error
        if self._outcome.error is not None:
            raise self._failure(self._outcome.error) from self._outcome.error
        return reply  # type: ignore[no-any-return]

    def _work(self, method: Callable[[_CallType, TurnSink], object]) -> None:
        try:
            self._outcome = _Outcome(method(self._call, self._sink), None)
        except BaseException as error:
            self._outcome = _Outcome(None, error)

    def _wait(self, done: Done) -> AgentFailure | None:
        """Wait for the end; return the reason for stopping the call, None if it ended by itself."""
        deadline = time.monotonic() + self._limits.seconds
        while not done.wait(min(TICK_SECONDS, max(0.0, deadline - time.monotonic()))):
            if self._on_tick is not None:
                self._on_tick()
            reason = self._reason_to_stop(deadline)
            if reason is not None:
                self._stop(done, reason.kind.word, reason)
                return reason
        if self._outer.is_set() and isinstance(self._outcome.error, AgentFailure):
            return self._interrupted()
        return None

    def _reason_to_stop(self, deadline: float) -> AgentFailure | None:
        now, session, origin = time.monotonic(), self._sink.last_session, self._opened.origin
        if self._outer.is_set():
            return self._interrupted()
        if self._sink.too_large:
            return self._too_large()
        if self._sink.fault is not None:
            return InternalFailure(f"cannot store the output of {origin}", session=session)
        if now >= deadline:
            return TimedOut(
                f"{origin} did not finish within {round(self._limits.seconds, 1):g} s",
                session=session,
                hint="raise the `timeout` of the role or agent, or `limits -> runSeconds`; the "
                + "next exec "
                + ("continues its session" if session else "runs it again"),
            )
        idle = self._limits.idle_seconds
        # Every byte of a program is a sign of life; its process is watched for them.
        if idle is not None and not self._runs_programs and now - self._sink.last_life >= idle:
            return Stalled(
                f"{origin} was idle for {idle:g} s",
                session=session,
                hint="raise `limits -> idleSeconds`; the next exec continues its session",
            )
        return None

    def _interrupted(self) -> AgentFailure:
        why = self._outer.reason or "asked to stop"
        return AgentInterrupted(
            f"{self._opened.origin} was stopped: {why}", session=self._sink.last_session
        )

    def _too_large(self) -> AgentFailure:
        message = f"{self._opened.origin} reported {self._sink.too_large}"
        return TooLarge(message, session=self._sink.last_session)

    def _stop(self, done: Done, word: str, reason: AgentFailure | None = None) -> None:
        """Set the cancel token and wait for the end of the call.

        A call that runs programs gets longer: each signal has a separate grace period.

        Raises:
            AgentStuck: it keeps running.
        """
        self._cancel.set(word)
        grace = self._limits.grace_seconds
        patience = 3 * grace + 2 if self._runs_programs else grace
        if not done.wait(patience):
            raise AgentStuck(
                f"{self._opened.origin} still runs {patience:g} s after it was asked to stop "
                f"({word})",
                hint="end this process; the next `uwf thread exec` continues the thread",
            ) from reason

    def _failure(self, error: BaseException) -> BaseException:
        """Convert an error of an adapter for the caller."""
        if isinstance(error, NeedsAnswer):
            return self._checked_question(error)
        if isinstance(error, AgentFailure):
            named = error.session if isinstance(error.session, str) else None
            error.session = clean_text(named) if named else self._sink.last_session
            error.message = clean_text(error.message)
            return error
        return InternalFailure(
            f"{self._opened.origin} failed with {type(error).__name__}: {error}",
            session=self._sink.last_session,
            hint="this is a bug in the plugin; --debug shows the traceback",
        )

    def _checked_question(self, question: NeedsAnswer) -> BaseException:
        origin = self._opened.origin
        try:
            form = clean_value(question.form)
        except (FieldFault, RecursionError) as fault:
            return self._of_form(f"{origin} asks with an invalid form, which {fault}")
        try:
            CompiledSchema(form)
            if not _admits_objects(form):
                raise PayloadError("an answer is an object with fields, which it does not allow")
        except PayloadError as fault:  # no answer could ever satisfy it
            return self._of_form(f"{origin} asks with an unusable form: {fault}")
        return NeedsAnswer(clean_text(str(question.message)), form)

    def _of_form(self, message: str) -> AgentFailure:
        """A wrong form is a bug of a plugin, as any wrong reply is a crash of a command."""
        kind = Crashed if self._opened.spec is None else InternalFailure
        return kind(message, session=self._sink.last_session)


def _admits_objects(form: Mapping[str, Any]) -> bool:
    """Whether the form itself rules out objects; alternatives within it are not examined."""
    words = form.get("type", "object")
    fixed = [form["const"]] if "const" in form else form.get("enum", [{}])
    return "object" in (words if isinstance(words, list) else [words]) and any(
        isinstance(each, Mapping) for each in fixed
    )


def _checked_reply(reply: object, opened: OpenAgent, limit_bytes: int) -> AgentReply:
    """Validate a reply and make it storable.

    Raises:
        InternalFailure: it is not a reply. EmptyReply, TooLarge: it cannot be stored.
    """
    if not isinstance(reply, AgentReply):
        raise InternalFailure(f"{opened.origin} returned {type(reply).__name__}, not an AgentReply")
    try:
        reply = clean_reply(reply)
    except FieldFault as fault:
        raise InternalFailure(
            f"{opened.origin} returned a reply in which {fault.place() or 'the whole'} {fault}",
            session=clean_text(reply.session) if isinstance(reply.session, str) else None,
        ) from fault
    if reply.text is not None and reply.structured is not None:
        raise InternalFailure(
            f"{opened.origin} returned both text and structured output; return one of them",
            session=reply.session,
        )
    if reply.structured is None and not (reply.text or "").strip():
        raise EmptyReply(f"{opened.origin} returned nothing", session=reply.session)
    size = len((reply.text or json.dumps(reply.structured, ensure_ascii=False)).encode())
    if size > limit_bytes:
        raise TooLarge(
            f"{opened.origin} returned {size} bytes; the limit is {limit_bytes}",
            session=reply.session,
            hint="raise `limits -> replyBytes`",
        )
    return reply


def _check_session(reply: AgentReply, request: AgentRequest, opened: OpenAgent) -> None:
    """Enforce that a role has one session: the requested and proven one, a proven copy of it where
    a copy was requested, or a new one.

    Raises:
        SessionLost: a session should be continued, and the reply does not prove it.
        InternalFailure: the agent continued one that was not requested.
    """
    asked = request.session
    if asked is None:
        if reply.continuation == "continued":
            raise InternalFailure(
                f"{opened.origin} continued the session {reply.session!r} instead of a new one",
                session=reply.session,
            )
        return
    wanted: Continuation = "forked" if request.forks else "continued"
    if not reply.session or (reply.session == asked) is request.forks:
        what = f"used {reply.session!r}" if reply.session else "returned none"
    elif reply.continuation != wanted:
        what = f"reported {reply.continuation}"
    elif not reply.proof:
        what = "returned no proof"
    else:
        return
    raise SessionLost(
        f"{opened.origin} should {'fork' if request.forks else 'continue'} the session {asked!r} "
        f"but {what}",
        session=None if request.forks else reply.session,
    )
