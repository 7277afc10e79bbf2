"""Whatever bytes a service sends, by whatever protocol: a reply or a typed failure, never a crash;
and what a conversation holds goes onto the wire and comes back from it.
"""

import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model_wires import ASKED, WIRES, model_at
from uwf_core.api.agent import ToolCall
from uwf_core.errors import AgentFailure
from uwf_llm.chat import ChatReply, Message
from uwf_llm.client import ChatClient
from uwf_llm.layout import sent_parts
from uwf_llm.limits import RetryPolicy
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelTurn, RawAnswer

FEW = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
HUGE = "9" * 5000


@pytest.fixture(params=list(WIRES), scope="module")
def line(request):
    """A client of a protocol, and what the server says next."""
    said = []
    with ScriptedModel([lambda _: said[-1]] * 100_000) as server:
        model = model_at(server, request.param)
        with ChatClient(model, retry=RetryPolicy(attempts=1)) as client:
            yield client, said


def outcome(line, body, kind="text/event-stream"):
    """The reply or the failure for a body."""
    client, said = line
    text = body.decode("utf-8", "surrogateescape")
    said.append(ModelTurn(raw=RawAnswer(body=text, content_type=kind)))
    try:
        reply = client.chat(ASKED, on_delta=lambda delta: None)
    except AgentFailure as failure:
        return failure
    assert isinstance(reply, ChatReply)
    json.dumps(reply.extra, allow_nan=False)
    return reply


@pytest.fixture(scope="module")
def whole(line):
    """The bytes of a good stream of this protocol."""
    import httpx

    client, said = line
    said.append(ModelTurn(text="Hello.", reasoning="Hm."))
    path, body = client._protocol.request(ASKED, stream=True)
    return httpx.post(client._service.address.endpoint(path), content=body).content


def test_a_stream_cut_at_any_byte_is_a_reply_or_a_failure(line, whole):
    for end in range(0, len(whole), max(1, len(whole) // 60)):
        got = outcome(line, whole[:end])
        assert isinstance(got, AgentFailure) or got.text == "Hello."
    assert outcome(line, whole).text == "Hello."


@given(st.binary(max_size=200))
@FEW
def test_any_bytes_are_a_failure(line, body):
    outcome(line, body)
    outcome(line, b"data: " + body + b"\n\n")


@given(changes=st.lists(st.tuples(st.integers(0, 9999), st.integers(0, 255)), max_size=5))
@FEW
def test_a_stream_with_changed_bytes_is_a_reply_or_a_failure(line, whole, changes):
    body = bytearray(whole)
    for at, byte in changes:
        body[at % len(body)] = byte
    outcome(line, bytes(body))


@pytest.mark.parametrize("number", [HUGE, f"-{HUGE}", "1e999", "NaN", "true", '"7"', "[1]"])
def test_numbers_that_nobody_can_count_are_unknown(line, whole, number):
    import re

    whole = whole.decode()
    changed = re.sub(r'(okens|okenCount|index)": \d+', rf'\1": {number}', whole)
    assert changed != whole
    got = outcome(line, changed.encode())
    if isinstance(got, ChatReply):
        used = got.usage
        assert used.output_tokens is None or used.output_tokens < 1e9


@given(
    pieces=st.lists(
        st.one_of(st.text(max_size=8), st.just(ToolCall(id="c", name="n", arguments="{}"))),
        max_size=5,
    ),
    layout=st.lists(
        st.one_of(
            st.fixed_dictionaries({"text": st.one_of(st.integers(-2, 9), st.none())}),
            st.just({"call": True}),
            st.fixed_dictionaries({"raw": st.one_of(st.none(), st.just({"type": "t"}))}),
            st.just("odd"),
        ),
        max_size=6,
    ),
)
@settings(max_examples=100, deadline=None)
def test_no_layout_loses_or_repeats_a_text_or_a_call(pieces, layout):
    calls = tuple(each for each in pieces if isinstance(each, ToolCall))
    text = "".join(each for each in pieces if isinstance(each, str))
    message = Message(role="assistant", text=text, tool_calls=calls, extra={"layout": layout})
    parts = list(sent_parts(message, "", lambda said: [{"text": said}], lambda c: {"call": c}))
    assert "".join(part.get("text", "") for part in parts) == text
    assert tuple(part["call"] for part in parts if "call" in part) == calls


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


@given(text=TEXTS, reasoning=TEXTS, values=st.lists(TEXTS, max_size=3))
@FEW
def test_what_a_model_says_arrives_as_it_is(line, text, reasoning, values):
    client, said = line
    calls = [{"name": "grep", "arguments": {"a": value}} for value in values]
    text = f"a{text}"
    turn = {"text": text, "reasoning": reasoning, "toolCalls": calls}
    said.append(ModelTurn(**_turn(turn)))
    reply = client.chat(ASKED, on_delta=lambda delta: None)
    assert reply.text == text
    assert reply.reasoning == reasoning
    assert [json.loads(call.arguments)["a"] for call in reply.tool_calls] == values
    said.append(ModelTurn(text="Done."))
    results = [Message(role="tool", text="r", tool_call_id=each.id) for each in reply.tool_calls]
    messages = (*ASKED.messages, reply.message, *results)
    body = client._protocol.request(
        type(ASKED)(messages=messages, tools=ASKED.tools), stream=True
    ).body
    strings = set(_strings(json.loads(body)))
    assert any(text in each for each in strings) or not text.strip()
    assert all(value in strings for value in values)


def _turn(turn):
    from uwf_testing.model_server_script import ModelToolCall

    calls = tuple(ModelToolCall(**call) for call in turn["toolCalls"])
    return {"text": turn["text"], "reasoning": turn["reasoning"], "tool_calls": calls}


def _strings(value):
    if isinstance(value, str):
        yield value
        if value.startswith("{"):  # arguments as text
            with contextlib.suppress(ValueError):
                yield from _strings(json.loads(value))
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
