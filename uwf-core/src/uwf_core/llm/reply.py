"""A reply from what the service sends: one document, or the chunks of a stream.

A whole message is read as one great delta: they have the same keys.
Source: https://platform.openai.com/docs/api-reference/chat; besides `reasoning_content` (DeepSeek,
Kimi, GLM, vLLM) and `reasoning` (OpenRouter, ollama).
"""

import json
import re
from collections.abc import Callable
from typing import Any

from uwf_core.api.agent import ToolCall, Usage
from uwf_core.errors import EmptyReply, Refused, Truncated, Unavailable
from uwf_core.llm.chat import ChatReply, Delta
from uwf_core.llm.failures import Fault, Refusal, fault_of
from uwf_core.llm.think import ThinkSplitter
from uwf_core.llm.usage import read_usage

OnDelta = Callable[[Delta], None]


class Draft:
    """A reply as it grows. `place` names the service in errors; `first_call` is the number that
    calls without an id are counted from, so that ids are unique in a conversation.
    """

    def __init__(self, place: str, on_delta: OnDelta | None, first_call: int) -> None:
        self.ended = False
        self._place = place
        self._on_delta = on_delta
        self._first_call = first_call
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[_CallDraft] = []
        self._by_index: dict[int, _CallDraft] = {}
        self._splitter = ThinkSplitter()
        self._stop_reason: str | None = None
        self._usage = Usage(turns=1)
        self._model: str | None = None

    def take(self, document: Any) -> bool:
        """A chunk, or the whole; whether it holds a choice.

        Raises:
            Fault: it says that something failed.
        """
        if not isinstance(document, dict):
            return False
        if document.get("error"):
            raise _fault_within(document, self._place)
        if isinstance(document.get("usage"), dict):
            self._usage = read_usage(document["usage"])
        if isinstance(document.get("model"), str):
            self._model = document["model"]
        choices = document.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return False
        self._choice(choices[0])
        return True

    def finish(self) -> ChatReply:
        """The reply.

        Raises:
            Fault: there is none: refused, empty, or broken off.
        """
        for kind, piece in self._splitter.finish():
            self._grow(kind, piece)
        refusal = "".join(self._refusal)
        if refusal or self._stop_reason == "content_filter":
            words = f": {refusal[:2000]}" if refusal else " (content_filter)"
            raise Fault(Refused(f"{self._place}: the model refused{words}"))
        if self._stop_reason == "error":
            raise Fault(Unavailable(f"{self._place}: the service broke off: error"), again=True)
        text = "".join(self._text)
        if not text.strip() and not self._calls:
            raise Fault(self._nothing())
        return ChatReply(
            text=text,
            reasoning="".join(self._reasoning),
            tool_calls=self._tool_calls(),
            stop_reason=self._stop_reason,
            usage=self._usage,
            model=self._model,
        )

    def _choice(self, choice: dict[str, Any]) -> None:
        if isinstance(choice.get("error"), dict):
            raise _fault_within(choice, self._place)
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._stop_reason = reason
            self.ended = True

    def _delta(self, delta: dict[str, Any]) -> None:
        for name in ("reasoning_content", "reasoning"):
            if thought := _text_of(delta.get(name)):
                self._grow("reasoning", thought)
                break
        if said := _text_of(delta.get("content")):
            for kind, piece in self._splitter.feed(said):
                self._grow(kind, piece)
        if refused := _text_of(delta.get("refusal")):
            self._refusal.append(refused)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict):
                self._call(call)

    def _grow(self, kind: Any, piece: str) -> None:
        (self._reasoning if kind == "reasoning" else self._text).append(piece)
        self._tell(Delta(kind=kind, text=piece))

    def _call(self, piece: dict[str, Any]) -> None:
        draft = self._draft_of(piece)
        function = piece.get("function")
        arguments = draft.take(piece.get("id"), function if isinstance(function, dict) else {})
        number = self._calls.index(draft)
        self._tell(
            Delta(
                kind="tool_call", text=arguments, index=number, id=draft.id, name=draft.name or None
            )
        )

    def _draft_of(self, piece: dict[str, Any]) -> "_CallDraft":
        """The call that a piece belongs to: by its index; a new id begins a new call, since some
        services number all calls 0, or none.
        """
        index, number = piece.get("index"), piece.get("id")
        if isinstance(index, int):
            known = self._by_index.get(index)
        elif number:
            known = next((call for call in self._calls if call.id == number), None)
        else:
            known = self._calls[-1] if self._calls and not _begins(piece) else None
        if known is not None and not (number and known.id and number != known.id):
            return known
        draft = _CallDraft()
        self._calls.append(draft)
        if isinstance(index, int):
            self._by_index[index] = draft
        return draft

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in their order, each with an id of its own."""
        taken: set[str] = set()
        calls = []
        for number, draft in enumerate(self._calls, start=self._first_call):
            name = draft.id or f"call_{number}"
            while name in taken:
                name += "_"
            taken.add(name)
            calls.append(ToolCall(id=name, name=draft.name, arguments="".join(draft.arguments)))
        return tuple(calls)

    def _nothing(self) -> EmptyReply | Truncated:
        if self._stop_reason == "length":
            return Truncated(
                f"{self._place}: the model used all its tokens before it said anything",
                hint="give it more with max_tokens, or a shorter prompt",
            )
        thought = ", though it thought" if self._reasoning else ""
        return EmptyReply(
            f"{self._place}: the model answered nothing{thought} ({self._stop_reason})"
        )

    def _tell(self, delta: Delta) -> None:
        if self._on_delta is not None:
            self._on_delta(delta)


class _CallDraft:
    """A call as it grows."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.name = ""
        self.arguments: list[str] = []

    def take(self, number: Any, function: dict[str, Any]) -> str:
        """A piece; the piece of the arguments in it."""
        if isinstance(number, str) and number:
            self.id = number
        name = function.get("name")
        # Some services repeat the whole name with every piece.
        if isinstance(name, str) and name != self.name:
            self.name += name
        arguments = function.get("arguments")
        if arguments is None:
            return ""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        self.arguments.append(text)
        return text


def _begins(piece: dict[str, Any]) -> bool:
    function = piece.get("function")
    return isinstance(function, dict) and bool(function.get("name"))


def _text_of(content: Any) -> str:
    """A text, or the texts of a list of parts; anything else is none."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str))
    return ""


def _fault_within(document: dict[str, Any], place: str) -> Fault:
    """An error that came with status 200: its `code` may be the status that it should have had."""
    error = document["error"]
    code = str(error.get("code")) if isinstance(error, dict) else ""
    status = int(code) if re.fullmatch("[45][0-9][0-9]", code) else None
    body = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    # Without a code it is most often an overload, which another attempt may pass.
    return fault_of(Refusal(status or 500, {}, body, place, "", 0))
