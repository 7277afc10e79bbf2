"""Whatever names, ids, texts and schemas a conversation holds, what goes out obeys the published
rules of each protocol, and comes back under the original names.
"""

import json
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from model_wires import ASKED, WIRES, model_at
from uwf_core.api.agent import ToolCall
from uwf_core.api.models import Model
from uwf_llm.characters import whole_characters
from uwf_llm.chat import ChatReply, ChatRequest, ChatTool, Message
from uwf_llm.client import ChatClient
from uwf_llm.plugin import protocol_of
from uwf_llm.sendable import object_schema, safe_id, safe_name, sendable
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_record import ModelRequest, parsed
from uwf_testing.model_server_strict import refusal

DIALECTS = {
    "openai-chat": "openai",
    "openai-responses": "responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
}
HALVES = st.sampled_from("\ud99c\udc00\ud83d\ude00")
UNICODE = st.text(st.one_of(st.characters(exclude_categories=()), HALVES), max_size=90)
"""All of Unicode, lone surrogates too."""
NAMES = st.one_of(UNICODE, st.sampled_from(["$list files", "write_file<|channel|>json", "", "-a"]))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), UNICODE),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(UNICODE, inner, max_size=2),
    max_leaves=5,
)
ARGUMENTS = st.one_of(
    UNICODE,
    st.dictionaries(UNICODE, VALUES, max_size=3).map(json.dumps),  # halves as escapes
    st.dictionaries(UNICODE, VALUES, max_size=3).map(lambda v: json.dumps(v, ensure_ascii=False)),
)
CHOICES = {"anyOf", "oneOf", "allOf"}
SCHEMAS = st.recursive(
    st.sampled_from(
        [True, {}, {"type": "string"}, {"type": "object"}, {"const": 1}, {"enum": ["a"]},
         {"$ref": "#/$defs/d"}, {"$ref": "#"}, {"$ref": "http://x/y"}, {"required": ["a"]}]
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(UNICODE, inner, max_size=3)},
            optional={"required": st.lists(UNICODE, max_size=2),
                      "additionalProperties": st.booleans()},
        ),
        *(st.fixed_dictionaries({word: st.lists(inner, min_size=1, max_size=3)})
          for word in ("anyOf", "oneOf", "allOf")),
    ),
    max_leaves=5,
)  # fmt: skip


def request_of(protocol, request):
    """What goes out, as the strict server gets it."""
    model = Model(alias="m", name="m", provider="p", base_url="http://h/v1", protocol=protocol)
    made = protocol_of(model)(model, "s")
    wire = sendable(request, plain_keys=getattr(made, "plain_keys", False))
    path, body = made.request(wire.request, stream=True)
    return ModelRequest(method="POST", path=path, headers={}, raw=body, body=parsed(body))


def accepted(protocol, request):
    sent = request_of(protocol, request)
    sent.raw.decode("utf-8")
    assert refusal(sent, DIALECTS[protocol]) is None
    return sent.body


@pytest.fixture(params=list(WIRES))
def protocol(request):
    return request.param


@given(
    calls=st.lists(st.tuples(NAMES, UNICODE, ARGUMENTS), min_size=1, max_size=4),
    tools=st.lists(st.tuples(NAMES, SCHEMAS), max_size=3, unique_by=lambda each: each[0]),
    text=UNICODE,
)
@settings(max_examples=150, deadline=None)
def test_any_conversation_is_acceptable_to_strict_services(calls, tools, text):
    made, seen = [], set()
    for name, number, arguments in calls:
        if number not in seen:
            seen.add(number)
            made.append(ToolCall(id=number, name=name, arguments=arguments))
    messages = (
        Message(role="system", text=text),
        Message(role="user", text=text),
        Message(role="assistant", text=text, reasoning=text, tool_calls=tuple(made)),
        *(Message(role="tool", text=text, tool_call_id=each.id) for each in made),
        Message(role="user", text="x" + text),
    )
    offered = tuple(ChatTool(name=n, description=text, parameters=s) for n, s in tools)
    for protocol in WIRES:
        accepted(protocol, ChatRequest(messages=messages, tools=offered))


@pytest.mark.parametrize(
    "arguments", ['{"a": "\\ud99c"}', '{"\\udc00": 1}', '{"a": "\ud99c"}', "\ud99c", '"\\udc00"']
)
def test_half_a_character_in_arguments_is_replaced_in_itself_and_in_its_escapes(
    protocol, arguments
):
    call = ToolCall(id="c", name="n", arguments=arguments)
    said = (
        Message(role="user", text="x"),
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", text="", tool_call_id="c"),
    )
    accepted(protocol, ChatRequest(messages=said))


@given(st.lists(NAMES, max_size=8, unique=True))
@settings(max_examples=150, deadline=None)
def test_names_are_unique_and_come_back(names):
    tools = tuple(ChatTool(name=n, description="", parameters={}) for n in names)
    wire = sendable(ChatRequest(messages=(), tools=tools))
    sent = [tool.name for tool in wire.request.tools]
    assert len(set(sent)) == len(names)
    calls = tuple(ToolCall(id="c", name=name, arguments="{}") for name in sent)
    back = wire.received(ChatReply(tool_calls=calls))
    assert [call.name for call in back.tool_calls] == names


