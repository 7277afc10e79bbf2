"""The line protocol: any message survives it, and no line breaks it."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_agent_acp.protocol.updates import Chunk, Other, ToolUse, read_update
from uwf_agent_acp.protocol.wire import Noise, Notification, Request, Response, parse, render

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
IDS = st.integers() | st.text()
MESSAGES = (
    st.builds(Request, IDS, st.text(), VALUES)
    | st.builds(Notification, st.text(), VALUES)
    | st.builds(Response, IDS, VALUES, st.none())
    | st.builds(Response, IDS, st.none(), st.dictionaries(st.text(), VALUES, min_size=1))
)


@settings(max_examples=40, deadline=None)
@given(MESSAGES)
def test_what_is_rendered_is_read_again(message):
    line = render(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert parse(line.rstrip(b"\n")) == message


@settings(max_examples=40, deadline=None)
@given(st.binary())
def test_no_bytes_break_the_reader(line):
    assert isinstance(parse(line), Request | Notification | Response | Noise)


@settings(max_examples=40, deadline=None)
@given(VALUES)
def test_json_that_is_no_message_is_noise_or_a_message(value):
    assert isinstance(parse(json.dumps(value).encode()), Request | Notification | Response | Noise)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from(["sessionUpdate", "content", "toolCallId"]), VALUES))
def test_no_update_breaks_the_reader(update):
    assert isinstance(read_update(update), Chunk | ToolUse | Other)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["agent_message_chunk", "tool_call", "tool_call_update"]),
    st.dictionaries(st.sampled_from(["content", "rawInput", "rawOutput", "title"]), VALUES),
)
def test_no_content_breaks_the_reader(name, fields):
    assert isinstance(read_update({"sessionUpdate": name, **fields}), Chunk | ToolUse)


def test_nesting_without_end_is_noise():
    assert isinstance(parse(b"[" * 200_000), Noise)


def test_the_noise_that_is_kept_is_short():
    assert len(parse(b"x" * 1_000_000).text) == 500


def test_ids_that_json_rpc_does_not_know_are_noise():
    assert isinstance(parse(b'{"id": true, "result": 1}'), Noise)
    assert isinstance(parse(b'{"id": {}, "method": "x"}'), Noise)


def test_a_tool_call_keeps_arguments_and_result_as_text():
    update = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "1",
        "status": "completed",
        "rawInput": {"ä": 1},
        "content": [
            {"type": "content", "content": {"type": "text", "text": "one"}},
            {"type": "diff", "path": "a.txt", "newText": "two"},
        ],
    }
    use = read_update(update)
    assert (use.arguments, use.result) == ('{"ä": 1}', "one\na.txt\ntwo")
