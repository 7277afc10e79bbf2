"""A reply that was received is kept, whatever the program of its agent does afterwards."""

from dataclasses import replace

from uwf_core.api.agent import AgentReply
from uwf_core.errors import AgentFailure

ENDED_BADLY = "agent-ended-badly"


def received(reply: AgentReply, *failures: AgentFailure | str | None) -> AgentReply:
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
