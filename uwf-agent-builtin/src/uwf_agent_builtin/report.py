"""What the engine is told as it happens: turns, their growth, their results."""

import time
from collections.abc import Sequence

from uwf_core.api import ToolCall, Turn, TurnSink, Usage
from uwf_core.llm.chat import ChatReply, Delta

_PAUSE_SECONDS = 0.3
_CHARACTERS_PER_SECOND = 100_000
_RESULTS_AT_ONCE = 200_000
"""Each state of a turn counts in full against what a run may report: long ones are told rarely."""


class Reporter:
    """Numbers the turns of one call and tells the sink."""

    def __init__(self, sink: TurnSink) -> None:
        self._sink = sink
        self._index = 0
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, tuple[str, str]] = {}
        self._told_at = 0.0
        self._reply = ChatReply()
        self._done: list[ToolCall] = []
        self._size = 0

    def note(self, text: str) -> None:
        """Something that neither the model nor a tool says."""
        self._sink.turn(Turn(index=self._index, role="note", text=text))
        self._index += 1

    def delta(self, delta: Delta) -> None:
        """A piece of a reply; the sink gets what there is so far, now and then."""
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
        if time.monotonic() - self._told_at >= pause:
            self._tell_piece()

    def reply(self, reply: ChatReply, usage: Usage) -> None:
        """A whole reply, and what the call has used so far."""
        self._forget()
        self._reply, self._done = reply, []
        self._tell_reply(reply.tool_calls)
        self._sink.usage(usage)
        if not reply.tool_calls:
            self._index += 1

    def result(self, call: ToolCall) -> None:
        """A call that has its result."""
        self._done.append(call)
        size = sum(len(each.result or "") for each in self._done)
        left = self._reply.tool_calls[len(self._done) :]
        if not left:
            self._tell_reply(self._done)
            self._index += 1
        elif size < _RESULTS_AT_ONCE:
            self._tell_reply([*self._done, *left])

    def _tell_reply(self, calls: Sequence[ToolCall]) -> None:
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

    def _tell_piece(self) -> None:
        self._told_at = time.monotonic()
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
