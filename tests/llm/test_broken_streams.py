"""Recorded replies of four protocols, cut at every byte and broken by every form of error at every
event: what has no end mark is never a reply, and an error is the failure that its words mean.
"""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_wires import ASKED, TURN, WIRES, model_at
from uwf_core.api.models import Model
from uwf_core.errors import (
    AgentFailure,
    AuthRefused,
    BadRequest,
    ContextTooLong,
    RateLimited,
    Truncated,
    Unavailable,
)
from uwf_llm.client import ChatClient
from uwf_llm.failures import RequestFailed
from uwf_llm.plugin import protocol_of
from uwf_llm.reception import Reception
from uwf_llm.reply import ReplyBuilder
from uwf_llm.sse import SseParser
from uwf_testing.model_server import ScriptedModel

END_MARKS = {
    "openai-chat": '"finish_reason": "tool_calls"',
    "openai-responses": '"type": "response.completed"',
    "anthropic": '"type": "message_stop"',
    "gemini": '"finishReason"',
}


class Bytes:
    """A response whose body is these bytes."""

    def __init__(self, body, size=64):
        self.body, self.size = body, size

    def pieces(self):
        for start in range(0, len(self.body), self.size):
            yield self.body[start : start + self.size]

    def settle(self):
        """Nothing follows."""

    def hurry(self, seconds):
        """Nothing waits."""


def received(protocol, body, end_mark="protocol"):
    """The reply that a body is, or its failure."""
    model = Model(alias="m", name="m", provider="p", base_url="http://h/v1", protocol=protocol)
    builder = ReplyBuilder("http://h/v1")
    reader = protocol_of(model)(model, "s").reader(ASKED, builder)
    try:
        done = end_mark == "done"
        Reception(Bytes(body), reader, builder, done, "p", protocol).read()
        return reader.finish()
    except RequestFailed as failed:
        assert isinstance(failed.failure, AgentFailure)
        return failed


@pytest.fixture(params=list(WIRES), scope="module")
def protocol(request):
    return request.param


def recorded(protocol, *, stream):
    import httpx

    with ScriptedModel([TURN]) as server:
        model = model_at(server, protocol)
        with ChatClient(model) as client:
            path, body = client._protocol.request(ASKED, stream=stream)
            return httpx.post(client._service.address.endpoint(path), content=body).content


@pytest.fixture(scope="module")
def streamed(protocol):
    return recorded(protocol, stream=True)


@pytest.fixture(scope="module")
def whole(protocol):
    return recorded(protocol, stream=False)


def ended_at(protocol, body):
    """Where the line with the end mark ends."""
    mark = body.index(END_MARKS[protocol].encode())
    return body.index(b"\n", mark)


def test_a_stream_that_is_cut_anywhere_before_its_end_mark_is_cut(protocol, streamed):
    end = ended_at(protocol, streamed)
    for size in range(end):
        got = received(protocol, streamed[:size])
        if isinstance(got, RequestFailed):
            assert isinstance(got.failure, Truncated)
            assert got.retryable
        else:  # the last line is whole, only without its line end
            assert len(got.tool_calls) == 2
            assert size >= end - 1
    assert len(received(protocol, streamed[: end + 1]).tool_calls) == 2


def test_the_end_of_the_connection_is_not_the_end_of_a_reply(protocol, streamed):
    begin = streamed.rindex(b"\n\n", 0, ended_at(protocol, streamed)) + 2
    cut = streamed[:begin] + b"data: [DONE]\n\n"
    got = received(protocol, cut)
    assert isinstance(got.failure, Truncated)
    assert got.retryable
    assert "endMark done" in got.failure.hint
    assert len(received(protocol, cut, end_mark="done").tool_calls) == 2


@pytest.mark.parametrize("words", [b"upstream connect error", b"Internal Server Error"])
def test_words_that_are_no_event_are_in_the_message(protocol, streamed, words):
    begin = streamed.rindex(b"\n\n", 0, ended_at(protocol, streamed)) + 2
    got = received(protocol, streamed[:begin] + words + b"\n")
    assert words.decode() in got.failure.message


def test_a_document_that_is_cut_anywhere_is_cut(protocol, whole):
    for size in range(1, len(whole)):
        got = received(protocol, whole[:size])
        assert isinstance(got.failure, Truncated), size
    assert len(received(protocol, whole).tool_calls) == 2


WITHOUT_END = {
    "openai-chat": lambda document: document["choices"][0].pop("finish_reason"),
    "openai-responses": lambda document: document.update(status="in_progress"),
    "anthropic": lambda document: document.update(stop_reason=None),
    "gemini": lambda document: document["candidates"][0].pop("finishReason"),
}


def test_a_document_without_its_end_mark_is_cut(protocol, whole):
    document = json.loads(whole)
    WITHOUT_END[protocol](document)
    got = received(protocol, json.dumps(document).encode())
    assert isinstance(got.failure, Truncated)
    assert "endMark done" in got.failure.hint
    body = json.dumps(document).encode()
    assert len(received(protocol, body, end_mark="done").tool_calls) == 2


