"""What the program prints with `--output-format stream-json`, line by line. Pure.

Format, as versions 2.1.197 to 2.1.330 write it: one JSON object per line, distinguished by `type`
(and `subtype`); keys in any order; unknown types and keys differ between versions and are skipped.
`assistant` lines hold one block of a message each, `user` lines the results of tools, and the last
line is the `result`, which alone decides how the run ended.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from uwf_core.api import moment_ms

SYNTHETIC = "<synthetic>"
"""The model of messages that the program itself wrote: its errors."""


class Init(NamedTuple):
    """The first line: the session really used, the model, the tools offered, the version."""

    session: str
    model: str | None
    tools: tuple[str, ...]
    version: str | None


class ToolUse(NamedTuple):
    """A tool that the model wants to use; `arguments` is JSON."""

    id: str
    name: str
    arguments: str


class Tokens(NamedTuple):
    """Counts of one model or of a run; `cost_usd` is None if it was not reported."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost_usd: float | None = None

    @property
    def is_zero(self) -> bool:
        """Whether nothing was counted."""
        return not (self.input or self.output or self.cache_read or self.cache_write)


class Message(NamedTuple):
    """A block (or several) of a message of the model.

    Attributes:
        id: of the message; its blocks share it.
        error: the word for what went wrong, where the program wrote the message itself.
        is_inner: it is of an agent that the model started, not of its loop.
        tokens: of the request, and those of the answer as far as it had come.
    """

    id: str
    model: str | None
    text: str
    reasoning: str
    uses: tuple[ToolUse, ...]
    error: str | None
    is_inner: bool
    tokens: Tokens = Tokens()


class ToolResult(NamedTuple):
    """What a tool answered."""

    id: str
    text: str
    is_error: bool


class Results(NamedTuple):
    """A line of the user: results of tools, and what the program itself sent to the model."""

    results: tuple[ToolResult, ...]
    text: str


class Retry(NamedTuple):
    """A request failed and is tried again after `delay_ms`; `error` and `status` are the cause."""

    error: str | None
    status: int | None
    attempt: int
    attempts: int
    delay_ms: int


class Limited(NamedTuple):
    """The service refuses further requests until `until_ms` (since 1970), where that is known."""

    until_ms: int | None


class Result(NamedTuple):
    """The last line.

    Attributes:
        subtype: `success` also where `is_error`: only both together decide how it ended.
        status: of the last refused request, where one was refused.
        stop_reason: the model's (`end_turn`, `refusal`); terminal_reason: the program's
            (`completed`, `prompt_too_long`, `aborted_tools`); newer versions have more of them.
        structured: the object that satisfies `--json-schema`; None where there is none.
        tokens: of this run; all zero where the answer was fetched without streaming.
        models: by model; in newer versions of the whole session, as `cost_usd` is.
        denials: the tools that were denied.
    """

    subtype: str
    is_error: bool
    status: int | None
    session: str
    text: str
    turns: int | None
    stop_reason: str | None
    terminal_reason: str | None
    structured: Mapping[str, Any] | None
    tokens: Tokens
    models: Mapping[str, Tokens]
    cost_usd: float | None
    denials: tuple[str, ...]
    errors: tuple[str, ...]

    @property
    def is_success(self) -> bool:
        """The only thing that is success."""
        return not self.is_error and self.subtype == "success"

    @property
    def is_reply(self) -> bool:
        """Whether it has the model's words, and not those of a hook that blocked the prompt."""
        return self.structured is not None or bool(self.turns != 0 and self.text.strip())

    @property
    def counts_something(self) -> bool:
        """Whether it reports any use of a model."""
        return not all(each.is_zero for each in (self.tokens, *self.models.values()))


class Blocked(NamedTuple):
    """A hook of the user's settings blocked the prompt (its words), or the end of a turn (None)."""

    text: str | None


Line = Init | Message | Results | Retry | Limited | Blocked | Result


