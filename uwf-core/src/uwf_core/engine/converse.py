"""Stages 7 to 9: run the agent, keep what it said, extract; back to 7 for a correction."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from uwf_core.agents.supervise import fork_call, run_call
from uwf_core.api.agent import AgentReply, AgentRequest, Usage
from uwf_core.api.extract import NO_USAGE, ExtractProblem
from uwf_core.api.price import priced
from uwf_core.engine.extraction import OpenExtractor, extract
from uwf_core.errors import AgentFailure, EmptyReply, InvalidOutput, SessionLost, TimedOut
from uwf_core.extract.correction import correction_text, correction_without_session
from uwf_core.named_tuple import NamedTuple
from uwf_core.process import crash_points
from uwf_core.thread.types import CorrectionPayload

if TYPE_CHECKING:
    from uwf_core.agents.open import OpenAgent
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.progress import Progress

MAX_CORRECTIONS = 2


class Briefing(NamedTuple):
    """What an agent is asked: the request to continue its session (or begin one), and the same
    with the whole history, for an agent whose session is lost (made only when needed).
    `inherited` is a session of a fork's parent, to be forked before it is continued; `extractors`
    read the reply.
    """

    request: AgentRequest
    fresh: Callable[[], AgentRequest]
    inherited: str | None
    extractors: Sequence[OpenExtractor]


@dataclass(slots=True)
class Talk:
    """All that was said so far in one attempt."""

    request: AgentRequest
    prompt: str
    reply: AgentReply | None = None
    raw: str | None = None
    session: str | None = None
    continuation: str = "new"
    usage: Usage | None = None
    output: Mapping[str, Any] | None = None
    extractor: str | None = None
    body: str = ""
    corrections: tuple[CorrectionPayload, ...] = ()

    def spend(self, usage: Usage) -> None:
        """Add what a call used."""
        self.usage = usage if self.usage is None else self.usage.plus(usage)


class Conversation:
    """One attempt's talk with its agent: `run`, then `keep` and `extract`, and `correct` as long
    as something is wrong; what came of it is `talk`.
    """

    def __init__(
        self, engine: "Engine", agent: "OpenAgent", progress: "Progress", briefing: Briefing
    ) -> None:
        self._engine = engine
        self._agent = agent
        self._progress = progress
        self._briefing = briefing
        self._deadline = monotonic() + briefing.request.limits.seconds
        self.talk = Talk(briefing.request, briefing.request.prompt)

    def run(self) -> None:
        """Stage 7: begin or continue; a lost session is replaced by a fresh one, and marked.

        Raises:
            AgentFailure: the agent failed.
            NeedsAnswer: it needs a person.
        """
        request = self._briefing.request
        try:
            if self._briefing.inherited is not None:
                session = self._fork(self._briefing.inherited)
                request = request.with_(session=session)
                self._call(request)
                self.talk.continuation = "forked"
            else:
                self._call(request)
        except SessionLost:
            if self._briefing.inherited is None and request.session is None:
                raise
            fresh = self._briefing.fresh()
            self.talk.prompt = fresh.prompt
            self._call(fresh)
            self.talk.continuation = "restarted"

    def _fork(self, session: str) -> str:
        forked = fork_call(self._agent, session, self._limited(self._briefing.request))
        self._progress.session(forked)
        return forked

    def _call(self, request: AgentRequest) -> None:
        request = self._limited(request)
        self.talk.request = request
        self._progress.next_call()
        try:
            reply = run_call(self._agent, request, self._progress, self._progress.flush)
        except BaseException as error:
            if self._progress.usage_seen is not None:
                self.talk.spend(self._progress.usage_seen)
            named = self._keepable(error.session) if isinstance(error, AgentFailure) else None
            self.talk.session = named or self._progress.session_seen or request.session
            raise
        crash_points.reach("reply")
        self.talk.spend(priced(reply.usage, request.model))
        self.talk.reply = reply
        self.talk.session = self._keepable(reply.session)
        self.talk.continuation = reply.continuation

    def _keepable(self, session: str | None) -> str | None:
        """A session's id, if it may be stored: redacted it would name nothing."""
        is_clean = session is None or self._engine.redactor.text(session) == session
        return session if is_clean else None

    def keep(self) -> None:
        """Stage 8: keep what the agent said, redacted, before anything reads it.

        It is stored with the step or the correction that refers to it.

        Raises:
            EmptyReply: it said nothing.
        """
        reply = self.talk.reply
        assert reply is not None
        redactor = self._engine.redactor
        if reply.structured is not None:
            structured = redactor.value(dict(reply.structured))
            text = json.dumps(structured, ensure_ascii=False)
            self.talk.reply = replace(reply, structured=structured)
        else:
            text = redactor.text(reply.text or "")
            self.talk.reply = replace(reply, text=text)
        self.talk.raw = text
        crash_points.reach("keep")
        if not text.strip():
            raise EmptyReply("the agent answered with nothing")

    def extract(self) -> tuple[ExtractProblem, ...]:
        """Stage 9: take the typed output, or say what is wrong with it."""
        reply = self.talk.reply
        assert reply is not None
        schema = self.talk.request.schema
        extracted, name = extract(self._engine, self._briefing.extractors, reply, schema)
        if extracted.usage != NO_USAGE:
            self.talk.spend(extracted.usage)
        if extracted.output is not None:
            self.talk.output, self.talk.body = extracted.output, extracted.body
            self.talk.extractor = name
            return ()
        return extracted.errors or (_NOTHING,)

    def correct(self, problems: tuple[ExtractProblem, ...]) -> None:
        """Back to 7: in the same session where there is one, else with the whole prompt again.

        Raises:
            InvalidOutput: there were enough corrections.
            AgentFailure, NeedsAnswer: as `run`.
        """
        talk, continuation = self.talk, self.talk.continuation
        count = len(talk.corrections) + 1
        if count > MAX_CORRECTIONS:
            raise InvalidOutput(
                f"the output does not satisfy the role's schema after {MAX_CORRECTIONS} "
                "corrections: " + "; ".join(map(_words, problems)),
                hint="`uwf step show` on the failed attempt shows what was delivered",
            )
        again = talk.request.with_(purpose="correction", answer=None, session=None)
        if "continue" in self._agent.capabilities and talk.session is not None:
            text = correction_text(problems, count, MAX_CORRECTIONS)
            try:
                self._send_back(again.with_(session=talk.session, prompt=text), problems)
                talk.continuation = continuation
                return
            except SessionLost:
                talk.corrections = talk.corrections[:-1]
                continuation = "restarted"
        appendix = correction_without_session(problems, count, MAX_CORRECTIONS, talk.raw or "")
        again = again.with_(prompt=f"{self._briefing.fresh().prompt}\n{appendix}")
        self._send_back(again, problems)
        talk.continuation = continuation

    def _send_back(self, request: AgentRequest, problems: tuple[ExtractProblem, ...]) -> None:
        assert self.talk.raw is not None
        with self._engine.store.transaction(durable=False):
            correction: CorrectionPayload = {
                "prompt": self._engine.store.put_text(request.prompt),
                "raw": self._engine.store.put_text(self.talk.raw),
                "errors": [_words(problem) for problem in problems],
            }
        self.talk.corrections = (*self.talk.corrections, correction)
        self._call(request)

    def _limited(self, request: AgentRequest) -> AgentRequest:
        left = self._deadline - monotonic()
        if left <= 0:
            raise TimedOut(f"the step's {request.limits.seconds:g} seconds are over")
        return request.with_(limits=replace(request.limits, seconds=left))


_NOTHING = ExtractProblem(path="", message="no extractor could read the output")


def _words(problem: ExtractProblem) -> str:
    return f"{problem.path}: {problem.message}" if problem.path else problem.message
