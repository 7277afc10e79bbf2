"""What a service does not take is left out, learnt once, and costs no attempt."""

import pytest

from uwf_core.api.agent import ToolCall
from uwf_core.errors import BadRequest
from uwf_llm.chat import ChatRequest, Message

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
ASKED = (Message(role="user", text="as JSON"),)


def refuses(message):
    return {"error": {"status": 400, "message": message}}


def body_of(server, index):
    return server.requests[index].body


def test_structured_output_in_the_services_own_way(serve):
    server, client = serve('{"a": "b"}')
    reply = client.chat(ChatRequest(messages=ASKED, schema=SCHEMA))
    assert reply.response_format == "json_schema"
    form = body_of(server, 0)["response_format"]
    assert form["json_schema"]["schema"] == SCHEMA


def test_a_service_with_json_mode_alone(serve):
    """DeepSeek's words."""
    refusal = refuses("This response_format type is unavailable now")
    server, client = serve(refusal, '{"a": "b"}', '{"a": "c"}')
    request = ChatRequest(messages=ASKED, schema=SCHEMA)
    assert client.chat(request).response_format == "json_object"
    assert client.chat(request).response_format == "json_object"
    assert body_of(server, 1)["response_format"] == {"type": "json_object"}
    assert len(server.requests) == 3


def test_a_service_without_any(serve):
    refusal = refuses("unknown field: response_format")
    server, client = serve(refusal, refusal, '{"a": "b"}')
    assert client.chat(ChatRequest(messages=ASKED, schema=SCHEMA)).response_format is None
    assert "response_format" not in body_of(server, 2)


def test_without_a_schema_none_is_named(serve, question):
    _, client = serve("hi")
    assert client.chat(question).response_format is None


@pytest.mark.parametrize(
    ("words", "keys", "gone", "instead"),
    [
        (
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            {"max_tokens": 9},
            "max_tokens",
            "max_completion_tokens",
        ),
        ("Unsupported value: 'temperature'", {"temperature": 0.1}, "temperature", None),
        (
            "Unknown parameter: parallel_tool_calls",
            {"parallel_tool_calls": True},
            "parallel_tool_calls",
            None,
        ),
    ],
)
def test_a_parameter_that_is_not_taken(serve, tool, words, keys, gone, instead, hasty):
    server, client = serve(refuses(words), "one", "two")
    request = ChatRequest(messages=ASKED, tools=(tool,), **keys)
    assert client.chat(request).attempts == 2
    assert client.chat(request).attempts == 1
    assert gone in body_of(server, 0)
    for index in (1, 2):
        assert gone not in body_of(server, index)
        assert instead is None or instead in body_of(server, index)
    assert hasty.waits == []


def test_a_stream_without_options(serve, question):
    server, client = serve(refuses("stream_options: extra fields not permitted"), "hi")
    reply = client.chat(question, on_delta=lambda _: None)
    assert reply.usage.input_tokens is None
    assert "stream_options" not in body_of(server, 1)


def test_a_service_that_wants_its_reasoning_back(serve):
    call = ToolCall(id="1", name="a", arguments="{}")
    messages = (
        *ASKED,
        Message(role="assistant", reasoning="hm", tool_calls=(call,)),
        Message(role="tool", text="x", tool_call_id="1"),
    )
    refusal = refuses("Missing `reasoning_content` field in the assistant message")
    server, client = serve(refusal, "hi")
    client.chat(ChatRequest(messages=messages))
    assert "reasoning_content" not in body_of(server, 0)["messages"][1]
    assert body_of(server, 1)["messages"][1]["reasoning_content"] == "hm"


def test_a_service_that_does_not_take_its_reasoning_back(serve):
    """The words of DeepSeek's first reasoner, and of services with strict schemas."""
    refusal = refuses("Please remove the reasoning_content from your message")
    server, client = serve({"text": "a", "reasoning": "hm"}, refusal, "b", "c")
    said = client.chat(ChatRequest(messages=ASKED)).message
    for _ in range(2):
        client.chat(ChatRequest(messages=(*ASKED, said, *ASKED)))
    with_it = ["reasoning_content" in body_of(server, n)["messages"][1] for n in (1, 2, 3)]
    assert with_it == [True, False, False]


def test_the_same_refusal_over_and_over_ends(serve):
    server, client = serve({**refuses("bad response_format and temperature"), "repeat": 20})
    with pytest.raises(BadRequest):
        client.chat(ChatRequest(messages=ASKED, schema=SCHEMA, temperature=0.5))
    assert len(server.requests) == 4


def test_a_refusal_of_what_was_not_asked_is_a_refusal(serve, question):
    server, client = serve(refuses("bad response_format, temperature, max_completion_tokens"))
    with pytest.raises(BadRequest):
        client.chat(question)
    assert len(server.requests) == 1
