"""The facts of a reply. One that was received is kept, whatever its program does afterwards."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from uwf_core.errors import AgentFailure

if TYPE_CHECKING:
    from uwf_core.api.agent import AgentReply

ENDED_BADLY = "agent-ended-badly"


@dataclass(frozen=True, kw_only=True)
class ReplyFacts:
    """What an agent tells about a reply, also one that is a command. The texts are of the page of
    the command protocol.

    Attributes:
        proof: the evidence that the session was continued or forked; without it uwf rejects that.
        mark: the place in the session after this reply, if `fork` can copy the session up to there.
        tool_list: the tools that came from servers (such as MCP). uwf records it, and reports a
            list that has changed since the last step of the role.
    """

    model: Annotated[str | None, "The model that was used."] = None
    agent_version: Annotated[str | None, "The version of the agent."] = None
    stop_reason: Annotated[str | None, "Why the model stopped, in its own words."] = None
    denials: Annotated[tuple[str, ...], "Uses of tools that were denied; not a failure."] = ()
    proof: Annotated[str | None, "Why the session is the one that was asked for."] = None
    mark: Annotated[
        str | None, "The place in the session after this reply; a fork gets it as `at`."
    ] = None
    tool_list: Annotated[str | None, "The tools that came from servers, as text."] = None
    notices: Annotated[tuple[str, ...], "What a person has to know besides the reply."] = ()


def received(reply: "AgentReply", *failures: AgentFailure | str | None) -> "AgentReply":
    """`reply`, whose protocol has sent its mark of a complete reply: it counts, even if the call
    had to be stopped afterwards. Without that mark raise a failure, whatever the text looks like.

    Args:
        reply: the reply.
        failures: what went wrong after the mark (an exit code, a signal, a program that stays);
            None where nothing did. Each becomes the notice `agent-ended-badly` of the step.

    Example:
        ```python
        return received(AgentReply(text=text), failure_of(result, "mine"))
        ```
    """
    words = [each.message if isinstance(each, AgentFailure) else each for each in failures if each]
    notices = (f"{ENDED_BADLY}: the reply is complete, but then {each}" for each in words)
    return replace(reply, is_received=True, notices=(*reply.notices, *notices))
