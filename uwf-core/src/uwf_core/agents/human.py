"""The `human` agent: a person plays the role, and the answer is the role's output."""

from collections.abc import Sequence

from uwf_core.api.agent import (
    AgentContext,
    AgentReply,
    AgentRequest,
    AgentSpec,
    AskRequest,
    TurnSink,
)
from uwf_core.api.extract import NO_USAGE
from uwf_core.api.hookspecs import hookimpl
from uwf_core.errors import BadRequest, NeedsAnswer


@hookimpl
def uwf_agents() -> Sequence[AgentSpec]:
    """The one agent of this module."""
    return [
        AgentSpec(
            name="human",
            summary="a person: the thread waits for `uwf thread resume --answer`",
            factory="uwf_core.agents.human:HumanAgent",
            capabilities=frozenset(("structured", "usage")),
        )
    ]


class HumanAgent:
    """Raises `NeedsAnswer` with the role's schema as the form, or returns the given answer."""

    def __init__(self, _options: None, _context: AgentContext) -> None:
        pass

    def run(self, request: AgentRequest, sink: TurnSink) -> AgentReply:
        """The answer as structured output.

        Raises:
            NeedsAnswer: there is none yet; the message is the call's instruction.
        """
        if request.answer is None:
            sink.usage(NO_USAGE)
            raise NeedsAnswer(request.parts.instruction or request.prompt, request.schema)
        return AgentReply(structured=request.answer, usage=NO_USAGE, stop_reason="answered")

    def fork(self, session: str, request: AgentRequest, at: str | None = None) -> str:
        """Never called: a person has no session.

        Raises:
            BadRequest: always.
        """
        raise BadRequest("a person has no session to fork")

    def ask(self, request: AskRequest, sink: TurnSink) -> AgentReply:
        """Never called.

        Raises:
            BadRequest: always.
        """
        raise BadRequest("uwf cannot ask a person about a past step; ask them directly")

    def close(self) -> None:
        """Do nothing."""
