"""The vendors' own clients read what our scripted server says, and their types accept what we
send: so the two do not merely agree with each other.
"""

import json
import typing

import pytest

from model_wires import ASKED, KEY, SCHEMA, TURN, continued, model_at
from uwf_core.api import ToolCall
from uwf_llm.chat import ChatRequest, Image, Message
from uwf_llm.client import ChatClient
from uwf_testing.model_server import ScriptedModel

pydantic = pytest.importorskip("pydantic", reason="needs the vendors' clients: group `vendors`")
pytestmark = pytest.mark.filterwarnings("ignore")
IMAGES = (Image(media_type="image/png", data=b"\x89PNG"),)
LOOKED = ToolCall(id="c1", name="read_file", arguments='{"path": "a.png"}')
ALL = ChatRequest(
    messages=(
        Message(role="system", text="You are."),
        Message(role="user", text="What?", images=IMAGES),
        Message(role="assistant", tool_calls=(LOOKED,)),
        Message(role="tool", text="a picture", tool_call_id="c1", images=IMAGES),
    ),
    tools=ASKED.tools,
    tool_choice="auto",
    parallel_tool_calls=False,
    schema=SCHEMA,
    max_tokens=100,
    temperature=0.5,
)


def sent_by(protocol):
    """Our requests of a conversation with everything in it."""
    with ScriptedModel([TURN, "Done.", '{"a": "b"}']) as server:
        with ChatClient(model_at(server, protocol)) as client:
            client.chat(continued(client.chat(ASKED, on_delta=lambda delta: None)))
            client.chat(ALL)
        return [request.body for request in server.requests]


def valid(kind, value):
    """Validate against a vendor's typed parameters, which have no further keys."""
    pydantic.TypeAdapter(kind).validate_json(json.dumps(value), strict=False)


def keys_of(kind):
    return set(typing.get_type_hints(kind))


def test_anthropics_types_accept_what_we_send():
    pytest.importorskip("anthropic")
    from anthropic.types import message_create_params as params

    for body in sent_by("anthropic"):
        streams = body.pop("stream", None)
        assert streams in (True, None)
        # Newer models reject it, and so do the types; then it is left out in the next request.
        body.pop("temperature", None)
        assert set(body) <= keys_of(params.MessageCreateParamsBase)
        valid(params.MessageCreateParamsBase, body)


def test_openais_types_accept_what_we_send():
    pytest.importorskip("openai")
    from openai.types.chat import completion_create_params as chat
    from openai.types.responses import response_create_params as responses

    for protocol, kind in (
        ("openai-responses", responses.ResponseCreateParamsBase),
        ("openai-chat", chat.CompletionCreateParamsBase),
    ):
        for body in sent_by(protocol):
            body.pop("stream", None)
            assert set(body) <= keys_of(kind)
            if protocol == "openai-chat":  # a field of other services, which OpenAI ignores
                for message in body["messages"]:
                    message.pop("reasoning_content", None)
            valid(kind, body)


def test_googles_types_accept_what_we_send():
    pytest.importorskip("google.genai")
    from google.genai import types

    for body in sent_by("gemini"):
        for content in body.pop("contents"):
            types.Content.model_validate(content)
        types.Content.model_validate(body.pop("systemInstruction"))
        for tool in body.pop("tools"):
            types.Tool.model_validate(tool)
        types.GenerationConfig.model_validate(body.pop("generationConfig", {}))
        types.ToolConfig.model_validate(body.pop("toolConfig", {}))
        assert not body


@pytest.mark.parametrize("stream", [True, False])
def test_anthropics_client_reads_our_server(stream):
    anthropic = pytest.importorskip("anthropic")
    with ScriptedModel([TURN]) as server:
        client = anthropic.Anthropic(base_url=server.anthropic_url, api_key=KEY, max_retries=0)
        asked = {
            "model": "m",
            "max_tokens": 99,
            "messages": [{"role": "user", "content": "x"}],
        }
        if stream:
            with client.messages.stream(**asked) as events:
                message = events.get_final_message()
        else:
            message = client.messages.create(**asked)
    kinds = [block.type for block in message.content]
    assert kinds == ["thinking", "text", "tool_use", "tool_use"]
    assert message.content[1].text == TURN["text"]
    assert message.content[2].input == {"path": "ä.py"}
    assert message.stop_reason == "tool_use"
    assert message.usage.cache_read_input_tokens == 80


@pytest.mark.parametrize("stream", [True, False])
def test_openais_client_reads_the_responses_of_our_server(stream):
    openai = pytest.importorskip("openai")
    with ScriptedModel([TURN]) as server:
        client = openai.OpenAI(base_url=server.openai_url, api_key=KEY, max_retries=0)
        if stream:
            with client.responses.stream(model="m", input="x") as events:
                response = events.get_final_response()
        else:
            response = client.responses.create(model="m", input="x")
    kinds = [item.type for item in response.output]
    assert kinds == ["reasoning", "message", "function_call", "function_call"]
    assert response.output_text == TURN["text"]
    assert json.loads(response.output[2].arguments) == {"path": "ä.py"}
    assert response.usage.input_tokens_details.cached_tokens == 80


@pytest.mark.parametrize("stream", [True, False])
def test_googles_client_reads_our_server(stream):
    genai = pytest.importorskip("google.genai")
    with ScriptedModel([TURN]) as server:
        options = {"base_url": server.gemini_url.removesuffix("/v1beta")}
        client = genai.Client(api_key=KEY, http_options=options)
        models = client.models
        if stream:
            replies = list(models.generate_content_stream(model="m", contents="x"))
        else:
            replies = [models.generate_content(model="m", contents="x")]
        client.close()
    parts = [part for reply in replies for part in reply.candidates[0].content.parts or ()]
    assert "".join(p.text for p in parts if p.text and not p.thought) == TURN["text"]
    assert [p.function_call.name for p in parts if p.function_call] == ["read_file", "grep"]
    assert replies[-1].usage_metadata.cached_content_token_count == 80
    assert replies[-1].candidates[0].finish_reason.value == "STOP"


def test_the_errors_of_our_server_are_the_vendors_own():
    anthropic = pytest.importorskip("anthropic")
    openai = pytest.importorskip("openai")
    error = {"error": {"status": 429, "message": "slow", "retryAfter": "3"}, "repeat": 2}
    with ScriptedModel([error]) as server:
        ours = anthropic.Anthropic(base_url=server.anthropic_url, api_key=KEY, max_retries=0)
        with pytest.raises(anthropic.RateLimitError):
            ours.messages.create(
                model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]
            )
        theirs = openai.OpenAI(base_url=server.openai_url, api_key=KEY, max_retries=0)
        with pytest.raises(openai.RateLimitError):
            theirs.responses.create(model="m", input="x")
