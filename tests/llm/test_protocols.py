"""Every protocol keeps the same promises: what a model says arrives, and goes back to it."""

import base64
import json
from dataclasses import replace
from itertools import pairwise

import pytest

from model_wires import ASKED, KEY, SCHEMA, TURN, WIRES, continued, model_at
from uwf_core.api.agent import ToolCall
from uwf_core.api.models import Model
from uwf_core.errors import (
    AuthRefused,
    BadRequest,
    ContextTooLong,
    EmptyReply,
    RateLimited,
    Refused,
    Truncated,
    Unavailable,
)
from uwf_llm.chat import Image, Message
from uwf_llm.client import ChatClient
from uwf_llm.limits import RetryPolicy
from uwf_testing.model_server import ScriptedModel


@pytest.fixture(params=list(WIRES))
def protocol(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["streamed", "whole"])
def on_delta(request):
    return (lambda delta: None) if request.param else None


@pytest.fixture
def talk(protocol, hasty, on_delta):
    """The replies, and the requests as the server saw them."""

    def run(turns, *requests, **fields):
        with ScriptedModel(turns) as server:
            model = model_at(server, protocol, **fields)
            with ChatClient(model, clock=hasty, retry=RetryPolicy(attempts=3)) as client:
                replies = [client.chat(each, on_delta=on_delta) for each in requests]
            return replies, server.requests

    return run


def test_text_reasoning_and_parallel_calls_arrive(talk, protocol):
    (reply,), (request,) = talk([TURN], ASKED)
    assert reply.text == TURN["text"]
    assert reply.reasoning == TURN["reasoning"]
    assert [call.name for call in reply.tool_calls] == ["read_file", "grep"]
    assert [call.id for call in reply.tool_calls] == ["call_a", "call_b"]
    assert json.loads(reply.tool_calls[0].arguments) == {"path": "ä.py"}
    assert json.loads(reply.tool_calls[1].arguments) == {"pattern": "x" * 60}
    assert reply.stop_reason == "tool_calls"
    assert reply.model == "model-1"
    assert KEY in request.headers[WIRES[protocol].key]
    assert request.tool_names == ["grep", "read_file"]


def test_usage_counts_cached_tokens_apart(talk):
    (reply,), _ = talk([TURN], ASKED)
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (20, 7, 80)


def test_the_conversation_goes_back_with_reasoning_in_its_place(talk, protocol):
    with_reasoning = replace(ASKED)
    (first,), _ = talk([TURN], with_reasoning)
    (_, second), requests = talk([TURN, "Done."], ASKED, continued(first))
    assert second.text == "Done."
    said = json.dumps(requests[1].body, ensure_ascii=False)
    for piece in (TURN["text"], "result of grep", "call_a", "call_b"):
        assert piece in said
    signs = {
        "openai-chat": '"reasoning_content": "First',
        "openai-responses": '"encrypted_content": "c2NyaXB0"',
        "anthropic": '"signature": "c2NyaXB0"',
        "gemini": '"thoughtSignature": "c2NyaXB0"',
    }
    # Another address is another service, which gets no reasoning of this one.
    assert signs[protocol] not in said


def test_the_service_that_reasoned_gets_its_reasoning_back(protocol, hasty):
    with ScriptedModel([TURN, "Done."]) as server:
        with ChatClient(model_at(server, protocol), clock=hasty) as client:
            first = client.chat(ASKED, on_delta=lambda delta: None)
            client.chat(continued(first), on_delta=lambda delta: None)
        back = server.requests[1].body
    said = json.dumps(back, ensure_ascii=False)
    match protocol:
        case "openai-chat":
            assert back["messages"][2]["reasoning_content"] == TURN["reasoning"]
        case "openai-responses":
            assert [item.get("type") for item in back["input"]] == [
                *(None, "reasoning", None, "function_call", "function_call"),
                *("function_call_output", "function_call_output"),
            ]
            assert back["input"][1]["encrypted_content"] == "c2NyaXB0"
            assert back["store"] is False
        case "anthropic":
            blocks = back["messages"][1]["content"]
            assert [each["type"] for each in blocks] == [
                "thinking",
                "text",
                "tool_use",
                "tool_use",
            ]
            assert blocks[0]["thinking"] == TURN["reasoning"]
            assert blocks[0]["signature"] == "c2NyaXB0"
        case "gemini":
            parts = back["contents"][1]["parts"]
            assert parts[0]["thoughtSignature"] == "c2NyaXB0"
            assert [list(part)[-1] for part in parts] == ["text", "functionCall", "functionCall"]
    assert said.count("First the files") <= 4


