import http.client
import json
import socket
import threading
import time

import pytest

from model_peers import anthropic, ask, openai
from uwf_core.errors import DefinitionError
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelError, ModelScript, ModelToolCall, ModelTurn

CALLS = {
    "text": "Let me look.",
    "reasoning": "The file comes first.",
    "toolCalls": [
        {"name": "read_file", "arguments": {"path": "ä.py"}},
        {"name": "grep", "arguments": "{no json", "id": "mine"},
    ],
    "usage": {"inputTokens": 20, "outputTokens": 5, "cacheReadTokens": 80, "cacheWriteTokens": 3},
}


def test_a_whole_answer_in_openais_form():
    with ScriptedModel([CALLS]) as model:
        body = openai(model).json
    message = body["choices"][0]["message"]
    assert message["content"] == "Let me look."
    assert message["reasoning_content"] == "The file comes first."
    first, second = message["tool_calls"]
    assert json.loads(first["function"]["arguments"]) == {"path": "ä.py"}
    assert (second["id"], second["function"]["arguments"]) == ("mine", "{no json")
    assert body["choices"][0]["finish_reason"] == "tool_calls"
    assert body["usage"]["prompt_tokens"] == 103
    assert body["usage"]["prompt_tokens_details"]["cached_tokens"] == 80


def test_a_stream_in_openais_form_adds_up_to_the_same():
    with ScriptedModel([CALLS]) as model:
        said = openai(model, stream=True, stream_options={"include_usage": True})
    assert said.headers["content-type"] == "text/event-stream"
    *chunks, last, done = said.events
    assert done == "[DONE]"
    assert (last["choices"], last["usage"]["completion_tokens"]) == ([], 5)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert "".join(delta.get("content") or "" for delta in deltas) == "Let me look."
    pieces = [call for delta in deltas for call in delta.get("tool_calls", [])]
    arguments = "".join(p["function"].get("arguments", "") for p in pieces if p["index"] == 0)
    assert json.loads(arguments) == {"path": "ä.py"}
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_usage_of_a_stream_comes_only_where_it_is_asked_for():
    with ScriptedModel(["hi"]) as model:
        assert all("usage" not in event for event in openai(model, stream=True).events[:-1])


def test_a_whole_answer_in_anthropics_form():
    with ScriptedModel([CALLS]) as model:
        body = anthropic(model).json
    assert [block["type"] for block in body["content"]] == [
        "thinking",
        "text",
        "tool_use",
        "tool_use",
    ]
    assert body["content"][2]["input"] == {"path": "ä.py"}
    assert body["stop_reason"] == "tool_use"
    assert body["usage"] == {
        "input_tokens": 20,
        "cache_creation_input_tokens": 3,
        "cache_read_input_tokens": 80,
        "output_tokens": 5,
    }


def test_a_stream_in_anthropics_form_opens_and_closes_every_block():
    with ScriptedModel([CALLS]) as model:
        events = anthropic(model, stream=True).events
    kinds = [event["type"] for event in events]
    assert (kinds[0], kinds[-2], kinds[-1]) == ("message_start", "message_delta", "message_stop")
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 4
    pieces = [e["delta"] for e in events if e["type"] == "content_block_delta" and e["index"] == 2]
    assert json.loads("".join(piece["partial_json"] for piece in pieces)) == {"path": "ä.py"}
    assert events[-2]["usage"]["output_tokens"] == 5


def test_turns_are_given_in_order_and_then_it_says_so():
    with ScriptedModel(["one", ModelTurn(text="two", repeat=2)]) as model:
        said = [openai(model).json["choices"][0]["message"]["content"] for _ in range(3)]
        assert model.turns_left == 0
        over = openai(model)
    assert said == ["one", "two", "two"]
    assert over.status == 400
    assert "3 turns" in over.json["error"]["message"]
    assert [request.turn for request in model.requests] == [0, 1, 2, None]


def test_a_list_that_repeats_begins_anew():
    script = ModelScript(turns=("one", "two"), repeat=True)
    with ScriptedModel(script=script) as model:
        said = [openai(model).json["choices"][0]["message"]["content"] for _ in range(5)]
    assert said == ["one", "two", "one", "two", "one"]


@pytest.mark.parametrize("form", [openai, anthropic])
@pytest.mark.parametrize("stream", [False, True])
def test_side_requests_take_no_turn(form, stream):
    """Real agents ask for titles, guards and summaries beside their loop."""
    with ScriptedModel(["main"], side_text="A title") as model:
        side = form(model, tools=False, stream=stream)
        main = form(model, stream=stream)
        again = form(model, tools=False, stream=stream)
    assert b"A title" in side.body
    assert b"A title" in again.body
    assert b"main" in main.body
    assert [request.turn for request in model.requests] == [None, 0, None]


