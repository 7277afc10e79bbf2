"""What is sent to a service."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.api.agent import ToolCall
from uwf_core.api.models import Model
from uwf_llm.chat import ChatRequest, ChatTool, Message
from uwf_llm.openai_chat.protocol import OpenaiChat

CALL = ToolCall(id="c1", name="read_file", arguments='{"path": "a"}')
CONVERSATION = (
    Message(role="system", text="You are."),
    Message(role="user", text="Do."),
    Message(role="assistant", text="", reasoning="hm", tool_calls=(CALL,)),
    Message(role="tool", text="content", tool_call_id="c1"),
)


def writer_of(**extra):
    model = Model(alias="m", name="model-1", provider="p", base_url="http://here", extra=extra)
    return OpenaiChat(model, "here model-1")


def sent(request, stream=False, **extra):
    return json.loads(writer_of(**extra).request(request, stream=stream).body)


def test_a_conversation_is_sent_as_it_is_and_in_its_order():
    assert sent(ChatRequest(messages=CONVERSATION)) == {
        "model": "model-1",
        "messages": [
            {"role": "system", "content": "You are."},
            {"role": "user", "content": "Do."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "read_file", "arguments": '{"path": "a"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "content"},
        ],
    }


def test_a_service_that_sent_no_reasoning_gets_none_unless_it_demands_it():
    request = ChatRequest(messages=CONVERSATION)
    assert "reasoning_content" not in sent(request)["messages"][2]
    writer = writer_of()
    assert writer.adapt(request, "reasoning_content is missing", stream=False)
    wanted = json.loads(writer.request(request, stream=False).body)
    assert wanted["messages"][2]["reasoning_content"] == "hm"


def test_nothing_is_sent_that_nobody_asked_for():
    assert set(sent(ChatRequest(messages=CONVERSATION))) == {"model", "messages"}


def test_everything_that_can_be_asked_for(tool):
    request = ChatRequest(
        messages=CONVERSATION,
        tools=(tool,),
        tool_choice="read_file",
        parallel_tool_calls=False,
        schema={"type": "object"},
        max_tokens=9,
        temperature=0.0,
    )
    body = sent(request, stream=True, seed=7, max_tokens=10)
    assert body["tools"][0]["function"]["name"] == "read_file"
    assert body["tool_choice"] == {"type": "function", "function": {"name": "read_file"}}
    assert body["parallel_tool_calls"] is False
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert (body["seed"], body["max_tokens"], body["temperature"]) == (7, 9, 0.0)
    assert body["stream_options"] == {"include_usage": True}


@given(st.permutations(["grep", "read_file", "write_file", "glob"]))
@settings(max_examples=20, deadline=None)
def test_the_order_of_the_tools_changes_no_byte(names):
    """A provider's cache knows a prompt by its bytes."""

    def body(order):
        tools = tuple(ChatTool(name=name, description="", parameters={}) for name in order)
        return writer_of().request(ChatRequest(messages=(), tools=tools), stream=True).body

    assert body(names) == body(sorted(names))


@given(st.lists(st.text(st.characters()), min_size=1, max_size=4))
@settings(max_examples=50, deadline=None)
def test_a_longer_conversation_begins_with_the_bytes_of_the_shorter(texts):
    messages, writer = tuple(Message(role="user", text=text) for text in texts), writer_of()

    def body(count, by):
        request = ChatRequest(messages=messages[:count])
        return by.request(request, stream=False).body

    for count in range(1, len(texts)):
        assert body(count + 1, writer).startswith(body(count, writer).removesuffix(b"]}"))
        assert body(count, writer) == body(count, writer_of())


def test_what_was_sent_before_is_not_encoded_again():
    """A turn costs what is new in it, however long the conversation is."""
    looked = []

    class Noting(Message):
        def __getattribute__(self, name):
            if name == "text":
                looked.append(self)
            return super().__getattribute__(name)

    writer = writer_of()
    messages = [Noting(role="user", text=str(number)) for number in range(3)]
    for count in (1, 2, 3):
        looked.clear()
        request = ChatRequest(messages=tuple(messages[:count]))
        body = json.loads(writer.request(request, stream=False).body)
        assert [each["content"] for each in body["messages"]] == ["0", "1", "2"][:count]
        assert all(each is messages[count - 1] for each in looked)


@pytest.mark.parametrize("arguments", ["{cut", "[1]", '"x"'])
def test_arguments_that_are_no_json_object_do_not_spoil_a_conversation_for_ever(arguments):
    """Several services parse what is given back to them, and refuse what they cannot."""
    call = ToolCall(id="1", name="a", arguments=arguments)
    body = sent(ChatRequest(messages=(Message(role="assistant", tool_calls=(call,)),)))
    said = body["messages"][0]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(said) == {"malformed_arguments": arguments}


def test_half_a_surrogate_pair_is_sent_as_a_replacement_and_two_halves_as_a_character():
    said = Message(role="user", text="a\udcffb\ud83d\ude00")
    body = sent(ChatRequest(messages=(said,)))
    assert body["messages"][0]["content"] == "a\ufffdb\U0001f600"


SIGNED = replace(
    CONVERSATION[2],
    extra={"reasoning": "hm", "tool_calls": [{"extra_content": {"google": {"sig": "abc"}}}]},
    service="here model-1",
)


def test_what_a_service_sent_beyond_the_standard_goes_back_to_it_alone():
    """Thought signatures and reasoning of one service are secrets, and errors, of another."""
    (back,) = sent(ChatRequest(messages=(SIGNED,)))["messages"]
    assert back["reasoning"] == "hm"
    assert back["tool_calls"][0]["extra_content"] == {"google": {"sig": "abc"}}
    assert back["tool_calls"][0]["function"]["name"] == "read_file"
    other = replace(SIGNED, service="elsewhere model-1")
    assert sent(ChatRequest(messages=(other,))) == sent(ChatRequest(messages=(CONVERSATION[2],)))


def test_extra_never_replaces_what_was_said():
    extra = {"content": "other", "tool_calls": [{"id": "x", "function": {"name": "rm"}}]}
    forged = replace(SIGNED, extra=extra)
    assert sent(ChatRequest(messages=(forged,))) == sent(ChatRequest(messages=(CONVERSATION[2],)))
