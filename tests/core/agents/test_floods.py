"""What an agent reports is bounded, also where it has no text."""

from collections.abc import Callable
from typing import Any

import pytest

from uwf_core.agents import cleaning
from uwf_core.agents.supervise import run_call
from uwf_core.api.agent import (
    AgentReply,
    AgentRequest,
    RunLimits,
    ToolCall,
    Turn,
    TurnSink,
    Usage,
)
from uwf_core.errors import TooLarge

from .test_supervise import agent

RequestFor = Callable[..., AgentRequest]


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (lambda sink, at: sink.turn(Turn(index=at, role="assistant", text="")), "500 turns"),
        (lambda sink, at: sink.turn(Turn(index=0, role="assistant", text="")), "2,000 times"),
        (lambda sink, at: sink.session("s"), "2,000 times"),
        (lambda sink, at: sink.usage(Usage()), "2,000 times"),
        (lambda sink, at: sink.turn(_with_uses(at)), "turns of more than"),
    ],
    ids=["turns", "states", "sessions", "usages", "uses of tools"],
)
def test_reports_without_text_are_counted_as_well(
    request_for: RequestFor,
    told: Any,
    monkeypatch: pytest.MonkeyPatch,
    report: Callable[[TurnSink, int], None],
    words: str,
) -> None:
    monkeypatch.setattr(cleaning, "MOST_TURNS", 500)
    monkeypatch.setattr(cleaning, "MOST_CALLS", 2_000)

    def run(request: AgentRequest, sink: TurnSink) -> AgentReply:
        at = 0
        while not request.cancel.is_set():
            report(sink, at)
            at += 1
        return AgentReply(text="done")

    with pytest.raises(TooLarge, match=words):
        run_call(agent(run), request_for(limits=RunLimits(reply_bytes=1 << 20)), told)


def _with_uses(number: int) -> Turn:
    """One turn of an agent that uses tools without waiting for a result."""
    return Turn(
        index=0, role="assistant", text="", tool_calls=(ToolCall(id="a", name="b"),) * number
    )
