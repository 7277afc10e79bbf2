"""The agent: calls of uwf's contract become sessions and prompts of a program."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uwf_agent_acp.agent.conversation import AgentConversation
from uwf_agent_acp.agent.permissions import Questions
from uwf_agent_acp.agent.profile import Profile
from uwf_core.api import (
    AgentContext,
    AgentReply,
    AgentRequest,
    AskRequest,
    Call,
    NoSink,
    TurnSink,
)


class AcpAgent:
    """One process of a program for each call. `profile_of` of a subclass selects the program.

    Args:
        context: `state_dir` keeps the questions to a person.
    """

    def __init__(self, context: AgentContext) -> None:
        self._questions = Questions(Path(context.state_dir, "questions"))

    def profile_of(self, call: Call, *, is_question: bool) -> Profile:
        """The program with the options of the call; a question must change nothing."""
        raise NotImplementedError

    def run(self, request: AgentRequest, sink: TurnSink) -> AgentReply:
        """One turn of a role, in a new session or in the one it had.

        Raises:
            AgentFailure: by kind; the session's id is in it.
            NeedsAnswer: the agent asks a person, and the option `permission` is `ask`.
        """
        profile = self.profile_of(request, is_question=False)
        decided = self._decided(request)
        reply = AgentConversation(request, profile, sink, decided, self._questions.keep).prompt(
            request.prompt
        )
        if request.session is not None and request.answer is not None:
            self._questions.forget(request.session)
        return reply

    def fork(self, session: str, request: AgentRequest, at: str | None = None) -> str:
        """A copy of the session under a new id. The protocol copies a whole session, so replies
        have no mark.

        Raises:
            AgentFailure: by kind; `SessionLost` if the agent does not know the session.
        """
        profile = self.profile_of(request, is_question=False)
        return AgentConversation(request, profile, NoSink(), {}, self._questions.keep).fork(session)

    def ask(self, request: AskRequest, sink: TurnSink) -> AgentReply:
        """Answer a question, from the session if given, else from the record, without permission
        to anything.

        Raises:
            AgentFailure: by kind.
        """
        profile = self.profile_of(request, is_question=True)
        text = request.question
        if request.session is None and request.record:
            text = f"{request.record}\n\n# Question\n\n{text}"
        return AgentConversation(request, profile, sink, {}, self._questions.keep).prompt(text)

    def close(self) -> None:
        """Do nothing: no resources stay open between calls."""

    def _decided(self, request: AgentRequest) -> Mapping[str, Mapping[str, Any]]:
        """A person's answer to the last question of this session."""
        if request.session is None or not request.answer:
            return {}
        asked = self._questions.asked(request.session)
        return {} if asked is None else {asked: request.answer}