def read_line(data: bytes) -> Line | None:
    """What a line says; None for lines that say nothing that is needed here, and for noise."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    match found.get("type"):
        case "system":
            return _system(found)
        case "assistant":
            return _message(found)
        case "user":
            return _results(found)
        case "rate_limit_event":
            return _limited(_mapping(found, "rate_limit_info"))
        case "result":
            return _result(found)
        case _:
            return None


def model_tokens(found: Mapping[str, Any]) -> dict[str, Tokens]:
    """The counts of `modelUsage`, by model."""
    return {
        name: Tokens(
            _count(each, "inputTokens"),
            _count(each, "outputTokens"),
            _count(each, "cacheReadInputTokens"),
            _count(each, "cacheCreationInputTokens"),
            _number(each, "costUSD"),
        )
        for name, each in found.items()
        if isinstance(each, dict)
    }


def _system(found: Mapping[str, Any]) -> Line | None:
    if found.get("subtype") == "init":
        tools = tuple(name for name in _list(found, "tools") if isinstance(name, str))
        version = _text(found, "claude_code_version")
        return Init(_text(found, "session_id") or "", _text(found, "model"), tools, version)
    if found.get("subtype") == "informational" and found.get("prevent_continuation") is True:
        return Blocked(_text(found, "content") or "")
    if found.get("subtype") == "notification" and found.get("key") == "stop-hook-error":
        return Blocked(None)
    if found.get("subtype") == "api_retry":
        return Retry(
            _text(found, "error"),
            _whole(found, "error_status"),
            _count(found, "attempt"),
            _count(found, "max_retries"),
            _count(found, "retry_delay_ms"),
        )
    return None


def _limited(info: Mapping[str, Any]) -> Limited | None:
    if info.get("status") != "rejected":
        return None
    return Limited(moment_ms(info.get("resetsAt")))


def _message(found: Mapping[str, Any]) -> Message:
    message = _mapping(found, "message")
    text, reasoning, uses = list[str](), list[str](), list[ToolUse]()
    for block in _list(message, "content"):
        if not isinstance(block, dict):
            continue
        match block.get("type"):
            case "text":
                text.append(_text(block, "text") or "")
            case "thinking":
                reasoning.append(_text(block, "thinking") or "")
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                arguments = json.dumps(block.get("input"), ensure_ascii=False)
                uses.append(
                    ToolUse(_text(block, "id") or "", _text(block, "name") or "", arguments)
                )
    return Message(
        id=_text(message, "id") or "",
        model=_text(message, "model"),
        text="\n\n".join(filter(None, text)),
        reasoning="\n\n".join(filter(None, reasoning)),
        uses=tuple(uses),
        error=_text(found, "error"),
        is_inner=found.get("parent_tool_use_id") is not None,
        tokens=_tokens(_mapping(message, "usage")),
    )


def _results(found: Mapping[str, Any]) -> Results:
    content = _mapping(found, "message").get("content")
    if isinstance(content, str):
        return Results((), content)
    results, text = list[ToolResult](), list[str]()
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool_result":
            said = _said(block.get("content"))
            is_error = block.get("is_error") is True
            results.append(ToolResult(_text(block, "tool_use_id") or "", said, is_error))
        elif block.get("type") == "text":
            text.append(_text(block, "text") or "")
    return Results(tuple(results), "\n\n".join(filter(None, text)))


def _said(content: Any) -> str:
    """The content of a tool's result as text: pictures and their like are named."""
    if isinstance(content, str):
        return content
    parts = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            text = _text(block, "text")
            parts.append(f"[{block.get('type')}]" if text is None else text)
    return "\n\n".join(parts)


def _result(found: Mapping[str, Any]) -> Result:
    used = _mapping(found, "usage")
    structured = found.get("structured_output")
    return Result(
        subtype=_text(found, "subtype") or "",
        is_error=found.get("is_error") is not False,
        status=_whole(found, "api_error_status"),
        session=_text(found, "session_id") or "",
        text=_text(found, "result") or "",
        turns=_whole(found, "num_turns"),
        stop_reason=_text(found, "stop_reason"),
        terminal_reason=_text(found, "terminal_reason"),
        structured=structured if isinstance(structured, dict) else None,
        tokens=_tokens(used),
        models=model_tokens(_mapping(found, "modelUsage")),
        cost_usd=_number(found, "total_cost_usd"),
        denials=tuple(_denial(each) for each in _list(found, "permission_denials")),
        errors=tuple(each for each in _list(found, "errors") if isinstance(each, str)),
    )


def _tokens(used: Mapping[str, Any]) -> Tokens:
    return Tokens(
        _count(used, "input_tokens"),
        _count(used, "output_tokens"),
        _count(used, "cache_read_input_tokens"),
        _count(used, "cache_creation_input_tokens"),
    )


def _denial(found: Any) -> str:
    if not isinstance(found, dict):
        return str(found)
    arguments = json.dumps(found.get("tool_input"), ensure_ascii=False)
    return f"{_text(found, 'tool_name') or 'a tool'} {arguments}"


def _mapping(found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = found.get(key)
    return value if isinstance(value, dict) else {}


def _list(found: Mapping[str, Any], key: str) -> list[Any]:
    value = found.get(key)
    return value if isinstance(value, list) else []


def _text(found: Mapping[str, Any], key: str) -> str | None:
    value = found.get(key)
    return value if isinstance(value, str) else None


def _number(found: Mapping[str, Any], key: str) -> float | None:
    value = found.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value) if value >= 0 else None
    except OverflowError:
        return None


def _whole(found: Mapping[str, Any], key: str) -> int | None:
    value = _number(found, key)
    return None if value is None or value > 2**53 else int(value)


def _count(found: Mapping[str, Any], key: str) -> int:
    return _whole(found, key) or 0
