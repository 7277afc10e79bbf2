"""Report turns to the engine while they grow, with their results."""

import time
from collections.abc import Sequence

from uwf_core.api import ToolCall, Turn, TurnSink, Usage
from uwf_llm.chat import ChatReply, Delta

_PAUSE_SECONDS = 0.3
_CHARACTERS_PER_SECOND = 100_000
_RESULTS_AT_ONCE = 200_000
"""Each state of a turn counts in full against the limit of a run: long ones are reported rarely."""


class Reporter:
    """Numbers the turns of one call and reports them to the sink."""

    def __init__(self, sink: TurnSink) -> None:
        self._sink = sink
        self._index = 0
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, tuple[str, str]] = {}
        self._reported_at = 0.0
        self._reply = ChatReply()
        self._done: list[ToolCall] = []
        self._size = 0

    def note(self, text: str) -> None:
        """Report a note of the agent itself."""
        self._sink.turn(Turn(index=self._index, role="note", text=text))
        self._index += 1

    def delta(self, delta: Delta) -> None:
        """Add a piece of a reply; the sink gets the reply so far from time to time."""
        match delta.kind:
            case "again":
                self._forget()
                return
            case "text":
                self._text.append(delta.text)
            case "reasoning":
                self._reasoning.append(delta.text)
            case "tool_call":
                self._calls[delta.index or 0] = (delta.id or "", delta.name or "")
        self._size += len(delta.text)
        pause = _PAUSE_SECONDS + self._size / _CHARACTERS_PER_SECOND
        if time.monotonic() - self._reported_at >= pause:
            self._report_piece()

    def reply(self, reply: ChatReply, usage: Usage) -> None:
        """Report a whole reply, and the usage of the call so far."""
        self._forget()
        self._reply, self._done = reply, []
        self._report_reply(reply.tool_calls)
        self._sink.usage(usage)
        if not reply.tool_calls:
            self._index += 1

    def result(self, call: ToolCall) -> None:
        """Report a call with its result."""
        self._done.append(call)
        size = sum(len(each.result or "") for each in self._done)
        left = self._reply.tool_calls[len(self._done) :]
        if not left:
            self._report_reply(self._done)
            self._index += 1
        elif size < _RESULTS_AT_ONCE:
            self._report_reply([*self._done, *left])

    def _report_reply(self, calls: Sequence[ToolCall]) -> None:
        self._sink.turn(
            Turn(
                index=self._index,
                role="assistant",
                text=self._reply.text,
                reasoning=self._reply.reasoning or None,
                tool_calls=tuple(calls),
                usage=self._reply.usage,
            )
        )

    def _report_piece(self) -> None:
        self._reported_at = time.monotonic()
        self._sink.turn(
            Turn(
                index=self._index,
                role="assistant",
                text="".join(self._text),
                reasoning="".join(self._reasoning) or None,
                tool_calls=tuple(ToolCall(id=id_, name=name) for id_, name in self._calls.values()),
            )
        )

    def _forget(self) -> None:
        self._text, self._reasoning, self._calls, self._size = [], [], {}, 0