MEANINGS = {
    "context": ({"message": "the request exceeds the available context size", "code": 400,
                 "type": "exceed_context_size_error"}, ContextTooLong),
    "context without a code": ({"message": "maximum context length is 4096 tokens"},
                               ContextTooLong),
    "limit": ({"message": "slow down, sevenfold", "type": "rate_limit_error"}, RateLimited),
    "limit by number": ({"message": "slower, please", "code": "429"}, RateLimited),
    "limit of Google": ({"message": "wait", "status": "RESOURCE_EXHAUSTED"}, RateLimited),
    "key": ({"message": "Invalid API key provided: sevenfold", "type": "authentication_error"},
            AuthRefused),
    "credit": ({"message": "no more", "code": "insufficient_quota"}, AuthRefused),
    "overload": ({"message": "sevenfold busy", "type": "overloaded_error"}, Unavailable),
    "upstream": ({"message": "upstream closed", "code": 502}, Unavailable),
    "rejected": ({"message": "messages.3 is odd", "type": "invalid_request_error"}, BadRequest),
}  # fmt: skip


def chunk(error):
    """An error inside a chunk of a reply."""
    return {"id": "c", "choices": [{"index": 0, "delta": {"content": ""}, "error": error,
                                    "finish_reason": "error"}]}  # fmt: skip


def line(field, document):
    return f"{field}: {json.dumps(document)}\n\n".encode()


FORMS = {
    "event": lambda error: b"event: error\n" + line("data", error),
    "event, wrapped": lambda error: b"event: error\n" + line("data", {"error": error}),
    "event of another name": lambda error: b"event: response.error\n" + line("data", error),
    "field": lambda error: line("error", error),
    "field, wrapped": lambda error: line("error", {"error": error}),
    "key": lambda error: line("data", {"error": error}),
    "type": lambda error: line("data", {"type": "error", "error": error}),
    "flat type": lambda error: line("data", {**error, "type": "error"}),
    "object": lambda error: line("data", {"object": "error", **error}),
    "list": lambda error: line("data", [{"error": error}]),
    "in a chunk": lambda error: line("data", chunk(error)),
    "in a delta": lambda error: line("data", {"choices": [{"delta": {"error": error}}]}),
    "beside a chunk": lambda error: line("data", {**chunk(None), "error": error}),
    "bare": lambda error: json.dumps({"error": error}).encode() + b"\n\n",
    "bare, in lines": lambda error: json.dumps({"error": error}, indent=1).encode() + b"\n\n",
    "alone": lambda error: line("data", error),
}  # fmt: skip
SAYING_LITTLE = {"flat type": ("limit", "key", "overload", "rejected")}
"""Forms that have no room for the codes of some meanings."""


def boundaries(protocol, body):
    """Each place between two events before the end mark."""
    end, at = ended_at(protocol, body), 0
    while (found := body.find(b"\n\n", at)) >= 0 and found < end:
        at = found + 2
        yield at


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("meaning", MEANINGS)
def test_an_error_in_any_form_at_any_event_is_the_failure_of_its_words(
    protocol, streamed, form, meaning
):
    error, kind = MEANINGS[meaning]
    if meaning in SAYING_LITTLE.get(form, ()):
        pytest.skip("this form has no room for the code")
    places = [*boundaries(protocol, streamed)]
    for at in (*places[:3], *places[-2:]):
        for rest in (b"", b"data: [DONE]\n\n", streamed[at:]):
            got = received(protocol, streamed[:at] + FORMS[form](error) + rest)
            assert isinstance(got, RequestFailed), (at, rest)
            assert type(got.failure) is kind, got.failure
            assert error["message"] in got.failure.message
            assert got.retryable == (kind in (RateLimited, Unavailable))


@pytest.mark.parametrize("name", ["error", "response.error"])
@pytest.mark.parametrize(
    "said", ["upstream closed", '"upstream closed"', '{"why": "upstream closed"}']
)
def test_an_event_named_error_is_one_whatever_its_data(protocol, streamed, name, said):
    for at in boundaries(protocol, streamed):
        event = f"event: {name}\ndata: {said}\n\n".encode()
        got = received(protocol, streamed[:at] + event + streamed[at:])
        assert isinstance(got, RequestFailed), at
        assert "upstream closed" in got.failure.message