def test_without_a_side_text_every_request_takes_a_turn():
    with ScriptedModel(["one"]) as model:
        assert openai(model, tools=False).json["choices"][0]["message"]["content"] == "one"


def test_a_turn_may_depend_on_the_request():
    def answer(request):
        return ModelTurn(text=request.messages[-1]["content"].upper())

    with ScriptedModel([answer, answer]) as model:
        assert openai(model).json["choices"][0]["message"]["content"] == "HI"
        assert anthropic(model).json["content"][0]["text"] == "HI"


def test_a_fault_in_such_a_function_is_raised_at_the_end():
    model = ScriptedModel([lambda _: 1 / 0]).start()
    with pytest.raises(http.client.RemoteDisconnected):
        openai(model)
    with pytest.raises(ZeroDivisionError):
        model.close()


def test_requests_are_recorded_with_path_headers_and_body():
    with ScriptedModel(["hi"]) as model:
        ask(
            model,
            "/v1/chat/completions?x=1",
            {"model": "m", "messages": [], "tools": [{"name": "a"}]},
            headers={"Authorization": "Bearer sk-1", "X-Own": "ü".encode().decode("latin-1")},
        )
        ask(model, "/v1/messages/count_tokens", b"{" + b" " * 399)
    first, second = model.requests
    assert (first.method, first.path) == ("POST", "/v1/chat/completions?x=1")
    assert (first.key, first.dialect, first.tool_names) == ("sk-1", "openai", ["a"])
    assert first.body["model"] == "m"
    assert "sk-1" not in json.dumps(first.document())
    assert (second.body, second.turn, len(second.raw)) == (None, None, 400)


def test_tokens_can_be_counted():
    with ScriptedModel() as model:
        assert ask(model, "/v1/messages/count_tokens", b"x" * 400).json == {"input_tokens": 100}


def test_models_are_listed_for_both_kinds_of_clients():
    with ScriptedModel(script=ModelScript(models=("a/b", "c"))) as model:
        listed = ask(model, "/v1/models?limit=5").json
        one = ask(model, "/v1/models/a/b").json
        none = ask(model, "/v1/models/gone")
        alive = ask(model, "/", method="HEAD")
    assert [entry["id"] for entry in listed["data"]] == ["a/b", "c"]
    assert (one["object"], one["type"]) == ("model", "model")
    assert (none.status, alive.status) == (404, 200)


@pytest.mark.parametrize(("form", "key"), [(openai, "code"), (anthropic, "type")])
def test_errors_have_the_form_of_the_provider(form, key):
    turn = ModelTurn(error=ModelError(status=429, message="slow down", retry_after="7"))
    with ScriptedModel([turn]) as model:
        said = form(model)
    assert (said.status, said.headers["retry-after"]) == (429, "7")
    assert said.json["error"]["message"] == "slow down"
    assert "rate_limit" in said.json["error"][key]


def test_a_wrong_key_is_refused_and_takes_no_turn():
    script = ModelScript(turns=("hi",), api_key="sk-right")
    with ScriptedModel(script=script) as model:
        assert openai(model).status == 401
        assert anthropic(model).json["error"]["type"] == "authentication_error"
        assert model.turns_left == 1


def test_a_request_that_is_no_json_is_refused_and_takes_no_turn():
    with ScriptedModel(["hi"]) as model:
        assert ask(model, "/v1/chat/completions", b"{nonsense").status == 400
        assert model.turns_left == 1


