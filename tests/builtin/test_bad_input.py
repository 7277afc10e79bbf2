"""Whatever a service sends: the call goes on, or ends with a failure of the closed table and with
its session; and nothing is done that was not asked for.
"""

import pytest
from builtin_kit import DONE, turn, use

from uwf_core.api import (
    AgentFailure,
    AuthRefused,
    BadRequest,
    TooLarge,
    Truncated,
    Unavailable,
)

LARGE = 20_000_000


def test_an_answer_that_comes_byte_by_byte_is_an_answer_and_its_calls_are_done(desk):
    slow = {"pieceBytes": 1}
    reply = desk.run(turn(use("write_file", path="a", content="b"), **slow), {"text": DONE, **slow})
    assert reply.text == DONE
    assert (desk.work / "a").read_text() == "b"


@pytest.mark.parametrize("drop", ["start", "headers", "middle", "reset", "quiet"])
def test_an_answer_that_is_cut_is_asked_for_again_and_nothing_of_it_is_done(desk, drop):
    write = turn(use("write_file", path="a", content="x" * 400), drop=drop)
    assert desk.run(write, DONE, options={"max_attempts": 2}).text == DONE
    assert not (desk.work / "a").exists()


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_that_is_cut_each_time_is_truncated(desk, stream):
    server = desk.model({"text": "x" * 400, "drop": "middle"})
    with pytest.raises(Truncated) as failure:
        desk.agent(max_attempts=1, stream=stream).run(desk.request(server), desk.sink)
    assert failure.value.session == desk.sink.sessions[0]


@pytest.mark.parametrize("stream", [True, False])
def test_twenty_megabytes_are_too_large(desk, stream):
    server = desk.model({"textChars": LARGE})
    with pytest.raises(TooLarge) as failure:
        desk.agent(stream=stream).run(desk.request(server), desk.sink)
    assert failure.value.session == desk.sink.sessions[0]


def test_arguments_of_twenty_megabytes_are_too_large_and_not_written(desk):
    server = desk.model(turn(use("write_file", path="a", content="x" * LARGE)))
    with pytest.raises(TooLarge):
        desk.agent(stream=False).run(desk.request(server), desk.sink)
    assert not (desk.work / "a").exists()


def test_a_file_of_twenty_megabytes_is_read_as_far_as_an_answer_goes(desk):
    (desk.work / "large").write_bytes(b"0123456789abcde\n" * (LARGE // 16))
    answered = desk.tool("read_file", path="large")
    assert len(answered.text) < 61_000
    assert f"of {LARGE} bytes were looked at" in answered.text


@pytest.mark.parametrize(
    ("answer", "failure", "words"),
    [
        (
            {"error": {"status": 404, "message": "The model `m` does not exist"}},
            BadRequest,
            "exist",
        ),
        (
            {"error": {"status": 400, "message": "m does not support tools"}},
            BadRequest,
            "support tools",
        ),
        ({"error": {"status": 401, "message": "wrong key"}}, AuthRefused, "wrong key"),
        ({"error": {"status": 403, "message": "no access"}}, AuthRefused, "no access"),
        ({"raw": {"contentType": "text/html", "body": "<h1>Hi"}}, Unavailable, "web page"),
        ({"raw": {"body": "{nonsense"}}, Truncated, "not JSON"),
        ({"raw": {"body": "\udcff\udcfe"}}, Truncated, "ended before"),
        ({"raw": {"body": "[" * 100_000}}, Truncated, "not JSON"),
        ({"raw": {"body": '{"hello": 1}'}}, Unavailable, "something else"),
    ],
    ids=["model", "tools", "key", "access", "page", "nonsense", "bytes", "nested", "else"],
)
@pytest.mark.parametrize("stream", [True, False])
def test_what_is_no_answer_is_a_failure_with_its_words(desk, answer, failure, words, stream):
    server = desk.model(answer)
    with pytest.raises(AgentFailure, match=words) as caught:
        desk.agent(max_attempts=1, stream=stream).run(desk.request(server), desk.sink)
    assert isinstance(caught.value, failure)
    assert caught.value.session == desk.sink.sessions[0]


def test_ids_that_a_service_uses_again_belong_to_their_own_calls(desk):
    """Else all results of one id would be left out together, the last turn's as well."""
    for name in "abcdefgh":
        (desk.work / name).write_text(f"{name} {name} {name} {name}\n" * 1000)
    turns = [turn({**use("read_file", path=name), "id": "call_0"}) for name in "abcdefgh"]
    server = desk.model(*turns, DONE)
    desk.agent(context_tokens=12_000).run(desk.request(server), desk.sink)
    messages = server.requests[-1].messages
    answers = {each["tool_call_id"]: each["content"] for each in messages if each["role"] == "tool"}
    assert len(answers) == 8
    assert [text[:3] for text in answers.values()][-2:] == ["g g", "h h"]
    asked = [each["tool_calls"][0]["id"] for each in messages if each.get("tool_calls")]
    assert asked == list(answers)


def test_fifty_calls_at_once_are_done_and_one_bad_one_spoils_no_other(desk):
    calls = [use("write_file", path=f"f{number}", content="x") for number in range(50)]
    calls[25] = {"name": "write_file", "arguments": '{"path": "f25'}
    desk.run(turn(*calls), DONE)
    assert len(list(desk.work.iterdir())) == 49
    assert [call.is_error for call in desk.sink.calls()].count(True) == 1