def test_a_changed_text_or_call_goes_back_without_the_layout_that_no_longer_fits(protocol, hasty):
    with ScriptedModel([TURN, "Done."]) as server:
        with ChatClient(model_at(server, protocol), clock=hasty) as client:
            reply = client.chat(ASKED)
            messages = list(continued(reply).messages)
            at = messages.index(reply.message)
            messages[at] = replace(reply.message, text="Other words.")
            client.chat(replace(ASKED, messages=tuple(messages)))
        said = json.dumps(server.requests[1].body)
    assert "Other words." in said
    assert "I look at both" not in said


def test_images_reach_the_model(talk):
    image = Image(media_type="image/png", data=b"\x89PNG data")
    call = ToolCall(id="c1", name="read_file", arguments="{}")
    messages = (
        Message(role="user", text="What is this?", images=(image,)),
        Message(role="assistant", tool_calls=(call, replace(call, id="c2"))),
        Message(role="tool", text="a picture", tool_call_id="c1", images=(image,)),
        Message(role="tool", text="nothing", tool_call_id="c2"),
    )
    _, (request,) = talk(["A cat."], replace(ASKED, messages=messages))
    data = base64.b64encode(image.data).decode()
    assert json.dumps(request.body).count(data) == 2
    assert "image/png" in json.dumps(request.body)


def test_a_schema_is_sent_in_the_form_of_the_service(talk, protocol):
    (reply,), (request,) = talk(['{"a": "b"}'], replace(ASKED, schema=SCHEMA))
    assert reply.response_format == "json_schema"
    body = request.body
    sent = {
        "openai-chat": lambda: body["response_format"]["json_schema"]["schema"],
        "openai-responses": lambda: body["text"]["format"]["schema"],
        "anthropic": lambda: body["output_config"]["format"]["schema"],
        "gemini": lambda: body["generationConfig"]["responseJsonSchema"],
    }
    assert sent[protocol]() == SCHEMA


def test_a_service_without_schemas_is_asked_again_without(talk):
    refused = {"error": {"status": 400, "message": "json_schema is not supported here"}}
    once = {"error": {"status": 400, "message": "json_object is not supported here"}}
    weaker = [refused, '{"a": "b"}']
    try:
        (reply,), requests = talk(weaker, replace(ASKED, schema=SCHEMA))
    except BadRequest:
        (reply,), requests = talk([refused, once, "{}"], replace(ASKED, schema=SCHEMA))
    assert len(requests) >= 2
    assert reply.response_format != "json_schema"


@pytest.mark.parametrize("choice", ["auto", "none", "required", "grep"])
def test_a_choice_of_tools_is_sent(talk, choice):
    _, (request,) = talk(["Done."], replace(ASKED, tool_choice=choice, parallel_tool_calls=False))
    body = request.body
    said = json.dumps(body.get("tool_choice") or body.get("toolConfig")).lower()
    assert {"required": "any" if "any" in said else "required"}.get(choice, choice) in said


def test_keys_of_the_configuration_are_in_every_request(talk, protocol):
    name = "generationConfig" if protocol == "gemini" else "metadata"
    _, (request,) = talk(
        ["Done."], replace(ASKED, max_tokens=99, temperature=0.5), extra={name: {"seed": 3}}
    )
    assert request.body[name]["seed"] == 3
    said = json.dumps(request.body)
    assert "99" in said
    assert "0.5" in said


FAILURES = {
    "401": ({"status": 401, "message": "invalid key"}, AuthRefused, 1),
    "429": ({"status": 429, "message": "slow down", "retryAfter": "1"}, RateLimited, 3),
    "500": ({"status": 500, "message": "oh no"}, Unavailable, 3),
    "503": ({"status": 503, "message": "busy"}, Unavailable, 3),
    "529": ({"status": 529, "message": "Overloaded", "retryAfter": "2"}, Unavailable, 3),
    "400": ({"status": 400, "message": "odd"}, BadRequest, 1),
    "context": ({"status": 400, "message": "prompt is too long: 9 > 8"}, ContextTooLong, 1),
    "413": ({"status": 413, "message": "request_too_large"}, ContextTooLong, 1),
}


