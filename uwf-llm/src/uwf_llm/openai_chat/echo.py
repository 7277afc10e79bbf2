"""Keep what a service sends beyond the standard, and send it back: reasoning, thought signatures.

Gemini rejects a conversation whose calls of tools lack their `extra_content`; DeepSeek, Kimi, GLM,
MiniMax and OpenRouter expect the reasoning in the field in which they sent it. Everything stays in
the service's own form, `Message.extra`: fields of the message, and below `tool_calls` those of each
call in its place.

Sources: https://ai.google.dev/gemini-api/docs/thought-signatures,
https://openrouter.ai/docs/use-cases/reasoning-tokens,
https://api-docs.deepseek.com/guides/thinking_mode
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from uwf_llm.chat import Message
from uwf_llm.layout import further

_CALLS = "tool_calls"
_TEXTS = ("reasoning_content", "reasoning")
_OF_MESSAGE = (*_TEXTS, "reasoning_details", "thinking_blocks", "extra_content")
"""Other fields of a message (`refusal`, `annotations`) are not accepted back by OpenAI."""
_STANDARD = {
    "call": frozenset(("index", "id", "type")),
    "function": frozenset(("name", "arguments")),
}
_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary", "thinking": "thinking"}
"""By type, the text that a block of reasoning grows by from one piece of a stream to the next."""


def extra_of_call(piece: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a call, or of a piece of one, that are not in the standard."""
    extra = further(piece, _STANDARD["call"])
    function = extra.pop("function", None)
    of_function = further(function, _STANDARD["function"]) if isinstance(function, dict) else {}
    return {**extra, "function": of_function} if of_function else extra


class ExtraBuilder:
    """The extra of a growing reply; texts and blocks of reasoning arrive in many pieces."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[Any]] = {}

    def take(self, delta: Mapping[str, Any]) -> None:
        """Add what a delta, or a whole message, has of it."""
        for name in _OF_MESSAGE:
            if delta.get(name):
                self._pieces.setdefault(name, []).append(delta[name])

    def finish(self, calls: list[dict[str, Any]]) -> dict[str, Any]:
        """The whole extra with that of each call; nothing if it cannot be sent as JSON."""
        extra = {name: _joined(pieces) for name, pieces in self._pieces.items()}
        return {**extra, _CALLS: calls} if any(calls) else extra


def echo(said: dict[str, Any], message: Message, unwanted: Collection[str]) -> None:
    """Add the extra of a message to its standard fields `said`, which it never replaces."""
    for name, value in _wanted(message.extra, unwanted).items():
        if name != _CALLS:
            said.setdefault(name, value)
    for call, extra in zip(said.get(_CALLS, ()), message.extra.get(_CALLS, ()), strict=False):
        function = {**extra.get("function", {}), **call["function"]}
        call |= {**_wanted(extra, unwanted), **call, "function": function}


def names_of_extra(message: Message) -> Iterator[str]:
    """The names of the fields in the extra of a message."""
    yield from (name for name in message.extra if name != _CALLS)
    for call in message.extra.get(_CALLS, ()):
        yield from (name for name in call if name != "function")


def _wanted(fields: Mapping[str, Any], unwanted: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in unwanted}


def _joined(pieces: list[Any]) -> Any:
    """One value out of its pieces: texts and lists grow, of anything else the last one counts."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    if all(isinstance(piece, list) for piece in pieces):
        return _blocks([block for piece in pieces for block in piece])
    return pieces[-1]


def _blocks(pieces: list[Any]) -> list[Any]:
    """The blocks of a reasoning; pieces of one block are merged."""
    runs: list[list[Any]] = []
    for piece in pieces:
        if runs and _continues(runs[-1][-1], piece):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return [_block(run) if len(run) > 1 else run[0] for run in runs]


def _block(run: list[dict[str, Any]]) -> dict[str, Any]:
    grows = _GROWING[run[0]["type"]]
    fields = {name: value for piece in run for name, value in further(piece, ()).items()}
    return {**fields, grows: "".join(str(piece.get(grows) or "") for piece in run)}


def _continues(last: Any, piece: Any) -> bool:
    if not (isinstance(last, dict) and isinstance(piece, dict)) or last.get("signature"):
        return False
    same = all(last.get(name) == piece.get(name) for name in ("type", "index"))
    return same and piece.get("type") in tuple(_GROWING)
