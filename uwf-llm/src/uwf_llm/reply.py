"""Build a neutral reply from its pieces, whatever the protocol, and convert an incomplete one to
its failure.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from uwf_core.api.agent import ToolCall, Usage
from uwf_core.api.sums import LARGEST
from uwf_core.errors import EmptyReply, Refused, Truncated, Unavailable
from uwf_llm.characters import whole_characters
from uwf_llm.chat import ChatReply, Delta, ResponseFormat
from uwf_llm.error_documents import status_in
from uwf_llm.failures import ErrorResponse, RequestFailed, failure_from
from uwf_llm.layout import extra_of, objects

OnDelta = Callable[[Delta], None]
_SHOWN = 2000
_BROKEN = frozenset(
    ("error", "network_error", "insufficient_system_resource", "abort", "aborted", "cancelled")
)
"""Reasons why services ended a reply before the model did (OpenRouter, GLM, DeepSeek, vLLM)."""


class ReplyBuilder:
    """A growing reply.

    Args:
        place: names the service in errors.
        on_delta: gets each piece, in the caller's thread.
        first_call: ids for calls without one are counted from it, so that they are unique in a
            conversation.

    Attributes:
        stop_reason: `stop`, `tool_calls`, `length`, or the service's own word.
        usage, model, extra, service, response_format: of the reply, as in `ChatReply`.
        layout: its parts in their order, which `extra` keeps (`uwf_llm.layout`).
        head: the response that holds the reply, for the failure of an error in it.
    """

    def __init__(self, place: str, on_delta: OnDelta | None = None, first_call: int = 0) -> None:
        self.place = place
        self.stop_reason: str | None = None
        self.usage = Usage(turns=1)
        self.model: str | None = None
        self.extra: Mapping[str, Any] = {}
        self.layout: list[dict[str, Any]] = []
        self.service = ""
        self.response_format: ResponseFormat | None = None
        self.head = ErrorResponse(200, {}, b"", place, "", 0)
        self._on_delta = on_delta
        self._first_call = first_call
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._refused = False
        self._broken: str | None = None
        self._calls: list[_GrowingCall] = []

    def text(self, piece: str) -> None:
        """Add a piece of the text."""
        self._text.append(piece)
        self._emit(Delta(kind="text", text=piece))

    def reasoning(self, piece: str) -> None:
        """Add a piece of the reasoning."""
        self._reasoning.append(piece)
        self._emit(Delta(kind="reasoning", text=piece))

    def refuse(self, words: str = "") -> None:
        """The model refused; `words` is a piece of what it says."""
        self._refused = True
        self._refusal.append(words)

    def broke(self, words: str = "") -> None:
        """The service ended the reply because of an error; `words` is what it says."""
        self._broken = words

    def begin_call(self) -> int:
        """Begin a call of a tool; its index."""
        self._calls.append(_GrowingCall())
        return len(self._calls) - 1

    def call(
        self, index: int, *, id: str | None = None, name: str = "", arguments: str = ""
    ) -> None:
        """Add to a call: its id, its name or a piece of it, a piece of its arguments."""
        call = self._calls[index]
        call.id = id or call.id
        call.name += name
        call.arguments.append(arguments)
        named = call.name or None
        self._emit(Delta(kind="tool_call", text=arguments, index=index, id=call.id, name=named))

    def name_of(self, index: int) -> str:
        """The name of a call so far."""
        return self._calls[index].name

    def id_of(self, index: int) -> str | None:
        """The id of a call, if it is known by now."""
        return self._calls[index].id

    @property
    def calls(self) -> int:
        """The number of calls so far."""
        return len(self._calls)

    @property
    def characters(self) -> int:
        """The length of the text so far."""
        return sum(map(len, self._text))

    def error(self, document: Any, status: int | None = None) -> RequestFailed:
        """The failure of an error within the reply: its status is that of its codes and words."""
        body = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
        found = status or status_in(document)
        return failure_from(self.head._replace(status=found, body=body, embedded=True))

    @property
    def is_broken(self) -> bool:
        """Whether the service ended the reply because of an error."""
        return self._broken is not None or self.stop_reason in _BROKEN

    def finish(self) -> ChatReply:
        """The reply.

        Raises:
            RequestFailed: it was refused, is empty, or broke off.
        """
        if self._refused:
            words = "".join(self._refusal).strip()
            said = f": {words[:_SHOWN]}" if words else f" ({self.stop_reason})"
            raise RequestFailed(Refused(f"{self.place}: the model refused{said}"))
        if self.is_broken:
            said = f" ({self.stop_reason})" + (f": {self._broken}" if self._broken else "")
            what = f"the service reported an error while it answered{said[:_SHOWN]}"
            raise RequestFailed(Unavailable(f"{self.place}: {what}"), retryable=True)
        text = whole_characters("".join(self._text))
        if not text.strip() and not self._calls:
            raise RequestFailed(self._nothing())
        extra = {**self.extra, **extra_of(self.layout)}
        return ChatReply(
            text=text,
            reasoning=whole_characters("".join(self._reasoning)),
            tool_calls=self._tool_calls(),
            stop_reason=self.stop_reason,
            usage=self.usage,
            model=self.model,
            response_format=self.response_format,
            extra=extra if _is_json(extra) else {},
            service=self.service,
        )

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in their order, each with a unique id."""
        taken: set[str] = set()
        calls = []
        for number, call in enumerate(self._calls, start=self._first_call):
            name = whole_characters(call.id or f"call_{number}")
            while name in taken:
                name += "_"
            taken.add(name)
            said, arguments = whole_characters(call.name), whole_characters("".join(call.arguments))
            calls.append(ToolCall(id=name, name=said, arguments=arguments))
        return tuple(calls)

    def _nothing(self) -> EmptyReply | Truncated:
        if self.stop_reason == "length":
            return Truncated(
                f"{self.place}: the model used all its tokens before it answered",
                hint="raise max_tokens, or shorten the prompt",
            )
        thought = " except reasoning" if self._reasoning else ""
        return EmptyReply(f"{self.place}: the model returned nothing{thought} ({self.stop_reason})")

    def _emit(self, delta: Delta) -> None:
        if self._on_delta is not None:
            self._on_delta(delta)


