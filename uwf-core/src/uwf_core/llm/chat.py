"""What is asked of a model and what it answers, in no provider's form.

All records are frozen and keyword-only. A call of a tool is the `ToolCall` of `uwf_core.api`:
its arguments are text as it came, never parsed here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from uwf_core.api.agent import ToolCall, Usage

Role = Literal["system", "user", "assistant", "tool"]
ResponseFormat = Literal["json_schema", "json_object"]


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of a conversation.

    Attributes:
        text: what is said; the result, if the role is `tool`.
        reasoning: what an assistant thought; sent back only to services that want it.
        tool_calls: what an assistant wants done; each needs a `tool` message that answers it.
        tool_call_id: the call that a `tool` message answers.
    """

    role: Role
    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class ChatTool:
    """A tool that the model may call; `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One call of a model.

    The messages are sent as they are and in their order, the tools sorted by name: the same
    beginning is the same bytes, so that a provider's cache knows it.

    Attributes:
        tool_choice: `auto`, `none`, `required` or a tool's name; None leaves it to the service.
        schema: the JSON Schema that the text of the answer is to satisfy. It is asked for in the
            service's own way, where it has one; whoever asks validates, and says in a message
            what form is wanted (with the word JSON, without which some services refuse).
        schema_strict: ask the service to enforce it; OpenAI takes a part of JSON Schema only.
        max_tokens: of the answer.
        extra: further keys of the body, as this service has them; they win, save over the model and
            the messages.
    """

    messages: tuple[Message, ...]
    tools: tuple[ChatTool, ...] = ()
    tool_choice: str | None = None
    parallel_tool_calls: bool | None = None
    schema: Mapping[str, Any] | None = None
    schema_strict: bool = False
    max_tokens: int | None = None
    temperature: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ChatReply:
    """What the model answered: a text, calls of tools, or both.

    Attributes:
        stop_reason: the service's word: `stop`, `tool_calls`, `length` (cut by `max_tokens`, so
            that the text or the last call's arguments may be incomplete), …
        usage: of this call alone, `turns` 1; what the service does not say is None.
        model: the name that the service gives.
        response_format: how `schema` was asked for; None: not in the service's own way.
        attempts: how many requests it took.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    response_format: ResponseFormat | None = None
    attempts: int = 1

    @property
    def message(self) -> Message:
        """The reply as the message to go on with."""
        return Message(
            role="assistant", text=self.text, reasoning=self.reasoning, tool_calls=self.tool_calls
        )


@dataclass(frozen=True, kw_only=True)
class Delta:
    """A piece of a reply as it comes.

    Attributes:
        kind: what grew: the text, the reasoning, the call of a tool. `again`: what came so far is
            void, the request is made once more; `text` says why.
        text: the piece; of a call, of its arguments.
        index, id, name: which call it is (`id` and `name` as far as they are known).
    """

    kind: Literal["text", "reasoning", "tool_call", "again"]
    text: str = ""
    index: int | None = None
    id: str | None = None
    name: str | None = None
