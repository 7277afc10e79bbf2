"""Build turns from an agent's updates, with interim texts separate from the final one."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from uwf_agent_acp.protocol.client import PermissionRequest
from uwf_agent_acp.protocol.updates import Chunk, ToolUse, Update
from uwf_core.api import ToolCall, Turn, TurnSink

_BREAK = "\n\n"
"""Some agents put this before the first text that follows a use of tools."""
_AFTER_NAME = re.compile(r": | · ")
_PAUSE_SECONDS = 0.3
_BYTES_PER_SECOND = 100_000


class TurnBuilder:
    """Listens to one prompt of one session.

    Until `listen_to` it only counts: earlier updates are the replay of a transcript.

    Args:
        sink: gets the turns.
        decide: answers requests for permission.
        on_round: called with the number of rounds each time the model begins to use tools.
        is_said: whether a chunk is the model's; what else the program says is left out.
    """

    def __init__(
        self,
        sink: TurnSink,
        decide: Callable[[PermissionRequest], str | None],
        on_round: Callable[[int], None] = lambda _count: None,
        is_said: Callable[[Chunk], bool] = lambda _chunk: True,
    ) -> None:
        self._sink = sink
        self._decide = decide
        self._on_round = on_round
        self._is_said = is_said
        self._session: str | None = None
        self._turn = Turn(index=0, role="assistant")
        self._text: list[str] = []
        self._earlier = ""
        self._reasoning: list[str] = []
        self._size = 0
        self._told_at = 0.0
        self._rounds = 0
        self._after_tools = self._has_results = False
        self._begun: set[str] = set()
        self.replayed: list[Chunk] = []
        """The recorded messages of user and assistant that were replayed."""
        self.own: list[Chunk] = []
        """What the program itself says among the model's words in this prompt."""
        self.metas: list[Mapping[str, Any]] = []
        """`_meta` of the chunks of this prompt, where they have one."""

    @property
    def final_text(self) -> str:
        """The last text of the model: some use a tool after it, such as a list of tasks."""
        text = "".join(self._text)
        return text if text.strip() else self._earlier

    @property
    def turns(self) -> int:
        """The number of turns of the model."""
        return self._turn.index + (1 if self._said_something() else 0)

    def listen_to(self, session: str) -> None:
        """Use the updates of this session from now on."""
        self._session = session

    def update(self, session: str, update: Update) -> None:
        """Take an update of the agent."""
        if self._session is None:
            if isinstance(update, Chunk) and update.kind != "thought":
                self.replayed.append(update)
        elif session != self._session:
            return  # a session that the agent made for itself
        elif isinstance(update, ToolUse):
            self._tool(update)
        elif isinstance(update, Chunk) and update.kind != "user":
            if update.meta:
                self.metas.append(update.meta)
            if update.text:
                self._text_of(update)

    def permission(self, request: PermissionRequest) -> str | None:
        """Answer a request for permission."""
        return self._decide(request)

    def finish(self) -> None:
        """Report what is not reported yet."""
        if self._said_something():
            self._tell()

    def _text_of(self, chunk: Chunk) -> None:
        if self._is_said(chunk):
            self._chunk(chunk)
        else:
            self.own.append(chunk)

    def _chunk(self, chunk: Chunk) -> None:
        if self._turn.tool_calls:
            self._begin_turn()
        text = chunk.text
        if chunk.kind == "message" and self._after_tools:
            text, self._after_tools = text.removeprefix(_BREAK), False
        (self._text if chunk.kind == "message" else self._reasoning).append(text)
        self._size += len(text)
        if time.monotonic() - self._told_at >= _PAUSE_SECONDS + self._size / _BYTES_PER_SECOND:
            self._tell()

    def _tool(self, use: ToolUse) -> None:
        calls = {call.id: call for call in self._turn.tool_calls}
        if use.id in calls:
            self._replace(_changed(calls[use.id], use))
        elif use.begins or (use.id not in self._begun and (use.title or use.kind)):
            # An agent may report a tool only when it has ended, after it asked permission.
            self._begin_use(use)
        else:
            return  # its turn was reported already
        self._has_results |= not use.begins and _is_over(use)
        self._tell()

    def _begin_use(self, use: ToolUse) -> None:
        # Results come when the model is asked again: so what begins after one is a new turn.
        if self._has_results:
            self._begin_turn()
        if not self._turn.tool_calls:
            self._rounds += 1
            self._on_round(self._rounds)
        self._after_tools = True
        self._begun.add(use.id)
        call = _changed(ToolCall(id=use.id, name="tool", started_ms=_now_ms()), use)
        self._turn = replace(self._turn, tool_calls=(*self._turn.tool_calls, call))

    def _replace(self, changed: ToolCall) -> None:
        calls = (changed if call.id == changed.id else call for call in self._turn.tool_calls)
        self._turn = replace(self._turn, tool_calls=tuple(calls))

    def _begin_turn(self) -> None:
        self._tell()
        self._earlier = self.final_text
        self._turn = Turn(index=self._turn.index + 1, role="assistant")
        self._text, self._reasoning, self._size = [], [], 0
        self._has_results, self._told_at = False, 0.0

    def _said_something(self) -> bool:
        return bool(self._text or self._reasoning or self._turn.tool_calls)

    def _tell(self) -> None:
        self._told_at = time.monotonic()
        self._turn = replace(
            self._turn,
            text="".join(self._text),
            reasoning="".join(self._reasoning) or None,
        )
        self._sink.turn(self._turn)


def _changed(call: ToolCall, use: ToolUse) -> ToolCall:
    """The call with what an update says of it; a title may hold the arguments as well."""
    name, rest = _split(use.title or "")
    return replace(
        call,
        name=name or (use.kind if call.name == "tool" else None) or call.name,
        arguments=use.arguments or rest or call.arguments,
        result=call.result if use.result is None else use.result,
        is_error=use.status == "failed",
        ended_ms=_now_ms() if _is_over(use) else call.ended_ms,
    )


def _split(title: str) -> tuple[str, str]:
    """The name in a title and what follows it: `shell: ls`, `shell · ls`."""
    name, *rest = _AFTER_NAME.split(title, maxsplit=1)
    return name, "".join(rest)


def _is_over(use: ToolUse) -> bool:
    return use.status in ("completed", "failed")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
