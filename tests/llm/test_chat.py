import dataclasses
import http.server
import json
import threading

import pytest

from uwf_core.api.agent import ToolCall, Usage
from uwf_core.api.models import Model
from uwf_core.config.providers import PRESETS
from uwf_core.errors import AuthRefused, BadRequest
from uwf_llm.chat import ChatRequest, Message
from uwf_llm.client import ChatClient
from uwf_llm.openai_chat.reply import COUNTS
from uwf_llm.reply import usage_of

CALLS = {
    "text": "Let me look.",
    "reasoning": "The file comes first.",
    "toolCalls": [
        {"name": "read_file", "arguments": {"path": "ä"}, "id": "a"},
        {"name": "grep", "arguments": "{cut", "id": "b"},
    ],
    "usage": {"inputTokens": 20, "outputTokens": 5, "cacheReadTokens": 80},
}


END = {"index": 0, "delta": {}, "finish_reason": "stop"}


def chunk(**delta):
    return {"choices": [{"index": 0, "delta": delta}]}


def stream_of(*documents, done=True):
    """A raw answer of these events."""
    lines = [json.dumps(document) for document in documents] + ["[DONE]"] * done
    body = "".join(f"data: {line}\n\n" for line in lines)
    return {"raw": {"contentType": "text/event-stream", "body": body}}


def whole(message, **choice):
    body = json.dumps({"choices": [{"message": message, "finish_reason": "stop", **choice}]})
    return {"raw": {"body": body}}


@pytest.fixture(params=["whole", "stream"])
def ask(request):
    """`chat`, both ways."""
    listener = (lambda _delta: None) if request.param == "stream" else None
    return lambda client, question: client.chat(question, on_delta=listener)


def test_text_reasoning_calls_and_usage(serve, question, ask):
    _, client = serve(CALLS)
    reply = ask(client, question)
    assert reply.text == "Let me look."
    assert reply.reasoning == "The file comes first."
    assert reply.tool_calls == (
        ToolCall(id="a", name="read_file", arguments='{"path": "ä"}'),
        ToolCall(id="b", name="grep", arguments="{cut"),
    )
    assert reply.stop_reason == "tool_calls"
    assert reply.model == "model-1"
    assert reply.attempts == 1
    assert dataclasses.replace(reply.usage, duration_ms=None) == Usage(
        turns=1, input_tokens=20, output_tokens=5, cache_read_tokens=80
    )
    assert reply.usage.duration_ms is not None


def test_a_reply_is_the_message_to_go_on_with(serve, question, tool, ask):
    server, client = serve(CALLS, "done")
    reply = ask(client, question)
    results = tuple(
        Message(role="tool", text="found", tool_call_id=call.id) for call in reply.tool_calls
    )
    messages = (*question.messages, reply.message, *results)
    assert ask(client, ChatRequest(messages=messages, tools=(tool,))).text == "done"
    roles = [message["role"] for message in server.requests[1].messages]
    assert roles == ["user", "assistant", "tool", "tool"]


def test_the_key_is_sent_as_bearer_and_without_the_newline_of_a_file(connect, serve, question):
    server, client = serve("hi", key="sk-with-newline\n")
    client.chat(question)
    assert server.requests[0].key == "sk-with-newline"


def test_without_a_key_none_is_sent(serve, question):
    server, client = serve("hi", key=None)
    client.chat(question)
    assert "authorization" not in server.requests[0].headers


def test_further_headers_are_sent(serve, question):
    server, client = serve("hi", headers={"X-Title": "uwf"})
    client.chat(question)
    assert server.requests[0].headers["x-title"] == "uwf"


