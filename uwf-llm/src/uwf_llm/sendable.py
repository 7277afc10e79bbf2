"""Make a request acceptable to strict services, whatever its names, ids and schemas are, and map
what comes back. The strictest published rules hold for all: names of tools and ids of calls are 1
to 64 letters, digits, _ and -; a name begins with a letter or _; the schema of a tool is an object
with properties and without a choice at its top. Pure; equal requests give equal ones.

A changed name ends with a digest of the original one, so that it is unique and stays equal from
request to request, also in a history in which no such tool exists any more.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, NamedTuple

from uwf_core.api.agent import ToolCall
from uwf_llm.arguments import ToolArgumentsError, parse_arguments
from uwf_llm.chat import ChatReply, ChatRequest, ChatTool, Message
from uwf_llm.reply import OnDelta

_LONGEST = 64
_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_CHOICES = ("anyOf", "oneOf", "allOf")
_NOT_AT_TOP = frozenset((*_CHOICES, "not", "if", "then", "else", "enum", "const", "$ref"))
_MANY = frozenset(("properties", "patternProperties", "$defs", "definitions"))
_ANY_VALUE = ("const", "default")
_LEVELS = 8


class Sendable(NamedTuple):
    """A request as it is sent.

    Attributes:
        names: the original names of the tools whose names were changed.
        keys: by the original name of a tool, the original names of its changed properties.
    """

    request: ChatRequest
    names: Mapping[str, str]
    keys: Mapping[str, Mapping[str, str]]

    def shown(self, on_delta: OnDelta | None) -> OnDelta | None:
        """`on_delta` with the original names."""
        if on_delta is None or not self.names:
            return on_delta
        return lambda delta: on_delta(
            replace(delta, name=self.names.get(delta.name or "", delta.name))
        )

    def received(self, reply: ChatReply) -> ChatReply:
        """The reply with the original names."""
        calls = tuple(self._received(call) for call in reply.tool_calls)
        return reply if calls == reply.tool_calls else replace(reply, tool_calls=calls)

    def _received(self, call: ToolCall) -> ToolCall:
        name = self.names.get(call.name, call.name)
        return _renamed_keys(replace(call, name=name), self.keys.get(name, {}))


def sendable(request: ChatRequest, *, plain_keys: bool = False) -> Sendable:
    """The request that strict services accept; parts that are fine are kept as they are.

    Args:
        request: the request.
        plain_keys: whether the names of a tool's properties must be plain as well (Anthropic).
    """
    names: dict[str, str] = {}
    keys: dict[str, Mapping[str, str]] = {}
    tools = []
    for tool in request.tools:
        name, schema = safe_name(tool.name), object_schema(tool.parameters)
        if name != tool.name:
            names[name] = tool.name
        if plain_keys and (renamed := _plain(schema["properties"])):
            keys[tool.name] = {plain: key for key, plain in renamed.items()}
            schema = _with_keys(schema, renamed)
        same = name == tool.name and schema == tool.parameters
        tools.append(tool if same else ChatTool(
            name=name, description=tool.description, parameters=schema
        ))  # fmt: skip
    messages = tuple(_message(each, keys) for each in request.messages)
    choice = request.tool_choice
    if choice is not None and any(choice == tool.name for tool in request.tools):
        choice = safe_name(choice)
    made = replace(request, messages=messages, tools=tuple(tools), tool_choice=choice)
    return Sendable(made, names, keys)


def safe_name(name: str) -> str:
    """A name for a tool that every service accepts: `name` itself, or one with its digest."""
    if _NAME.fullmatch(name):
        return name
    plain = _ODD.sub("_", name).lstrip("-")
    return _digested(plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}", name)


def safe_id(name: str) -> str:
    """An id of a call that every service accepts: `name` itself, or one with its digest."""
    return name if _ID.fullmatch(name) else _digested(_ODD.sub("_", name), name)


def object_schema(schema: Any) -> dict[str, Any]:
    """A schema of arguments as an object with properties and without a choice at its top. It admits
    what a choice of `schema` admits by its own properties; a property that one choice declares and
    another leaves open keeps the type of the first. What comes is validated with `schema`.
    """
    defined = _tidy(schema, 2 * _LEVELS) if isinstance(schema, Mapping) else {}
    is_object = defined.get("type") == "object" and isinstance(defined.get("properties"), Mapping)
    if is_object and _NOT_AT_TOP.isdisjoint(defined):
        return dict(defined)
    properties: dict[str, list[Any]] = {}
    for part in _parts(defined, defined, _LEVELS):
        own = part.get("properties")
        for name, each in own.items() if isinstance(own, Mapping) else ():
            known = properties.setdefault(name, [])
            known += [] if each in known else [each]
    made = {name: value for name, value in defined.items() if name not in _NOT_AT_TOP}
    of_all = {name: _one_of(each) for name, each in properties.items()}
    required = [name for name in _required(defined, defined, _LEVELS) if name in of_all]
    made |= {"type": "object", "properties": of_all}
    made.pop("required", None)
    return {**made, "required": required} if required else made


def _tidy(schema: Any, levels: int) -> Any:
    """A schema as strict services read it: no `null` for what is left out (servers in Go write it),
    a schema for the items of every list, and `{}` for `true`.
    """
    if schema is True:
        return {}
    if not isinstance(schema, Mapping) or not levels:
        return schema
    made = {name: each for name, each in schema.items() if each is not None or name in _ANY_VALUE}
    for name in _MANY & made.keys():
        if isinstance(made[name], Mapping):
            made[name] = {key: _tidy(each, levels - 1) for key, each in made[name].items()}
    for name in _CHOICES:
        if isinstance(made.get(name), list):
            made[name] = [_tidy(each, levels - 1) for each in made[name]]
    for name in ("items", "additionalProperties"):
        if isinstance(made.get(name), Mapping):
            made[name] = _tidy(made[name], levels - 1)
    if made.get("type") == "array" and "prefixItems" not in made:
        made.setdefault("items", {})
    return made


def _parts(schema: Any, root: Mapping[str, Any], levels: int) -> Iterator[Mapping[str, Any]]:
    """A schema and all schemas that its top combines."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    if levels:
        for each in (_target(schema, root), *(each for _, each in _chosen(schema))):
            yield from _parts(each, root, levels - 1)


