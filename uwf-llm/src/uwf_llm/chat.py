"""Requests to a model and its replies, independent of a provider.

All records are frozen and keyword-only. A call of a tool is the `ToolCall` of `uwf_core.api`:
its arguments are the text that the model wrote, never parsed here.
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from uwf_core.api.agent import ToolCall, Usage

Role = Literal["system", "user", "assistant", "tool"]
ResponseFormat = Literal["json_schema", "json_object"]


@dataclass(frozen=True, kw_only=True)
class Image:
    """An image; `media_type` such as `image/png`."""

    media_type: str
    data: bytes = field(repr=False)

    def base64(self) -> str:
        """The data as text."""
        return b64encode(self.data).decode("ascii")

    def url(self) -> str:
        """The data as a `data:` address."""
        return f"data:{self.media_type};base64,{self.base64()}"


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of a conversation.

    Attributes:
        text: the text; the result, if the role is `tool`.
        reasoning: an assistant's reasoning, as text.
        extra: what else the service sent in an assistant's message, in its own form (reasoning,
            thought signatures: see `echo`); only `service`, which sent it, gets it back.
        tool_calls: an assistant's calls; each needs a `tool` message that answers it.
        tool_call_id: the call that a `tool` message answers.
        images: of a `user` or `tool` message, after its text.
    """

    role: Role
    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    images: tuple[Image, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    service: str = ""


@dataclass(frozen=True, kw_only=True)
class ChatTool:
    """A tool that the model may call; `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One call of a model.

    The messages are sent unchanged and in their order, the tools sorted by name: the same
    beginning gives the same bytes, so a provider can cache it.

    Attributes:
        tool_choice: `auto`, `none`, `required` or a tool's name; None leaves it to the service.
        schema: the JSON Schema for the text of the answer. It is sent in the service's own format,
            where it has one; the caller validates, and describes the format in a message
            (with the word JSON, without which some services reject the request).
        schema_strict: ask the service to enforce it; OpenAI supports a part of JSON Schema only.
        max_tokens: the limit of the answer.
    """

    messages: tuple[Message, ...]
    tools: tuple[ChatTool, ...] = ()
    tool_choice: str | None = None
    parallel_tool_calls: bool | None = None
    schema: Mapping[str, Any] | None = None
    schema_strict: bool = False
    max_tokens: int | None = None
    temperature: float | None = None

    @property
    def system(self) -> str:
        """The text of the system, for services that have it apart."""
        return "\n\n".join(each.text for each in self.messages if each.role == "system")


@dataclass(frozen=True, kw_only=True)
class ChatReply:
    """A model's reply: a text, calls of tools, or both.

    Attributes:
        stop_reason: `stop`, `tool_calls`, `length` (cut by `max_tokens`, so the text or the last
            call's arguments may be incomplete), or the service's own word.
        usage: of this call only, `turns` 1; None where the service does not report it.
        model: the name that the service reports.
        extra, service: as in `Message`.
        response_format: how `schema` was sent; None: not in the service's own format.
        attempts: the number of requests.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    response_format: ResponseFormat | None = None
    attempts: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)
    service: str = ""

    @property
    def message(self) -> Message:
        """The reply as a message of the conversation."""
        return Message(
            role="assistant",
            text=self.text,
            reasoning=self.reasoning,
            tool_calls=self.tool_calls,
            extra=self.extra,
            service=self.service,
        )


@dataclass(frozen=True, kw_only=True)
class Delta:
    """A piece of a streamed reply.

    Attributes:
        kind: the text, the reasoning or a tool call. `again`: the pieces so far are void because
            the request is retried; `text` is the reason.
        text: the piece; of a call, of its arguments.
        index, id, name: the call (`id` and `name` if known by now).
    """

    kind: Literal["text", "reasoning", "tool_call", "again"]
    text: str = ""
    index: int | None = None
    id: str | None = None
    name: str | None = None
