import email.utils
import time

import pytest

from uwf_core.errors import AuthRefused, RateLimited, TimedOut, Unavailable
from uwf_llm.limits import ChatLimits, Clock, Retries, RetryPolicy
from uwf_llm.waits import asked_wait

NOW_MS = 1_700_000_000_000


def error(status, **keys):
    return {"error": {"status": status, **keys}}


@pytest.mark.parametrize(
    "turn",
    [error(429), error(500), error(503), error(529), error(408), {"drop": "start"},
     {"text": "x" * 300, "drop": "middle"}],
    ids=["429", "500", "503", "529", "408", "closed", "cut"],
)  # fmt: skip
def test_what_may_pass_is_tried_again(serve, question, turn, hasty):
    server, client = serve(turn, turn, "at last")
    reply = client.chat(question)
    assert (reply.text, reply.attempts) == ("at last", 3)
    assert server.requests[0].raw == server.requests[2].raw
    assert hasty.waits == [0.5, 1.0]


def test_what_does_not_pass_is_not_tried_again(serve, question, hasty):
    server, client = serve(error(401), "never")
    with pytest.raises(AuthRefused):
        client.chat(question)
    assert (len(server.requests), hasty.waits) == (1, [])


def test_the_number_of_attempts_is_limited(serve, question, hasty):
    server, client = serve({**error(500), "repeat": 20}, retry=RetryPolicy(attempts=4))
    with pytest.raises(Unavailable):
        client.chat(question)
    assert len(server.requests) == 4
    assert hasty.waits == [0.5, 1.0, 2.0]


def test_all_waits_together_stay_within_the_budget(serve, question, hasty):
    retry = RetryPolicy(attempts=100, budget_seconds=10)
    _, client = serve({**error(500), "repeat": 100}, retry=retry)
    with pytest.raises(Unavailable):
        client.chat(question)
    assert hasty.waits == [0.5, 1.0, 2.0, 4.0]


def test_a_service_that_asks_to_wait_is_waited_for(serve, question, hasty):
    _, client = serve(error(429, retryAfter="7"), error(503, retryAfter="3"), "hi")
    assert client.chat(question).text == "hi"
    assert hasty.waits == [7.0, 3.0]


def test_a_service_that_asks_for_too_much_is_told_when(serve, question, hasty):
    server, client = serve(error(429, retryAfter="3600"), "never")
    before = time.time() * 1000
    with pytest.raises(RateLimited) as limited:
        client.chat(question)
    assert 3_595_000 < limited.value.until_ms - before < 3_605_000
    assert (len(server.requests), hasty.waits) == (1, [])


def test_nobody_knows_when_if_the_service_does_not_say(serve, question):
    _, client = serve({**error(429), "repeat": 9}, retry=RetryPolicy(attempts=1))
    with pytest.raises(RateLimited) as limited:
        client.chat(question)
    assert limited.value.until_ms is None


def test_a_wait_that_outlasts_the_call_is_not_begun(serve, question, hasty):
    _, client = serve(error(429, retryAfter="20"), "never", limits=ChatLimits(total_seconds=5))
    with pytest.raises(RateLimited):
        client.chat(question)
    assert hasty.waits == []


def test_a_listener_hears_that_what_it_got_is_void(serve, question):
    _, client = serve({"text": "x" * 300, "drop": "middle"}, "hello")
    deltas = []
    assert client.chat(question, on_delta=deltas.append).text == "hello"
    kinds = [delta.kind for delta in deltas]
    again = kinds.index("again")
    assert 0 < again < len(kinds) - 1
    assert "broke off" in deltas[again].text
    assert "".join(delta.text for delta in deltas[again + 1 :]) == "hello"


def test_real_waits_take_real_time(serve, question):
    policy = RetryPolicy(first_seconds=0.1)
    _, client = serve(error(500), "hi", clock=Clock(), retry=policy)
    started = time.monotonic()
    client.chat(question)
    assert 0.05 <= time.monotonic() - started < 30


def test_the_whole_call_has_one_limit(serve, question):
    turn = {**error(500), "delayMs": 150, "repeat": 1000}
    policy = RetryPolicy(attempts=1000, first_seconds=0.01)
    _, client = serve(turn, clock=Clock(), retry=policy, limits=ChatLimits(total_seconds=0.5))
    started = time.monotonic()
    with pytest.raises((TimedOut, Unavailable)):
        client.chat(question)
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
def test_waits_double_up_to_a_limit_and_half_is_chance(chance):
    class Certain(Clock):
        def chance(self):
            return chance

    retries = Retries(RetryPolicy(attempts=8, budget_seconds=1000, most_seconds=5), Certain())
    waits = [retries.next_wait(None) for _ in range(8)]
    whole = [0.5, 1, 2, 4, 5, 5, 5]
    assert waits == [*(each * (0.5 + 0.5 * chance) for each in whole), None]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": email.utils.formatdate(NOW_MS / 1000 + 30, usegmt=True)}, 30.0),
        ({"retry-after": email.utils.formatdate(NOW_MS / 1000 - 30, usegmt=True)}, 0.0),
        ({"x-ratelimit-reset": str(NOW_MS + 5000)}, 5.0),
        ({"x-ratelimit-reset": str(NOW_MS // 1000 + 5)}, 5.0),
        ({"x-ratelimit-reset": "12"}, 12.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "Mon, 99 Foo 2024 99:99:99 GMT"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_how_long_a_service_asks_to_wait(headers, seconds):
    assert asked_wait(headers, NOW_MS).seconds == seconds