def test_deltas_add_up_to_the_reply(serve, question):
    _, client = serve({**CALLS, "text": "long " * 500})
    deltas = []
    reply = client.chat(question, on_delta=deltas.append)
    for kind, wanted in (("text", reply.text), ("reasoning", reply.reasoning)):
        assert "".join(d.text for d in deltas if d.kind == kind) == wanted
    for index, call in enumerate(reply.tool_calls):
        mine = [d for d in deltas if d.kind == "tool_call" and d.index == index]
        assert "".join(delta.text for delta in mine) == call.arguments
        assert {(delta.id, delta.name) for delta in mine} == {(call.id, call.name)}
    assert sum(delta.kind == "text" for delta in deltas) > 10


def test_deltas_come_in_the_thread_of_the_caller(serve, question):
    _, client = serve("hi")
    threads = set()
    client.chat(question, on_delta=lambda _: threads.add(threading.current_thread()))
    assert threads == {threading.current_thread()}


def test_a_fault_of_the_listener_is_raised_and_the_client_works_on(serve, question):
    _, client = serve("one", "two")
    with pytest.raises(ZeroDivisionError):
        client.chat(question, on_delta=lambda _: 1 / 0)
    assert client.chat(question).text == "two"


def test_parallel_calls_that_are_interleaved(serve, question):
    events = [
        chunk(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]),
        chunk(tool_calls=[{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{"}}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": "{}"}}]),
        chunk(tool_calls=[{"index": 1, "function": {"arguments": "}"}}]),
    ]
    _, client = serve(stream_of(*events, {"choices": [END]}))
    calls = client.chat(question, on_delta=lambda _: None).tool_calls
    assert [(c.id, c.name, c.arguments) for c in calls] == [("a", "f", "{}"), ("b", "g", "{}")]


@pytest.mark.parametrize(
    "deltas",
    [
        # all calls numbered 0, whole in one piece each
        [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}},
         {"index": 0, "id": "b", "function": {"name": "g", "arguments": "{}"}}],
        # no number at all
        [{"id": "a", "function": {"name": "f", "arguments": "{"}},
         {"id": "a", "function": {"arguments": "}"}},
         {"id": "b", "function": {"name": "g", "arguments": "{}"}}],
        # the name and the id with every piece
        [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}},
         {"index": 0, "id": "a", "function": {"name": "f", "arguments": "}"}},
         {"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}],
        # arguments as a mapping
        [{"index": 0, "id": "a", "function": {"name": "f", "arguments": {}}},
         {"index": 1, "id": "b", "function": {"name": "g", "arguments": {}}}],
    ],
    ids=["all-zero", "no-index", "repeated-name", "mappings"],
)  # fmt: skip
def test_calls_as_services_bend_them(serve, question, deltas):
    _, client = serve(
        stream_of(*(chunk(tool_calls=[delta]) for delta in deltas), {"choices": [END]})
    )
    calls = client.chat(question, on_delta=lambda _: None).tool_calls
    assert [(c.id, c.name, c.arguments) for c in calls] == [("a", "f", "{}"), ("b", "g", "{}")]


def test_every_call_has_an_id_of_its_own(serve, question, ask):
    calls = [{"id": "x", "function": {"name": "f"}}, {"id": "x", "function": {"name": "g"}}]
    calls.append({"function": {"name": "h"}})
    message = {"tool_calls": [{**call, "index": n} for n, call in enumerate(calls)]}
    _, client = serve(whole(message), whole(message))
    replies = [ask(client, question) for _ in range(2)]
    ids = [call.id for call in replies[0].tool_calls]
    assert len(set(ids)) == 3
    assert all(ids)


def test_fifty_calls_at_once_come_in_order(serve, question, ask):
    calls = [{"name": f"tool_{n}", "arguments": {"n": n}} for n in range(50)]
    _, client = serve({"toolCalls": calls})
    names = [call.name for call in ask(client, question).tool_calls]
    assert names == [f"tool_{n}" for n in range(50)]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_by_either_name(serve, question, ask, name):
    _, client = serve(whole({"content": "x", name: "so"}))
    assert ask(client, question).reasoning == "so"


GEMINI = {"google": {"thought_signature": "c2ln"}}