@given(UNICODE)
def test_a_safe_name_is_kept_and_a_changed_one_is_stable(name):
    for safe in (safe_name, safe_id):
        assert safe(safe(name)) == safe(name) == safe(name)
        assert len(safe(name)) <= 64


def closed(schema):
    """A schema that admits no property which the choice that admits an object does not declare."""
    if not isinstance(schema, dict):
        return {"additionalProperties": False} if schema is True else schema
    chosen = {word: [*map(closed, schema[word])] for word in schema.keys() & CHOICES}
    is_whole = chosen or "$ref" in schema
    return {**schema, **chosen} if is_whole else {"additionalProperties": False, **schema}


@given(SCHEMAS, VALUES)
@example({"anyOf": [True, {"type": "object", "properties": {"a": {"type": "string"}}}]}, {"a": 1})
@settings(max_examples=300, deadline=None)
def test_an_object_schema_admits_what_a_choice_with_its_own_properties_admits(schema, value):
    made = object_schema(schema)
    assert made["type"] == "object"
    assert isinstance(made["properties"], dict)
    assert not {*CHOICES, "$ref"} & made.keys()
    try:
        narrow = Draft202012Validator(closed(schema))
    except Exception:  # a reference that leads nowhere
        return
    if isinstance(value, dict) and narrow.is_valid(value):
        assert Draft202012Validator(made).is_valid(value)


def test_required_is_what_every_choice_requires():
    one = {"properties": {"a": {"const": 1}, "b": {}}, "required": ["a", "b"]}
    two = {"properties": {"a": {"const": 2}}, "required": ["a"]}
    made = object_schema({"oneOf": [one, two]})
    assert made["required"] == ["a"]
    assert made["properties"] == {"a": {"anyOf": [{"const": 1}, {"const": 2}]}, "b": {}}


def test_a_property_of_an_odd_name_reaches_its_tool_under_it():
    schema = {
        "type": "object",
        "properties": {"$status": {"type": "string"}, "filter[id]": {}, "_status": {}},
        "required": ["$status"],
    }
    tool = ChatTool(name="resolve", description="", parameters=schema)
    wire = sendable(replace(ASKED, tools=(tool,)), plain_keys=True)
    [sent] = wire.request.tools
    changed, *_ = sent.parameters["required"]
    assert sorted(sent.parameters["properties"]) == sorted([changed, "filter_id_", "_status"])
    given_ = json.dumps({changed: "done", "filter_id_": 1, "_status": 2})
    call = ToolCall(id="c", name="resolve", arguments=given_)
    [back] = wire.received(ChatReply(tool_calls=(call,))).tool_calls
    assert json.loads(back.arguments) == {"$status": "done", "filter[id]": 1, "_status": 2}
    said = Message(role="assistant", tool_calls=(back,))
    again = sendable(replace(ASKED, messages=(said,), tools=(tool,)), plain_keys=True)
    assert json.loads(again.request.messages[0].tool_calls[0].arguments) == json.loads(given_)


@pytest.mark.parametrize("stream", [True, False])
def test_a_tool_of_an_odd_name_is_called_by_its_name(protocol, stream):
    tool = ChatTool(name="files.read ünit", description="", parameters={"oneOf": []})

    def calls(request):
        [name] = request.tool_names
        from uwf_testing.model_server_script import ModelToolCall, ModelTurn

        return ModelTurn(tool_calls=(ModelToolCall(name=name, arguments={"a": 1}),))

    names = []
    with ScriptedModel([calls]) as server, ChatClient(model_at(server, protocol)) as client:
        listen = (lambda delta: names.append(delta.name)) if stream else None
        reply = client.chat(replace(ASKED, tools=(tool,)), on_delta=listen)
    assert [call.name for call in reply.tool_calls] == [tool.name]
    assert set(filter(None, names)) <= {tool.name}


@given(UNICODE)
def test_whole_characters_are_those_of_utf_16(text):
    whole = whole_characters(text)
    assert whole.encode("utf-8").decode("utf-8") == whole
    if not any("\ud800" <= each <= "\udfff" for each in text):
        assert whole == text


def test_halves_in_two_pieces_of_a_stream_are_one_character(protocol):
    """As services escape them, half a character in a piece."""
    with ScriptedModel(["smile 😀 here"]) as server, ChatClient(model_at(server, protocol)) as it:
        assert it.chat(ASKED, on_delta=lambda _: None).text == "smile 😀 here"


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ({"required": None, "properties": None}, {"properties": {}}),
        ({"properties": {"a": {"type": "array"}}},
         {"properties": {"a": {"type": "array", "items": {}}}}),
        ({"properties": {"a": {"type": "array", "prefixItems": [{}]}}}, None),
        ({"properties": {"a": True, "b": {"anyOf": [{"type": "array", "items": None}]}}},
         {"properties": {"a": {}, "b": {"anyOf": [{"type": "array", "items": {}}]}}}),
        ({"properties": {"a": {"default": None, "const": None, "enum": [None]}}}, None),
        ({"properties": {}, "additionalProperties": False}, None),
    ],
)  # fmt: skip
def test_a_schema_that_other_tools_wrote_is_one_for_strict_services(written, sent):
    """mark3labs/mcphost #88: servers in Go write `null` for what is left out."""
    assert object_schema({"type": "object", **written}) == {"type": "object", **(sent or written)}
