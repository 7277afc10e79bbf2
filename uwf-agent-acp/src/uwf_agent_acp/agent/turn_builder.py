"""Build turns from an agent's updates, with interim texts separate from the final one."""

import time
from collections.abc import Callable
from dataclasses import replace

from uwf_agent_acp.protocol.client import PermissionRequest
from uwf_agent_acp.protocol.updates import Chunk, ToolUse, Update
from uwf_core.api import ToolCall, Turn, TurnSink

_BREAK = "\n\n"
"""Some agents put this before the first text that follows a use of tools."""
_PAUSE_SECONDS = 0.3
_BYTES_PER_SECOND = 100_000


class TurnBuilder:
    """Listens to one prompt of one session.

    Until `listen_to` it only counts: earlier updates are the replay of a transcript.

    Args:
        sink: gets the turns.
        decide: answers requests for permission.
        on_round: called with the number of rounds each time the model begins to use tools.
    """

    def __init__(
        self,
        sink: TurnSink,
        decide: Callable[[PermissionRequest], str | None],
        on_round: Callable[[int], None] = lambda _count: None,
    ) -> None:
        self._sink = sink
        self._decide = decide
        self._on_round = on_round
        self._session: str | None = None
        self._turn = Turn(index=0, role="assistant")
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._size = 0
        self._told_at = 0.0
        self._rounds = 0
        self._after_tools = self._has_results = False
        self.replayed = 0
        """How many recorded messages of user and assistant were replayed."""

    @property
    def final_text(self) -> str:
        """The text since the last use of a tool."""
        return "" if self._turn.tool_calls else "".join(self._text)

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
            self.replayed += isinstance(update, Chunk) and update.kind != "thought"
        elif session != self._session:
            return  # a session that the agent made for itself
        elif isinstance(update, ToolUse):
            self._tool(update)
        elif isinstance(update, Chunk) and update.kind != "user":
            self._chunk(update)

    def permission(self, request: PermissionRequest) -> str | None:
        """Answer a request for permission."""
        return self._decide(request)

    def finish(self) -> None:
        """Report what is not reported yet."""
        if self._said_something():
            self._tell()

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
        if use.begins:
            self._begin_use(use)
        elif use.id in calls:
            self._has_results = True
            self._replace(_changed(calls[use.id], use))
        else:
            return  # its turn was reported already, or never began
        self._tell()

    def _begin_use(self, use: ToolUse) -> None:
        # Results come when the model is asked again: so what begins after one is a new turn.
        if self._has_results:
            self._begin_turn()
        if not self._turn.tool_calls:
            self._rounds += 1
            self._on_round(self._rounds)
        self._after_tools = True
        name, _, rest = (use.title or use.kind or "tool").partition(": ")
        call = ToolCall(id=use.id, name=name, arguments=use.arguments or rest, started_ms=_now_ms())
        self._turn = replace(self._turn, tool_calls=(*self._turn.tool_calls, call))

    def _replace(self, changed: ToolCall) -> None:
        calls = (changed if call.id == changed.id else call for call in self._turn.tool_calls)
        self._turn = replace(self._turn, tool_calls=tuple(calls))

    def _begin_turn(self) -> None:
        self._tell()
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
    is_over = use.status in ("completed", "failed")
    return replace(
        call,
        result=call.result if use.result is None else use.result,
        is_error=use.status == "failed",
        ended_ms=_now_ms() if is_over else call.ended_ms,
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