@pytest.mark.parametrize(
    "turn",
    [
        {"text": "x" * 500, "drop": "start"},
        {"text": "x" * 500, "drop": "headers"},
        {"text": "x" * 500, "drop": "middle"},
        {"text": "x" * 500, "drop": "reset"},
    ],
    ids=lambda turn: turn["drop"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_connection_is_dropped_where_the_script_says(turn, stream):
    with ScriptedModel([turn, "next"]) as model:
        with pytest.raises((http.client.HTTPException, ConnectionResetError)):
            openai(model, stream=stream)
        assert openai(model).status == 200


def test_a_quiet_cut_is_well_formed_http_with_half_a_body():
    with ScriptedModel([{"text": "x" * 500, "drop": "quiet"}] * 2) as model:
        stream = openai(model, stream=True)
        whole = openai(model)
    assert "[DONE]" not in stream.events
    assert len(stream.events) > 2
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(whole.body)


@pytest.mark.parametrize("place", ["start", "headers", "middle"])
def test_a_hang_lasts_until_the_client_goes(place):
    turns = [{"text": "x" * 500, "hang": place}]
    with ScriptedModel(turns) as model, pytest.raises(socket.timeout):
        ask(model, "/v1/chat/completions", {"stream": True}, seconds=0.2)


def test_a_hang_does_not_outlive_the_server():
    before = set(threading.enumerate())
    model = ScriptedModel([{"hang": "start"}]).start()
    connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=30)
    connection.request("POST", "/v1/chat/completions", b"{}")
    assert model.wait_for_requests(1)
    started = time.monotonic()
    model.close()
    model.close()
    assert time.monotonic() - started < 25
    assert set(threading.enumerate()) <= before
    connection.close()


def test_delays_and_single_bytes():
    turns = [{"text": "hi", "delayMs": 200}, {"text": "hi", "pieceBytes": 1, "pieceDelayMs": 1}]
    with ScriptedModel(turns) as model:
        started = time.monotonic()
        assert openai(model).status == 200
        first = time.monotonic()
        said = openai(model)
        second = time.monotonic()
    assert first - started >= 0.2
    assert second - first >= 0.001 * len(said.body)


def test_any_bytes_at_all():
    turns = [
        {"raw": {"body": "<h1>no</h1>", "contentType": "text/html", "status": 502}},
        {"raw": {"body": "\udcff\x00", "headers": {"X-Own": "1"}}},
        {"raw": {"body": "x", "repeat": 20_000_000}},
        {"textChars": 1_000_000},
    ]
    with ScriptedModel(turns) as model:
        page, raw, large, long = (openai(model) for _ in turns)
    assert (page.status, page.headers["content-type"], page.body) == (
        502,
        "text/html",
        b"<h1>no</h1>",
    )
    assert (raw.body, raw.headers["x-own"]) == (b"\xff\x00", "1")
    assert len(large.body) == 20_000_000
    assert len(long.json["choices"][0]["message"]["content"]) == 1_000_000


def test_connections_are_kept_alive():
    with ScriptedModel(["one", "two"]) as model:
        connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=30)
        for wanted in (b"one", b"two"):
            connection.request("POST", "/v1/chat/completions", b'{"stream": true}')
            port = connection.sock.getsockname()
            assert wanted in connection.getresponse().read()
            assert connection.sock.getsockname() == port
        connection.close()


def test_a_chunked_request_is_read():
    with ScriptedModel(["hi"]) as model:
        connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=30)
        connection.request(
            "POST",
            "/v1/messages",
            iter([b'{"max_tokens"', b": 9}"]),
            encode_chunked=True,
            headers={"Transfer-Encoding": "chunked"},
        )
        assert connection.getresponse().status == 200
        connection.close()
    assert model.requests[0].body == {"max_tokens": 9}


def test_many_at_once_get_a_turn_each():
    texts = [f"turn {number}" for number in range(20)]
    said = []
    with ScriptedModel(texts) as model:
        threads = [
            threading.Thread(
                target=lambda: said.append(openai(model).json["choices"][0]["message"]["content"])
            )
            for _ in texts
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(said) == sorted(texts)


@pytest.mark.parametrize(
    ("turn", "named"),
    [
        ({"txt": "x"}, "turns.1.txt"),
        ({"toolCalls": [{}]}, "turns.1.toolCalls.0"),
        ({"drop": "somewhere"}, "turns.1.drop"),
        (7, "turns.1"),
    ],
)
def test_a_mistake_in_a_script_is_named_before_anything_is_served(turn, named):
    with pytest.raises(DefinitionError, match=named.replace(".", r"\.")):
        ScriptedModel(["fine", turn])


def test_an_unanswerable_call_can_be_written_in_python():
    call = ModelToolCall(name="a", arguments='{"x": NaN}')
    assert call.text() == '{"x": NaN}'


def test_a_request_that_violates_a_published_rule_is_rejected_and_takes_no_turn():
    call = {"id": "c", "type": "function", "function": {"name": "list files", "arguments": "{}"}}
    said = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    said.append({"role": "tool", "tool_call_id": "c", "content": ""})
    with ScriptedModel(["one"]) as model:
        refused = openai(model, messages=said)
        assert (refused.status, "list files" in refused.json["error"]["message"]) == (400, True)
        assert model.turns_left == 1
    lenient = ModelScript(turns=("one",), strict=False)
    with ScriptedModel(script=lenient) as model:
        assert openai(model, messages=said).status == 200
