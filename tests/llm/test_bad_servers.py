"""Whatever a server does, the caller gets one of the typed failures, soon, and with the cause."""

import contextlib
import json
import socket
import threading
import time
from typing import NamedTuple

import httpx
import pytest

from uwf_core.client import Cancel
from uwf_core.errors import (
    AuthRefused,
    BadRequest,
    ContextTooLong,
    EmptyReply,
    RateLimited,
    Refused,
    Stalled,
    TimedOut,
    TooLarge,
    Truncated,
    Unavailable,
)
from uwf_llm.address import read_address
from uwf_llm.exchange import BodyEnd, Deadline, ResponseHead
from uwf_llm.failures import ToolsUnsupported
from uwf_llm.limits import ChatLimits, Clock, RetryPolicy
from uwf_llm.service import HttpRequest, HttpResponse


class Case(NamedTuple):
    """What the server does, what the caller gets, a word of the message, how often it is asked."""

    turn: dict
    failure: type
    words: str
    requests: int = 1


def error(status, message="the words", **keys):
    return {"error": {"status": status, "message": message, **keys}}


def raw(body, status=200, kind="application/json", **keys):
    return {"raw": {"body": body, "status": status, "contentType": kind, **keys}}


def document(value, status=200):
    return raw(json.dumps(value), status)


def choice(message, **keys):
    said = {"message": message, "delta": message, "finish_reason": "stop", **keys}
    return document({"choices": [said]})


LONG = {"text": "x" * 400}
DEEP = "[" * 200_000

BOTH_WAYS = {
    "401": Case(error(401), AuthRefused, "the words"),
    "403": Case(error(403), AuthRefused, "the words"),
    "400 for a key": Case(error(400, "Incorrect API key provided"), AuthRefused, "key"),
    "402": Case(error(402, "Insufficient Balance"), AuthRefused, "credit"),
    "credit": Case(error(400, "Your credit balance is too low to access the API"),
                   AuthRefused, "credit"),
    "quota": Case(error(429, "You exceeded your current quota", code="insufficient_quota"),
                  AuthRefused, "quota"),
    "quota of a minute": Case(error(429, "You exceeded your current quota. Please retry in 9.5s."),
                              RateLimited, "retry in", 3),
    "429": Case(error(429), RateLimited, "the words", 3),
    "404 model": Case(error(404, "The model `x` does not exist"), BadRequest, "does not exist"),
    "404 page": Case(raw("<html>gone", 404, "text/html"), BadRequest, "404"),
    "400": Case(error(400, "messages.0 is odd"), BadRequest, "messages.0 is odd"),
    "422 detail": Case(document({"detail": "wrong type"}, 422), BadRequest, "wrong type"),
    "400 of plain text": Case(raw("bad words", 400, "text/plain"), BadRequest, "bad words"),
    "400 without a body": Case(raw("", 400), BadRequest, "400"),
    "redirect": Case(raw("", 307, headers={"Location": "http://evil.example/?k=1"}),
                     BadRequest, "evil.example"),
    "context, openai": Case(error(400, "maximum context length is 8192 tokens"), ContextTooLong,
                            "8192"),
    "context, code": Case(error(400, "no", code="context_length_exceeded"), ContextTooLong, "no"),
    "context, llama.cpp": Case(error(400, "the request exceeds the available context size"),
                               ContextTooLong, "context size"),
    "413": Case(error(413), ContextTooLong, "413"),
    "filtered": Case(error(400, "flagged", code="content_filter"), Refused, "flagged"),
    "moderated": Case(error(403, "Your input was flagged by moderation"), Refused, "moderation"),
    "no tools, ollama": Case(error(400, "llama2 does not support tools"), ToolsUnsupported,
                             "does not support tools"),
    "no tools, openrouter": Case(error(404, "No endpoints found that support tool use"),
                                 ToolsUnsupported, "tool use"),
    "no tools, vllm": Case(error(400, '"auto" tool choice requires --enable-auto-tool-choice'),
                           ToolsUnsupported, "enable-auto"),
    "500": Case(error(500), Unavailable, "the words", 3),
    "502 page": Case(raw("<html>Bad gateway", 502, "text/html"), Unavailable, "502", 3),
    "529": Case(error(529, "Overloaded"), Unavailable, "Overloaded", 3),
    "408": Case(error(408), TimedOut, "the words", 3),
    "501": Case(error(501, "streams are not done"), BadRequest, "not done"),
    "html with 200": Case(raw("<!doctype html><h1>Login", 200, "text/html"), Unavailable,
                          "web page"),
    "no json": Case(raw("{ nonsense"), Truncated, "not JSON", 3),
    "deep json": Case(raw(DEEP), Truncated, "not JSON", 3),
    "nothing with 200": Case(raw(""), Truncated, "ended before", 3),
    "another service": Case(document({"hello": "world"}), Unavailable, "something else"),
    "a list": Case(document([1, 2]), Unavailable, "something else"),
    "no choices": Case(document({"choices": []}), Unavailable, "something else"),
    "choices of nonsense": Case(document({"choices": ["x"]}), Unavailable, "something else"),
    "error with 200": Case(document({"error": {"code": 401, "message": "no"}}), AuthRefused, "no"),
    "overload with 200": Case(document({"error": {"message": "busy"}}), Unavailable, "busy", 3),
    "empty": Case(choice({"content": ""}), EmptyReply, "nothing"),
    "null": Case(choice({"content": None}), EmptyReply, "nothing"),
    "blank": Case(choice({"content": " \n"}), EmptyReply, "nothing"),
    "thought alone": Case(choice({"content": "", "reasoning": "hm"}), EmptyReply, "reasoning"),
    "types of nonsense": Case(choice({"content": 7, "tool_calls": "x", "reasoning": {}}),
                              EmptyReply, "nothing"),
    "all tokens thought away": Case(choice({"content": ""}, finish_reason="length"), Truncated,
                                    "all its tokens"),
    "refusal": Case(choice({"refusal": "I must not"}), Refused, "I must not"),
    "content filter": Case(choice({"content": "h"}, finish_reason="content_filter"), Refused,
                           "content_filter"),
    "20 MB": Case(raw("x", repeat=20_000_000), TooLarge, "larger"),
    "20 MB of an error": Case(raw("x", 400, "text/plain", repeat=20_000_000), BadRequest, "xxx"),
    "closed at once": Case({**LONG, "drop": "start"}, Unavailable, "broke", 3),
    "closed after the head": Case({**LONG, "drop": "headers"}, Truncated, "broke off", 3),
    "closed in the middle": Case({**LONG, "drop": "middle"}, Truncated, "broke off", 3),
    "reset in the middle": Case({**LONG, "drop": "reset"}, Truncated, "broke off", 3),
    "lying about compression": Case(raw("hello", headers={"Content-Encoding": "gzip"}), Truncated,
                                    "broke off", 3),
    "bytes of nonsense": Case(raw("\udcff\udcfe\x00"), Truncated, "ended before", 3),
    "garbage instead of HTTP": Case(raw("", headers={"Content-Length": "x"}), Unavailable, "", 3),
}  # fmt: skip