@pytest.mark.parametrize("meaning", MEANINGS)
def test_an_error_with_status_200_is_the_failure_of_its_words(protocol, meaning):
    error, kind = MEANINGS[meaning]
    forms = [{"error": error}, {"type": "error", "error": error}, [{"error": error}]]
    forms += [error, {"error": error, "choices": None}, {"object": "error", **error}]
    for document in forms:
        for after in (b"", b"\n\ndata: [DONE]\n\n"):
            got = received(protocol, json.dumps(document).encode() + after)
            assert type(got.failure) is kind, got.failure
            assert error["message"] in got.failure.message


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"error": "flat words"}, "flat words"),
        ({"detail": "not here"}, "not here"),
        ({"base_resp": {"status_code": 1008, "status_msg": "no balance"}}, "no balance"),
        ({"success": False, "errors": [{"code": 7, "message": "of a gateway"}]}, "of a gateway"),
        ({"errors": ["of a list"]}, "of a list"),
        ({"fault": {"faultstring": "of a proxy"}}, "of a proxy"),
        ({"code": 1113, "msg": "of GLM", "success": False}, "of GLM"),
        ({"message": "bad gateway", "error": {"metadata": 1}}, "bad gateway"),
        ({"success": False, "data": None, "msg": "beside nothing"}, "beside nothing"),
        ({"choices": [], "code": 50001, "message": "of a worker"}, "of a worker"),
        ({"output": None, "code": "Invalid", "message": "of DashScope"}, "of DashScope"),
        ({"type": "about:blank", "status": 429, "detail": "by RFC 9457"}, "by RFC 9457"),
    ],
)
def test_an_error_of_another_house_has_its_words(protocol, document, words):
    for body in (json.dumps(document).encode(), line("data", document)):
        got = received(protocol, body)
        assert words in got.failure.message


@pytest.mark.parametrize(
    "words",
    [
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "Prompt exceeds max length",
        "prompt token count of 130000 exceeds the limit of 128000",
        "`inputs` tokens + `max_new_tokens` must be <= 4096",
        "maximum context length is 4096 tokens",
    ],
)
def test_a_full_context_is_known_by_the_words_of_each_service(protocol, streamed, words):
    begin = next(boundaries(protocol, streamed))
    said = json.dumps({"error": {"message": words}})
    for event in (f"data: {said}", f"data: {words}", f'data: "{words}"', words):
        for body in (event.encode(), streamed[:begin] + event.encode()):
            got = received(protocol, body)
            assert isinstance(got.failure, ContextTooLong), event
            assert words in got.failure.message


def test_the_words_of_an_error_may_follow_the_reason_that_announces_it():
    reason = {"choices": [{"delta": {"content": "half"}, "finish_reason": "error"}]}
    body = line("data", reason) + line("data", {"error": {"message": "the provider fell"}})
    assert "the provider fell" in received("openai-chat", body).failure.message


@pytest.mark.parametrize("name", ["failed", "cancelled"])
def test_a_response_that_failed_is_an_error(name, streamed_responses):
    begin = streamed_responses.rindex(b"event: response.completed")
    error = {"code": "rate_limit_exceeded", "message": "try later"}
    event = {"type": f"response.{name}", "response": {"status": name, "error": error}}
    got = received("openai-responses", streamed_responses[:begin] + line("data", event))
    assert isinstance(got.failure, RateLimited)
    assert "try later" in got.failure.message


@pytest.fixture(scope="module")
def streamed_responses():
    return recorded("openai-responses", stream=True)


@given(pad=st.text("\r\n \t", max_size=5), bom=st.booleans(), size=st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_the_first_bytes_decide_what_a_body_is(pad, bom, size):
    for protocol in WIRES:
        for body in RECORDED[protocol]:
            mark = b"\xef\xbb\xbf" if bom else b""
            padding = b"" if body[:1] != b"{" else pad.encode()
            got = received(protocol, mark + padding + body)
            assert len(got.tool_calls) == 2


RECORDED = {
    protocol: [recorded(protocol, stream=stream) for stream in (True, False)] for protocol in WIRES
}


@pytest.mark.parametrize(
    "label", ["application/json", "text/event-stream", "text/html", "text/plain", "", "x"]
)
@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("sent", [True, False])
def test_a_whole_reply_is_requested_once_whatever_its_label(protocol, label, asked, sent):
    body = RECORDED[protocol][0 if sent else 1].decode()
    raw = {"raw": {"body": body, "contentType": label}, "repeat": 5}
    with ScriptedModel([raw]) as server, ChatClient(model_at(server, protocol)) as client:
        reply = client.chat(ASKED, on_delta=(lambda _: None) if asked else None)
        assert len(reply.tool_calls) == 2
        assert len(server.requests) == 1


def test_events_of_a_list_are_a_reply(protocol):
    """Gemini's stream without `alt=sse`, and what gateways make of it."""
    parser = SseParser()
    data = [each.data for each in parser.feed(RECORDED[protocol][0]) if each.data != "[DONE]"]
    got = received(protocol, f"[{','.join(data)}]".encode())
    assert len(got.tool_calls) == 2
    assert isinstance(received(protocol, f"[{data[0]}]".encode()).failure, Truncated)


@pytest.mark.parametrize("between", ["\n", "\r\n\r\n", " "])
@pytest.mark.parametrize("after", ["", "\n[DONE]", "\n\ndata: [DONE]\n\n"])
def test_documents_in_a_row_are_the_events_of_a_reply(protocol, between, after):
    """A stream whose `data:` a proxy took away, and a document with the end mark of a stream."""
    parser = SseParser()
    data = [each.data for each in parser.feed(RECORDED[protocol][0]) if each.data != "[DONE]"]
    for documents in (data, [RECORDED[protocol][1].decode()]):
        got = received(protocol, (between.join(documents) + after).encode())
        assert len(got.tool_calls) == 2
    cut = received(protocol, (between.join(data[:2]) + after).encode())
    assert isinstance(cut.failure, Truncated)