def test_thought_signatures_and_reasoning_go_back_as_they_came(serve, question, tool, ask):
    details = [{"type": "reasoning.encrypted", "data": "…", "index": 0}]
    call = {"name": "read_file", "arguments": {}, "extra": {"extra_content": GEMINI}}
    turn = {
        "reasoning": "The file comes first.",
        "toolCalls": [call, {"name": "grep", "arguments": {}}],
        "extra": {"reasoning_details": details},
    }
    server, client = serve(turn, "done")
    reply = ask(client, question)
    results = tuple(
        Message(role="tool", text="found", tool_call_id=each.id) for each in reply.tool_calls
    )
    ask(client, ChatRequest(messages=(*question.messages, reply.message, *results), tools=(tool,)))
    back = server.requests[1].messages[1]
    assert back["reasoning_content"] == "The file comes first."
    assert back["reasoning_details"] == details
    assert [each.get("extra_content") for each in back["tool_calls"]] == [GEMINI, None]
    assert "index" not in back["tool_calls"][0]


def test_blocks_of_reasoning_are_put_together_from_their_pieces(serve, question):
    def block(text, **more):
        return chunk(reasoning_details=[{"type": "reasoning.text", "text": text, **more}])

    pieces = [block("a", index=0), block("b", index=0), block(None, index=0, signature="s")]
    stream = stream_of(*pieces, block("c", index=1), chunk(content="x"), {"choices": [END]})
    _, client = serve(stream)
    extra = client.chat(question, on_delta=lambda _: None).extra
    assert extra["reasoning_details"] == [
        {"type": "reasoning.text", "text": "ab", "index": 0, "signature": "s"},
        {"type": "reasoning.text", "text": "c", "index": 1},
    ]


@pytest.mark.parametrize("value", ["NaN", '["x", {"type": []}, {"type": "thinking"}]', '{"a": 1}'])
def test_odd_extra_of_a_service_spoils_no_reply(serve, question, value):
    body = whole({"content": "x", "reasoning_details": "@"})["raw"]["body"].replace('"@"', value)
    _, client = serve({"raw": {"body": body}}, "y")
    reply = client.chat(question)
    messages = (*question.messages, reply.message, *question.messages)
    assert client.chat(ChatRequest(messages=messages)).text == "y"


def test_a_thought_within_the_text_is_kept_apart(serve, question, ask):
    _, client = serve("<think>so then</think>\n---\n$status: done\n---\n")
    reply = ask(client, question)
    assert reply.text.startswith("---\n")
    assert reply.reasoning == "so then"


def test_text_in_parts(serve, question):
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    _, client = serve(whole({"content": parts}))
    assert client.chat(question).text == "ab"


def test_a_stream_without_its_last_word_is_whole_once_the_model_has_stopped(serve, question):
    """Some servers leave [DONE] out, others the usage."""
    events = [chunk(content="hi"), {"choices": [{"delta": {}, "finish_reason": "stop"}]}]
    _, client = serve(stream_of(*events, done=False))
    reply = client.chat(question, on_delta=lambda _: None)
    assert (reply.text, reply.usage.input_tokens) == ("hi", None)


def test_a_service_that_does_not_stream_is_understood(serve, question):
    _, client = serve(whole({"content": "hi"}, finish_reason="stop"))
    assert client.chat(question, on_delta=lambda _: None).text == "hi"


def test_comments_and_empty_chunks_are_passed_over(serve, question):
    body = ": PROCESSING\n\ndata: {}\n\ndata: []\n\ndata: " + json.dumps(chunk(content="hi"))
    body += f"\n\ndata: {json.dumps({'choices': [END]})}"
    turn = {"raw": {"contentType": "text/event-stream", "body": body + "\n\ndata: [DONE]\n\n"}}
    _, client = serve(turn)
    assert client.chat(question, on_delta=lambda _: None).text == "hi"


