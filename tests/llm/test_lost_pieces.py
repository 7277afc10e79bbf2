"""Responses say an item in pieces and once more whole: what did not arrive in pieces is taken from
the whole, and a gap is a failure.
"""

import json
from itertools import combinations

import pytest

from model_wires import ASKED, model_at
from uwf_core.errors import AgentFailure
from uwf_llm.client import ChatClient
from uwf_llm.limits import RetryPolicy
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelTurn, RawAnswer

TEXT, ARGUMENTS = ["The first. ", "The second. ", "The last."], ['{"path": ', '"a/b', '.txt"}']
MESSAGE = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "".join(TEXT)}],
}
CALL = {
    "type": "function_call",
    "call_id": "c1",
    "name": "read_file",
    "arguments": "".join(ARGUMENTS),
}


def events(item, kind, pieces):
    begun = {**item, "content": []} if "content" in item else {**item, "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": 0, "item": begun}
    for piece in pieces:
        yield {"type": f"response.{kind}.delta", "output_index": 0, "delta": piece}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    done = {"status": "completed", "model": "m", "output": [item]}
    yield {"type": "response.completed", "response": done}


SAID = {
    "text": list(events(MESSAGE, "output_text", TEXT)),
    "call": list(events(CALL, "function_call_arguments", ARGUMENTS)),
}
LOST = [lost for count in range(5) for lost in combinations(range(1, 5), count)]
"""Which of the pieces and of the whole item are lost; the beginning and the end arrive."""


@pytest.fixture(scope="module")
def line():
    said = []
    with ScriptedModel([lambda _: said[-1]] * 1_000) as server:
        model = model_at(server, "openai-responses")
        with ChatClient(model, retry=RetryPolicy(attempts=1)) as client:
            yield client, said


@pytest.mark.parametrize("lost", LOST, ids=str)
@pytest.mark.parametrize("what", SAID)
def test_what_is_lost_is_taken_from_the_whole_or_the_attempt_fails(line, what, lost):
    client, said = line
    arrived = [each for number, each in enumerate(SAID[what]) if number not in lost]
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in arrived)
    said.append(ModelTurn(raw=RawAnswer(body=body, content_type="text/event-stream")))
    try:
        reply = client.chat(ASKED, on_delta=lambda delta: None)
    except AgentFailure as failure:
        gap = {number for number in (1, 2) if number in lost and number + 1 not in lost}
        assert gap and "did not arrive" in failure.message
        return
    if what == "text":
        assert reply.text == "".join(TEXT)
    else:
        (call,) = reply.tool_calls
        assert json.loads(call.arguments) == {"path": "a/b.txt"}