@pytest.mark.parametrize("name", list(FAILURES))
def test_an_error_is_its_typed_failure_after_the_waits_that_were_asked_for(
    protocol, hasty, name, on_delta
):
    error, kind, count = FAILURES[name]
    with ScriptedModel([{"error": error, "repeat": 3}]) as server:
        policy = RetryPolicy(attempts=3)
        client = ChatClient(model_at(server, protocol), clock=hasty, retry=policy)
        with client, pytest.raises(kind, match=error["message"]):
            client.chat(ASKED, on_delta=on_delta)
        assert len(server.requests) == count
    asked = float(error.get("retryAfter", 0))
    assert all(wait >= asked for wait in hasty.waits)
    assert len(hasty.waits) == count - 1


def test_a_refusal_is_one(talk, protocol):
    with pytest.raises(Refused):
        talk([{"refusal": "I will not do that."}], ASKED)


def test_a_cut_reply_says_so_and_an_empty_one_is_a_failure(talk, protocol):
    word = "max_tokens" if protocol == "anthropic" else "length"
    (reply,), _ = talk([{"text": "Half of", "stopReason": word}], ASKED)
    assert reply.stop_reason == "length"
    with pytest.raises(Truncated):
        talk([{"text": "", "stopReason": word}], ASKED)
    with pytest.raises(EmptyReply):
        talk([{"text": ""}], ASKED)


@pytest.mark.parametrize("drop", ["start", "headers", "middle", "reset", "quiet"])
def test_a_reply_that_breaks_off_is_asked_for_again(talk, drop):
    (reply,), requests = talk([{**TURN, "drop": drop}, TURN], ASKED)
    assert reply.text == TURN["text"]
    assert len(requests) == 2


def test_a_later_request_begins_with_the_same_prefix(protocol, hasty):
    """So the service can cache what stands before the end."""
    with ScriptedModel([TURN, TURN, "Done."]) as server:
        with ChatClient(model_at(server, protocol), clock=hasty) as client:
            first = continued(client.chat(ASKED))
            reply = client.chat(first)
            call = tuple(replace(each, id=f"{each.id}-2") for each in reply.tool_calls)
            reply = replace(reply, tool_calls=call)
            messages = (*first.messages, *continued(reply).messages[len(ASKED.messages) :])
            client.chat(replace(first, messages=messages))
        bodies = [_without_marks(request.body) for request in server.requests]
    for before, after in pairwise(bodies):
        for key in before:
            if isinstance(before[key], list):
                assert after[key][: len(before[key])] == before[key]
            else:
                assert after[key] == before[key]


def _without_marks(value):
    if isinstance(value, dict):
        return {k: _without_marks(v) for k, v in value.items() if k != "cache_control"}
    return [_without_marks(each) for each in value] if isinstance(value, list) else value


def test_the_models_of_a_service_are_listed(protocol, hasty):
    with (
        ScriptedModel() as server,
        ChatClient(model_at(server, protocol), clock=hasty) as client,
    ):
        assert client.list_models() == ["scripted-model"]


def test_an_unknown_protocol_is_a_bad_request():
    model = Model(alias="m", name="n", provider="p", base_url="http://x", protocol="odd")
    with pytest.raises(BadRequest, match="'odd'"):
        ChatClient(model)


@pytest.mark.parametrize("url", ["", "/v1", "/v1/messages", "/v1/"])
def test_an_address_of_anthropic_may_end_before_or_after_the_version(hasty, url):
    with ScriptedModel(["Hello."]) as server:
        model = replace(model_at(server, "anthropic"), base_url=server.anthropic_url + url)
        with ChatClient(model, clock=hasty) as client:
            assert client.chat(ASKED).text == "Hello."
        assert server.requests[0].path == "/v1/messages"


def test_marks_of_the_cache_are_on_the_stable_prefix_and_on_the_end(hasty):
    with ScriptedModel([TURN, "Done."]) as server:
        with ChatClient(model_at(server, "anthropic"), clock=hasty) as client:
            client.chat(continued(client.chat(ASKED)))
        first, second = (request.body for request in server.requests)
    mark = {"type": "ephemeral"}
    assert first["system"][-1]["cache_control"] == mark
    assert first["messages"][0]["content"][-1]["cache_control"] == mark
    assert second["messages"][2]["content"][-1]["cache_control"] == mark
    assert json.dumps(second).count("ephemeral") == 3


def test_a_model_with_a_smaller_limit_is_asked_again_with_it(hasty):
    words = "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens"
    with ScriptedModel([{"error": {"status": 400, "message": words}}, "Hello."]) as server:
        with ChatClient(model_at(server, "anthropic"), clock=hasty) as client:
            assert client.chat(ASKED).text == "Hello."
        assert [request.body["max_tokens"] for request in server.requests] == [32000, 8192]