def test_an_answer_cut_by_its_own_limit_says_so(serve, question, ask):
    _, client = serve({"text": "half", "stopReason": "length"})
    reply = ask(client, question)
    assert (reply.text, reply.stop_reason) == ("half", "length")


def test_the_connection_is_kept_for_the_next_call(serve, question, monkeypatch):
    server, client = serve("one", "two", "three")
    accepted = []
    taken = server._server.get_request
    monkeypatch.setattr(server._server, "get_request", lambda: accepted.append(1) or taken())
    client.chat(question)
    client.chat(question, on_delta=lambda _: None)
    client.chat(question)
    assert len(accepted) == 1


def test_many_threads_may_share_a_client(serve, question):
    texts = {f"turn {number}" for number in range(12)}
    _, client = serve(*texts)
    said = []
    threads = [
        threading.Thread(target=lambda: said.append(client.chat(question).text)) for _ in texts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(said) == texts


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (None, (None, None, None)),
        ([], (None, None, None)),
        ({"prompt_tokens": 7, "completion_tokens": 2}, (7, None, 2)),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 64},
            },
            (36, 64, 2),
        ),
        (
            {"prompt_tokens": 100, "prompt_cache_hit_tokens": 90, "completion_tokens": 0},
            (10, 90, 0),
        ),
        ({"prompt_tokens": 100, "cached_tokens": 1, "completion_tokens": 2}, (99, 1, 2)),
        ({"prompt_tokens": "7", "completion_tokens": -2}, (None, None, None)),
        ({"prompt_tokens": 10**4000, "completion_tokens": 2**53}, (None, None, None)),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}}, (0, 9, None)),
        ({"prompt_tokens": 5, "prompt_tokens_details": None}, (5, None, None)),
    ],
)
def test_usage_without_the_cached_tokens_and_unknown_is_none(said, wanted):
    usage = usage_of(said, COUNTS)
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == wanted


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"data": [{"id": "a"}, {"id": "b"}]}, ["a", "b"]),
        ({"models": [{"name": "llama"}]}, ["llama"]),
        ([{"id": "a"}], ["a"]),
        ({"data": []}, []),
    ],
)
def test_the_models_of_a_service(connect, body, names):
    class Listing(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Listing) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        client = connect(f"http://127.0.0.1:{server.server_port}/v1")
        assert client.list_models() == names
        thread.join()


def test_the_models_of_the_scripted_server(serve):
    server, client = serve()
    assert client.list_models() == ["scripted-model"]
    assert server.requests[0].path == "/v1/models"


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_an_address_to_send_to(preset):
    model = Model(alias="a", name="n", provider=preset, base_url=PRESETS[preset].base_url)
    ChatClient(model).close()


@pytest.mark.parametrize("tail", ["", "/", "/chat/completions", "/chat/completions/", "  "])
def test_an_address_as_people_write_it(serve, connect, question, tail):
    server, _ = serve("hi")
    assert connect(server.openai_url + tail).chat(question).text == "hi"
    assert server.requests[0].path == "/v1/chat/completions"


def test_a_query_of_the_address_stays_at_the_end(serve, connect, question):
    server, _ = serve("hi")
    connect(server.openai_url + "/?api-version=1").chat(question)
    assert server.requests[0].path == "/v1/chat/completions?api-version=1"


@pytest.mark.parametrize(
    "url", ["", "api.example.com/v1", "ftp://a/v1", "http://", "http://[::1", "http://a\x00b/"]
)
def test_what_is_no_address_is_said_at_once(connect, url):
    with pytest.raises(BadRequest, match="baseUrl"):
        connect(url)


@pytest.mark.parametrize("key", ["sk-ключ-12345678", "sk-a\r\nX-Evil: 1", "sk-\x0012345678"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(connect, key):
    with pytest.raises(AuthRefused) as refused:
        connect("http://127.0.0.1:1/v1", key=key)
    assert "sk-" not in f"{refused.value!r} {refused.value.hint}"
