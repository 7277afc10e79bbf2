"""No error shows a key, whatever the service says."""

import traceback

import pytest

from uwf_core.errors import AgentFailure, AuthRefused
from uwf_llm.limits import RetryPolicy

KEY = "sk-proj-AbCdEf0123456789-secret"


def everything_of(failure):
    shown = "".join(traceback.format_exception(failure))
    return f"{failure!r} {failure} {failure.hint} {failure.document()} {shown}"


@pytest.mark.parametrize(
    "turn",
    [
        {"error": {"status": 401, "message": f"Incorrect API key provided: {KEY}."}},
        {"error": {"status": 401, "message": f"Incorrect API key provided: {KEY[:14]}..."}},
        {"error": {"status": 429, "message": f"key={KEY}&x"}},
        {"error": {"status": 500, "message": f"Authorization: Bearer {KEY}"}},
        {"raw": {"body": f"denied {KEY}", "status": 400, "contentType": "text/plain"}},
        {"raw": {"body": f'{{"error": {{"code": 403, "message": "{KEY}"}}}}'}},
        {"refusal": f"I will not say {KEY}"},
        {"raw": {"body": "", "status": 302, "headers": {"Location": f"http://a/{KEY}"}}},
    ],
    ids=range(8),
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_service_that_quotes_the_key(serve, question, turn, stream):
    _, client = serve(turn, key=KEY, retry=RetryPolicy(attempts=1))
    with pytest.raises(AgentFailure) as failed:
        client.chat(question, on_delta=(lambda _: None) if stream else None)
    shown = everything_of(failed.value)
    assert KEY not in shown
    assert KEY[:14] not in shown


def test_a_header_of_the_users_own_is_a_secret_too(serve, question):
    value = "value-of-a-header"
    turn = {"error": {"status": 400, "message": f"odd: {value}"}}
    _, client = serve(turn, headers={"X-Key": value})
    with pytest.raises(AgentFailure) as failed:
        client.chat(question)
    assert value not in everything_of(failed.value)


def test_a_password_in_the_address(connect, question):
    client = connect("http://user:pass-word-1@127.0.0.1:1/v1?key=query-key-1")
    with pytest.raises(AgentFailure) as failed:
        client.chat(question)
    shown = everything_of(failed.value)
    assert "pass-word-1" not in shown
    assert "query-key-1" not in shown


def test_a_retry_is_told_without_the_key(serve, question):
    turn = {"error": {"status": 500, "message": f"oops {KEY}"}}
    _, client = serve(turn, "hi", key=KEY)
    deltas = []
    client.chat(question, on_delta=deltas.append)
    assert KEY not in repr(deltas)
    assert "oops" in deltas[0].text


def test_who_sent_no_key_is_told_that_and_not_that_it_is_wrong(serve, question):
    refused = {"error": {"status": 401, "message": "You didn't provide an API key"}}
    _, client = serve(refused, key=None)
    with pytest.raises(AuthRefused, match="it requires an API key, and none was sent") as failed:
        client.chat(question)
    assert "apiKeyEnv" in failed.value.hint
