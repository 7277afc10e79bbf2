"""Turns as they come: blocks of a message become one turn, results find their calls."""

import time
from collections.abc import Sequence
from dataclasses import replace

from uwf_agent_claude_code.lines import SYNTHETIC, Message, Results, Retry
from uwf_core.api import ToolCall, Turn, TurnSink

_RESULTS_AT_ONCE = 200_000
"""Each state of a turn counts in full against the limit of a run: long ones are reported once."""


class Turns:
    """Numbers the turns of one run and reports them to the sink."""

    def __init__(self, sink: TurnSink) -> None:
        self._sink = sink
        self._turns: list[Turn] = []
        self._of_message: dict[str, int] = {}
        self._of_call: dict[str, int] = {}

    @property
    def last_text(self) -> str:
        """The text of the last message of the session's own model that has one."""
        texts = (turn.text for turn in reversed(self._turns) if turn.role == "assistant")
        return next((text for text in texts if text.strip()), "")

    def message(self, message: Message) -> None:
        """A block of a message: its turn grows, or begins."""
        if message.is_inner or message.model == SYNTHETIC:
            self.note(message.text)
            return
        index = self._of_message.get(message.id)
        if index is None:
            index = len(self._turns)
            self._turns.append(Turn(index=index, role="assistant"))
            self._of_message[message.id] = index
        now = int(time.time() * 1000)
        calls = [
            ToolCall(id=use.id, name=use.name, arguments=use.arguments, started_ms=now)
            for use in message.uses
        ]
        self._of_call |= {call.id: index for call in calls}
        turn = self._turns[index]
        self._tell(
            replace(
                turn,
                text=_joined(turn.text, message.text),
                reasoning=_joined(turn.reasoning or "", message.reasoning) or None,
                tool_calls=(*turn.tool_calls, *calls),
            )
        )

    def results(self, results: Results) -> None:
        """Results of tools, and what the program sent to the model."""
        now, changed = int(time.time() * 1000), dict[int, None]()
        for result in results.results:
            index = self._of_call.get(result.id)
            if index is None:
                continue  # a call of an agent that the model started
            turn = self._turns[index]
            calls = tuple(
                replace(call, result=result.text, is_error=result.is_error, ended_ms=now)
                if call.id == result.id
                else call
                for call in turn.tool_calls
            )
            self._turns[index] = replace(turn, tool_calls=calls)
            changed[index] = None
        for index in changed:
            calls = self._turns[index].tool_calls
            if _are_done(calls) or _size(calls) < _RESULTS_AT_ONCE:
                self._tell(self._turns[index])
        if not results.results:
            self.note(results.text)

    def retry(self, retry: Retry) -> None:
        """A request that failed and is tried again."""
        why = " ".join(str(part) for part in (retry.status, retry.error) if part)
        self.note(
            f"the request to the model failed ({why or 'no answer'}); try {retry.attempt} of "
            f"{retry.attempts} in {retry.delay_ms / 1000:.1f} s"
        )

    def note(self, text: str) -> None:
        """Something that the model of this session did not say."""
        if text:
            turn = Turn(index=len(self._turns), role="note", text=text)
            self._turns.append(turn)
            self._tell(turn)

    def _tell(self, turn: Turn) -> None:
        self._turns[turn.index] = turn
        self._sink.turn(turn)


def _joined(before: str, text: str) -> str:
    return f"{before}\n\n{text}" if before and text else before or text


def _are_done(calls: Sequence[ToolCall]) -> bool:
    return all(call.result is not None for call in calls)


def _size(calls: Sequence[ToolCall]) -> int:
    return sum(len(call.result or "") for call in calls)