STREAMS = {
    "polite end in the middle": Case({**LONG, "drop": "quiet"}, Truncated, "ended before", 3),
    "empty stream": Case(raw("", kind="text/event-stream"), Truncated, "ended before", 3),
    "event of nonsense": Case(raw("data: {x\n\n", kind="text/event-stream"), Truncated, "JSON", 3),
    "page as a stream": Case(raw("<h1>no", kind="text/event-stream"), Unavailable, "web page"),
    "error in the stream": Case(
        raw('data: {"error": {"code": 429, "message": "slow"}}\n\n', kind="text/event-stream"),
        RateLimited, "slow", 3),
    "stop by error": Case(
        raw('data: {"choices": [{"delta": {}, "finish_reason": "error"}]}\n\n',
            kind="text/event-stream"), Unavailable, "error", 3),
    "done without a word": Case(raw("data: [DONE]\n\n", kind="text/event-stream"), Truncated,
                                "no end mark", 3),
    "20 MB of text": Case({"textChars": 20_000_000}, TooLarge, "larger"),
    "20 MB without a line": Case(raw("x", kind="text/event-stream", repeat=20_000_000), TooLarge,
                                 "larger"),
}  # fmt: skip


def fails(serve, question, case, on_delta=None):
    limits = ChatLimits(reply_bytes=4_000_000)
    turn = {**case.turn, "repeat": 9}
    server, client = serve(turn, retry=RetryPolicy(attempts=3), limits=limits)
    with pytest.raises(case.failure) as failed:
        client.chat(question, on_delta=on_delta)
    assert type(failed.value) is case.failure
    assert case.words in failed.value.message
    assert "http://127.0.0.1" in failed.value.message
    assert len(failed.value.message) < 2600
    assert len(server.requests) == case.requests


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_a_bad_answer_is_a_typed_failure(serve, question, name):
    fails(serve, question, BOTH_WAYS[name])


@pytest.mark.parametrize("name", [*STREAMS, *BOTH_WAYS])
def test_a_bad_answer_to_a_stream_is_a_typed_failure(serve, question, name):
    fails(serve, question, {**STREAMS, **BOTH_WAYS}[name], on_delta=lambda _: None)