class Reader:
    """A `ReplyReader` without what its protocol decides: `whole` and `event`."""

    def __init__(self, builder: ReplyBuilder) -> None:
        self.complete = False
        self.done = False
        self.builder = builder

    def finish(self) -> ChatReply:
        """The reply."""
        return self.builder.finish()


class _GrowingCall:
    def __init__(self) -> None:
        self.id: str | None = None
        self.name = ""
        self.arguments: list[str] = []


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def text_of(value: Any) -> str:
    """`value` if it is a text, else ""."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> dict[str, Any]:
    """`value` if it is a JSON object, else {}."""
    return value if isinstance(value, dict) else {}


class Counts(NamedTuple):
    """Where the counts of tokens are: names, of which the first with a count holds; one with a dot
    is within the object before it.

    Attributes:
        given: of the prompt, with the cached ones unless they are `apart`.
        said: of the answer. thought: of reasoning, if that is apart from it; both are paid as
            output. read, written: from and to a cache.
    """

    given: str
    said: str
    read: str
    written: str = ""
    thought: str = ""
    apart: bool = False


def usage_of(counts: Any, names: Counts) -> Usage:
    """The usage of one call; `input_tokens` are without the cached ones. Without a count of them
    nothing is known of a cache, and the whole prompt counts as input.
    """
    found = (_count(counts, each) for each in names[:5])
    given, said, read, written, thought = found
    cached = 0 if names.apart else (read or 0) + (written or 0)
    known = said is not None or thought is not None
    return Usage(
        turns=1,
        input_tokens=None if given is None else max(0, given - cached),
        output_tokens=(said or 0) + (thought or 0) if known else None,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _count(counts: Any, names: str) -> int | None:
    for name in names.split():
        within, _, last = name.rpartition(".")
        number = mapping(mapping(counts).get(within) if within else counts).get(last)
        if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= LARGEST:
            return number
    return None


def listed_names(document: Any) -> list[str] | None:
    """The names in `{data: [{id}]}`, `{models: [{name}]}` (ollama and others) or a bare list."""
    listed = document
    if isinstance(document, dict):
        listed = document.get("data", document.get("models"))
    if not isinstance(listed, list):
        return None
    names = [entry.get("id", entry.get("name")) for entry in objects(listed)]
    return [name for name in names if isinstance(name, str)]
