"""The script of the scripted model server: its answers, turn by turn.

    sideText: A title                   # requests without tools take no turn and get this text
    repeat: false                       # true: the list starts over at its end
    models: [scripted-model]            # what GET /v1/models lists
    apiKey: sk-test                     # any other key, or none, is answered with 401
    strict: true                        # false: accept what strict services reject
    turns:
      - I am done.                      # a text alone
      - text: Let me look.
        reasoning: The file comes first.
        toolCalls:
          - {name: read_file, arguments: {path: a.py}}      # a text is sent as it is
        usage: {inputTokens: 20, outputTokens: 5, cacheReadTokens: 80}
      - error: {status: 429, message: Slow down, retryAfter: "2"}
      - {text: Half of it, drop: middle}
      - raw: {contentType: text/html, body: <h1>Bad gateway</h1>, status: 502}

Every turn is answered in the form of the request (chat completions, responses, messages,
generateContent), streamed or whole. `ModelTurn` has all keys; in YAML and in mappings they are in
camelCase.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from uwf_core.errors import DefinitionError
from uwf_core.fields.mismatch import FieldFault
from uwf_core.fields.records import read_record
from uwf_core.yaml.source import parse_yaml

if TYPE_CHECKING:
    from uwf_testing.model_server_record import ModelRequest

Place = Literal["start", "headers", "middle"]


@dataclass(frozen=True, kw_only=True)
class ModelToolCall:
    """A call of a tool that the model makes. `arguments` as a text is sent as it is, so that it
    can be no JSON at all; without an `id` it is `call_<turn>_<index>`. `extra` are further fields
    in OpenAI's form, such as Gemini's `extra_content`.
    """

    name: str
    arguments: str | dict[str, Any] = field(default_factory=dict)
    id: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """The arguments as text."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class ModelUsage:
    """Tokens; `input_tokens` are without the cached ones, as in `uwf_core.api.Usage`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class ModelError:
    """An error in the provider's form; `type` and `code` as the provider would choose for
    `status` where they are None. `retry_after` is sent as it is: seconds or a date.
    """

    status: int
    message: str = "a scripted error"
    type: str | None = None
    code: str | None = None
    retry_after: str | None = None


@dataclass(frozen=True, kw_only=True)
class RawAnswer:
    """A whole answer, byte for byte: `body`, `repeat` times. Invalid UTF-8 is written as lone
    surrogates, as in `surrogateescape`.
    """

    body: str = ""
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    repeat: int = 1


@dataclass(frozen=True, kw_only=True)
class ModelTurn:
    """One answer.

    Attributes:
        text, reasoning, tool_calls: the parts of the answer.
        extra: further fields of the message in OpenAI's form, such as `reasoning_details`.
        refusal: sent instead of an answer (OpenAI: `refusal`; Anthropic: a text).
        stop_reason: the provider's word as it is sent; None is what fits (`stop`, `tool_calls`,
            `end_turn`, `tool_use`, …).
        usage: None counts a token for four bytes; `no_usage` sends none.
        error, raw: instead of an answer.
        delay_ms: silence before the first byte.
        piece_bytes, piece_delay_ms: how many bytes are sent at once, and the silence between.
        drop: the connection is closed: at once ("start"), after the headers, in the middle of
            the body; "reset" as middle, by RST; "quiet" ends the body politely, half of it sent.
        hang: silence from there on, until the client or the server is closed.
        text_chars: the text is repeated up to this length.
        repeat: how often the turn is given before the next.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ModelToolCall, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
    refusal: str = ""
    stop_reason: str | None = None
    usage: ModelUsage | None = None
    no_usage: bool = False
    error: ModelError | None = None
    raw: RawAnswer | None = None
    delay_ms: int = 0
    piece_bytes: int | None = None
    piece_delay_ms: int = 0
    drop: Literal["start", "headers", "middle", "reset", "quiet"] | None = None
    hang: Place | None = None
    text_chars: int | None = None
    repeat: int = 1

    def whole_text(self) -> str:
        """The text, repeated up to `text_chars`."""
        if self.text_chars is None:
            return self.text
        unit = self.text or "x"
        return (unit * (self.text_chars // len(unit) + 1))[: self.text_chars]


Answerer = Callable[["ModelRequest"], ModelTurn]
"""A turn that depends on the request."""


@dataclass(frozen=True, kw_only=True)
class ModelScript:
    """A whole script. A turn is a text, a `ModelTurn`, its mapping, or an `Answerer`; with
    `side_text` None every request takes a turn, with tools or without. `strict` rejects requests
    that violate a published rule of their protocol.
    """

    turns: tuple[Any, ...] = ()
    side_text: str | None = None
    repeat: bool = False
    models: tuple[str, ...] = ("scripted-model",)
    api_key: str | None = None
    strict: bool = True

    def plan(self) -> list[ModelTurn | Answerer]:
        """The turns, one for each answer.

        Raises:
            DefinitionError: one is wrong; `where` is its place.
        """
        plan: list[ModelTurn | Answerer] = []
        for index, item in enumerate(self.turns):
            turn = _turn(item, index)
            plan += [turn] * (turn.repeat if isinstance(turn, ModelTurn) else 1)
        return plan


def read_model_script(file: str) -> ModelScript:
    """The script in `file` (YAML 1.2; JSON is a part of it).

    Raises:
        DefinitionError: it cannot be read, or something in it is wrong.
    """
    try:
        text = Path(file).read_text(encoding="utf-8")
        script = read_record(ModelScript, parse_yaml(text, file=file))
    except (OSError, UnicodeDecodeError) as fault:
        raise DefinitionError(f"the script cannot be read: {fault}", where=file) from fault
    except FieldFault as fault:
        raise _faulty(fault, file) from fault
    script.plan()
    return script


def _turn(item: Any, index: int) -> ModelTurn | Answerer:
    if isinstance(item, str):
        return ModelTurn(text=item)
    if isinstance(item, ModelTurn):
        return item
    if callable(item):
        answerer: Answerer = item
        return answerer
    try:
        return read_record(ModelTurn, item, path=("turns", index))
    except FieldFault as fault:
        raise _faulty(fault, "the model's script") from fault


def _faulty(fault: FieldFault, where: str) -> DefinitionError:
    return DefinitionError(
        f"{fault.place()} {fault.message}".strip(),
        where=where,
        hint=fault.hint or "uwf_testing.model_server_script has the format",
    )
