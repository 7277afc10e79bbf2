"""The published rules of the four protocols for a request, as the strictest services apply them:
the scripted model server answers a request that violates one with 400, as they do.

Sources: the API references of OpenAI (chat completions, responses, function calling), Anthropic
(messages, tool use) and Google (generateContent, FunctionDeclaration), and the texts of the errors
that these services return.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from uwf_testing.model_server_record import Dialect, ModelRequest

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_GEMINI_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_HALF = re.compile("[\ud800-\udfff]")
_NOT_AT_TOP = ("anyOf", "oneOf", "allOf", "enum", "not", "const")


def refusal(request: ModelRequest, dialect: Dialect) -> str | None:
    """The first rule that a request violates, in words; None if it violates none."""
    body = request.body if isinstance(request.body, dict) else {}
    return next(_RULES[dialect](body), None) or next(_halves(body, "body"), None)


def _halves(value: Any, place: str) -> Iterator[str]:
    """Halves of surrogate pairs: strict readers of JSON reject their escapes."""
    if isinstance(value, str):
        if _HALF.search(value):
            yield f"{place} holds half of a surrogate pair"
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _halves(name, place)
            yield from _halves(each, f"{place}.{name}")
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _halves(each, f"{place}[{at}]")


def _openai(body: Mapping[str, Any]) -> Iterator[str]:
    for at, tool in enumerate(_objects(body.get("tools"))):
        if tool.get("type") == "function":
            yield from _function(_mapping(tool.get("function")), f"tools[{at}].function")
    pairs = _Pairs()
    for at, message in enumerate(_objects(body.get("messages"))):
        place = f"messages[{at}]"
        if message.get("role") == "tool":
            yield from pairs.answered(message.get("tool_call_id"), place)
            continue
        yield from pairs.closed(place)
        for call in _objects(message.get("tool_calls")):
            function = _mapping(call.get("function"))
            yield from _named(_NAME, function.get("name"), f"{place}.tool_calls.function.name")
            yield from _arguments(function.get("arguments"), place)
            yield from pairs.called(call.get("id"), place)
    yield from pairs.closed("the end of messages")


def _responses(body: Mapping[str, Any]) -> Iterator[str]:
    for at, tool in enumerate(_objects(body.get("tools"))):
        if tool.get("type") == "function":
            yield from _function(tool, f"tools[{at}]")
    pairs = _Pairs()
    for at, item in enumerate(_objects(body.get("input"))):
        place = f"input[{at}]"
        if item.get("type") == "function_call":
            yield from _named(_NAME, item.get("name"), f"{place}.name")
            yield from _arguments(item.get("arguments"), place)
            yield from pairs.called(item.get("call_id"), place)
        elif item.get("type") == "function_call_output":
            yield from pairs.answered(item.get("call_id"), place)
    yield from pairs.closed("the end of input")


def _anthropic(body: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(body.get("max_tokens"), int):
        yield "max_tokens: Field required"
    for at, tool in enumerate(_objects(body.get("tools"))):
        if "input_schema" in tool:
            yield from _custom(tool, f"tools.{at}.custom")
    pairs = _Pairs()
    for at, message in enumerate(_objects(body.get("messages"))):
        place, blocks = f"messages.{at}", _objects(message.get("content"))
        if message.get("content") in ("", []):
            yield f"{place}: all messages must have non-empty content"
        for block in blocks:
            if block.get("type") == "tool_result":
                yield from pairs.answered(block.get("tool_use_id"), place)
        yield from pairs.closed(place)
        for block in blocks:
            yield from _block(block, pairs, place)
    yield from pairs.closed("the end of messages")


def _custom(tool: Mapping[str, Any], place: str) -> Iterator[str]:
    yield from _named(_NAME, tool.get("name"), f"{place}.name")
    schema = _mapping(tool["input_schema"])
    yield from _top(schema, f"{place}.input_schema", needs_properties=False)
    for key in _mapping(schema.get("properties")):
        yield from _named(_KEY, key, f"{place}.input_schema.properties: property keys")


def _block(block: Mapping[str, Any], pairs: "_Pairs", place: str) -> Iterator[str]:
    if block.get("type") == "text" and not str(block.get("text")).strip():
        yield f"{place}: text content blocks must contain non-whitespace text"
    if block.get("type") == "tool_use":
        yield from _named(_NAME, block.get("name"), f"{place}.content.tool_use.name")
        yield from pairs.called(block.get("id"), place)
        if not isinstance(block.get("input"), dict):
            yield f"{place}.content.tool_use.input: Input should be a valid dictionary"


def _gemini(body: Mapping[str, Any]) -> Iterator[str]:
    for tool in _objects(body.get("tools")):
        for declared in _objects(tool.get("functionDeclarations")):
            yield from _named(_GEMINI_NAME, declared.get("name"), "function_declarations.name")
            if "parametersJsonSchema" in declared:
                schema = _mapping(declared["parametersJsonSchema"])
                yield from _top(schema, "parameters_json_schema", needs_properties=False)
    called = 0
    for at, content in enumerate(_objects(body.get("contents"))):
        parts, place = _objects(content.get("parts")), f"contents[{at}]"
        if not parts:
            yield f"{place}.parts must not be empty"
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if len(answers) != called:
            yield f"{place}: the number of function responses is not that of the function calls"
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        for each in (*answers, *calls):
            yield from _named(_GEMINI_NAME, _mapping(each).get("name"), f"{place}: function name")
        called = len(calls)


_RULES = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
}


class _Pairs:
    """Each call has one result, which follows it at once."""

    def __init__(self) -> None:
        self._open: set[str] = set()

    def called(self, number: Any, place: str) -> Iterator[str]:
        yield from _named(_NAME, number, f"{place}: the id of a call")
        if number in self._open:
            yield f"{place}: the id {number!r} is that of another call"
        self._open.add(str(number))

    def answered(self, number: Any, place: str) -> Iterator[str]:
        if number not in self._open:
            yield f"{place}: a result without its call: {number!r}"
        self._open.discard(str(number))

    def closed(self, place: str) -> Iterator[str]:
        if self._open:
            yield f"{place}: calls without a result before it: {sorted(self._open)}"
        self._open.clear()


def _function(function: Mapping[str, Any], place: str) -> Iterator[str]:
    yield from _named(_NAME, function.get("name"), f"{place}.name")
    if "parameters" in function:
        schema = _mapping(function["parameters"])
        yield from _top(schema, f"{place}.parameters", needs_properties=True)


def _top(schema: Mapping[str, Any], place: str, *, needs_properties: bool) -> Iterator[str]:
    if schema.get("type") != "object":
        yield f"{place}: schema must be a JSON Schema of 'type: \"object\"'"
    if needs_properties and not isinstance(schema.get("properties"), dict):
        yield f"{place}: object schema missing properties"
    for word in _NOT_AT_TOP:
        if word in schema:
            yield f"{place}: schema must not have {word!r} at the top level"


def _arguments(arguments: Any, place: str) -> Iterator[str]:
    """Services with templates parse the arguments of the history."""
    try:
        given = json.loads(arguments)
    except (TypeError, ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        yield f"{place}: the arguments of a call are not a JSON object"
    yield from _halves(given, f"{place}: the arguments of a call")


def _named(pattern: re.Pattern[str], name: Any, place: str) -> Iterator[str]:
    if not isinstance(name, str) or pattern.fullmatch(name) is None:
        yield f"{place} should match pattern '^{pattern.pattern}$': {name!r:.80}"


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