def test_a_refused_connection_is_told_at_once(connect, question, hasty):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and not listening
        client = connect(f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        with pytest.raises(Unavailable, match="connection refused"):
            client.chat(question)
    assert hasty.waits == []


def test_a_host_that_does_not_exist_is_named(connect, question):
    client = connect("http://no-such-host.invalid/v1")
    with pytest.raises(Unavailable, match=r"no-such-host\.invalid") as failed:
        client.chat(question)
    assert failed.value.hint


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(serve, question, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    _, client = serve("hi")
    assert client.chat(question).text == "hi"


@pytest.mark.parametrize("place", ["start", "headers", "middle"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_server_that_hangs_is_left_when_the_time_is_over(serve, question, place, stream):
    _, client = serve({**LONG, "hang": place}, limits=ChatLimits(total_seconds=0.15))
    with pytest.raises(TimedOut, match=r"0\.15 s"):
        client.chat(question, on_delta=(lambda _: None) if stream else None)


@pytest.mark.parametrize("head", [[], [ResponseHead(200, {})]])
def test_a_time_that_httpx_finds_over_first_is_over_all_the_same(head):
    """It has the same limit, and on a busy machine it may be the first to notice."""

    class Late(Clock):
        now = 0.0

        def monotonic(self):
            return self.now

    class LateExchange:
        def take(self, seconds):
            if head:
                return head.pop()
            clock.now = 1.0
            return BodyEnd(httpx.ReadTimeout("the time is over"))

    clock = Late()
    deadline = Deadline(0.3, Cancel(), clock, "here")
    address = read_address("http://127.0.0.1/v1")
    with pytest.raises(TimedOut, match=r"0\.3 s"):
        HttpResponse(LateExchange(), HttpRequest("GET", "/"), deadline, address).whole()


def test_a_stream_that_falls_silent_is_stalled(serve, question):
    _, client = serve({**LONG, "hang": "middle"}, limits=ChatLimits(idle_seconds=0.2))
    with pytest.raises(Stalled, match=r"0\.2 s"):
        client.chat(question, on_delta=lambda _: None)


def test_an_answer_that_is_not_streamed_may_be_silent(serve, question):
    """A model that thinks for minutes says nothing until it is done."""
    _, client = serve({"text": "hi", "delayMs": 150}, limits=ChatLimits(idle_seconds=0.05))
    assert client.chat(question).text == "hi"


def test_byte_by_byte_is_slow_but_no_silence(serve, question):
    slow = {"text": "slow", "pieceBytes": 2, "pieceDelayMs": 1}
    _, client = serve(slow, slow, limits=ChatLimits(idle_seconds=10))
    assert client.chat(question, on_delta=lambda _: None).text == "slow"
    assert client.chat(question).text == "slow"


def test_byte_by_byte_does_not_outlast_the_limit(serve, question):
    slow = {"textChars": 100_000, "pieceBytes": 1, "pieceDelayMs": 5}
    _, client = serve(slow, limits=ChatLimits(total_seconds=0.4))
    with pytest.raises(TimedOut):
        client.chat(question, on_delta=lambda _: None)


def test_a_shorter_limit_for_one_call(serve, question):
    _, client = serve({"hang": "start"})
    with pytest.raises(TimedOut, match=r"0\.2 s"):
        client.chat(question, seconds=0.2)


@pytest.fixture
def junk():
    """A server that answers every connection with bytes of ours; after a last word it hangs."""
    listener = socket.create_server(("127.0.0.1", 0))
    answers = []

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                with contextlib.suppress(OSError):  # the client may have had enough
                    connection.sendall(answers[0])
                    if b"[DONE]" in answers[0]:
                        connection.recv(65536)

    thread = threading.Thread(target=serve)
    thread.start()
    yield answers, f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46",
        b"HTTP/1.1 2000 What\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 300_000 + b"\r\n\r\n",
        b"\x00" * 100_000,
    ],
    ids=["nothing", "ssh", "tls", "status", "length", "header", "zeros"],
)
def test_what_is_no_http_is_unavailable(junk, connect, question, answer):
    answers, url = junk
    answers.append(answer)
    with pytest.raises(Unavailable, match="the connection broke off"):
        connect(url, retry=RetryPolicy(attempts=2)).chat(question)


def test_a_plain_server_at_an_https_address(junk, connect, question):
    answers, url = junk
    answers.append(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(Unavailable):
        connect(url.replace("http:", "https:"), retry=RetryPolicy(attempts=1)).chat(question)


def http_of(body, status="200 OK", kind="application/json"):
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def test_a_server_that_hangs_after_its_last_word_costs_no_wait(junk, connect, question):
    answers, url = junk
    events = b'data: {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}\n\n'
    events += b"data: [DONE]\n\n"
    answers.append(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + events)
    started = time.monotonic()
    assert connect(url).chat(question, on_delta=lambda _: None).text == "hi"
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (http_of(b'{"error": {"message": "no"}}', "401 No"), AuthRefused),
        (http_of(b"<html>", kind="text/html"), Unavailable),
        (http_of(b"{"), Truncated),
        (http_of(b'{"data": 7}'), Unavailable),
        (http_of(b"", "404 Not Found"), BadRequest),
    ],
    ids=["key", "page", "nonsense", "shape", "nothing"],
)
def test_the_list_of_models_fails_with_the_same_types(junk, connect, answer, failure):
    answers, url = junk
    answers.append(answer)
    with pytest.raises(failure):
        connect(url, retry=RetryPolicy(attempts=1)).list_models()