def _required(schema: Any, root: Mapping[str, Any], levels: int) -> list[str]:
    """The properties that a schema requires whatever is chosen."""
    if not isinstance(schema, Mapping) or not levels:
        return []
    own = schema.get("required")
    found = [name for name in own if isinstance(name, str)] if isinstance(own, list) else []
    found += _required(_target(schema, root), root, levels - 1)
    by_word: dict[str, list[list[str]]] = {}
    for word, each in _chosen(schema):
        by_word.setdefault(word, []).append(_required(each, root, levels - 1))
    for word, lists in by_word.items():
        if word == "allOf":
            found += [name for names in lists for name in names]
        else:
            found += [name for name in lists[0] if all(name in names for names in lists)]
    return list(dict.fromkeys(found))


def _chosen(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for word in _CHOICES:
        choices = schema.get(word)
        if isinstance(choices, Sequence) and not isinstance(choices, str):
            yield from ((word, each) for each in choices)


def _target(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """What a `$ref` within the schema leads to; None without one."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found: Any = root
    for name in reference[1:].split("/")[1:]:
        found = found.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(
            found, Mapping
        ) else None  # fmt: skip
    return found


def _one_of(schemas: list[Any]) -> Any:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _plain(properties: Mapping[str, Any]) -> dict[str, str]:
    """The plain names of the properties whose names are not."""
    taken = {name for name in properties if _KEY.fullmatch(name)}
    renamed = {}
    for name in properties:
        if name not in taken:
            plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)
            if not plain or len(plain) > _LONGEST or plain in taken:
                plain = _digested(plain, name)
            taken.add(plain)
            renamed[name] = plain
    return renamed


def _with_keys(schema: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    changed = dict(schema)
    changed["properties"] = {
        renamed.get(name, name): each for name, each in schema["properties"].items()
    }
    if "required" in schema:
        changed["required"] = [renamed.get(name, name) for name in schema["required"]]
    return changed


def _renamed_keys(call: ToolCall, renamed: Mapping[str, str]) -> ToolCall:
    """A call with other names of its arguments; a name that is taken already is kept."""
    if not renamed:
        return call
    try:
        given = parse_arguments(call)
    except ToolArgumentsError:
        return call
    changed = {
        name if renamed.get(name, name) in given else renamed.get(name, name): value
        for name, value in given.items()
    }
    if changed.keys() == given.keys():
        return call
    return replace(call, arguments=json.dumps(changed, ensure_ascii=False))


def _message(message: Message, keys: Mapping[str, Mapping[str, str]]) -> Message:
    if message.tool_call_id is not None and not _ID.fullmatch(message.tool_call_id):
        message = replace(message, tool_call_id=safe_id(message.tool_call_id))
    calls = tuple(_call(call, keys) for call in message.tool_calls)
    return message if calls == message.tool_calls else replace(message, tool_calls=calls)


def _call(call: ToolCall, keys: Mapping[str, Mapping[str, str]]) -> ToolCall:
    if call.name in keys:
        call = _renamed_keys(call, {key: plain for plain, key in keys[call.name].items()})
    name, number = safe_name(call.name), safe_id(call.id)
    if (name, number) == (call.name, call.id):
        return call
    return replace(call, name=name, id=number)


def _digested(plain: str, name: str) -> str:
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain[: _LONGEST - 9]}_{digest}"
