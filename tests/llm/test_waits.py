"""Times from outside: whatever the header, the unit and the form, a bounded time or unknown."""

import email.utils
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uwf_core.api.moments import FARTHEST_MS, moment_ms, plausible_ms, wait_ms
from uwf_llm.waits import asked_wait

NOW = 1_780_000_000_123
SECOND = 1000
ODD = [
    *("9" * 13, "9" * 400, "1e400", "-1", "-0.5", "NaN", "Infinity", "", "soon", "0x10", "١٢"),
    *("Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59Z", "Mon, 99 Foo 2024 9:9:9 GMT"),
    *(10**400, -1, float("nan"), float("inf"), -(10**30), True, [], {}, 2**53, "999999d"),
    *("Fri, 31 Dec 9999 23:59:59 -2359", "0001-01-01T00:00:00+23:59", str(2**63)),
]


@given(st.integers(-23 * 3600, 8 * 86_400))
def test_a_time_near_now_is_read_in_every_unit_and_form(ahead):
    at = NOW // 1000 + ahead
    wanted = at * SECOND
    date = datetime.fromtimestamp(at, UTC)
    forms = [at, at * 10**3, at * 10**6, at * 10**9, str(at), f"{at}.0", str(at * 10**3)]
    forms += [float(at), date.isoformat(), date.isoformat().replace("+00:00", "Z")]
    forms += [email.utils.format_datetime(date, usegmt=True)]
    for form in forms:
        assert plausible_ms(form, NOW) == wanted, form
        assert wait_ms(form, NOW) == max(0, wanted - NOW), form
        for name in ("retry-after", "x-ratelimit-reset", "anthropic-ratelimit-unified-reset"):
            wait = asked_wait({name: str(form)}, NOW)
            assert wait.seconds == pytest.approx(max(0, wanted - NOW) / 1000)


@given(
    st.one_of(
        st.sampled_from(ODD), st.integers(), st.floats(), st.text(), st.integers(0, 10**30).map(str)
    )
)
def test_any_value_is_a_bounded_whole_number_or_unknown(value):
    for found in (moment_ms(value), plausible_ms(value, NOW), wait_ms(value, NOW)):
        assert found is None or (type(found) is int and abs(found) < 2**53)
    plausible = plausible_ms(value, NOW)
    assert plausible is None or abs(plausible - NOW) <= FARTHEST_MS
    wait = wait_ms(value, NOW)
    assert wait is None or 0 <= wait <= FARTHEST_MS
    asked = asked_wait({"retry-after": str(value)}, NOW, {"retry_after": value})
    assert asked.seconds is None or 0 <= asked.seconds <= FARTHEST_MS / 1000


@pytest.mark.parametrize("value", ODD)
def test_a_time_that_cannot_be_right_is_unknown_and_said_so(value):
    if isinstance(value, int | str):
        assert asked_wait({"retry-after": str(value)}, NOW).seconds is None
    assert plausible_ms(value, NOW) is None
    found = asked_wait({}, NOW, {"error": {"resets_at": value}})
    assert found.seconds is None
    assert found.unclear == (value not in ("", [], {}))


@pytest.mark.parametrize(
    ("headers", "error", "seconds"),
    [
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0"}, None, 360),
        ({"x-ratelimit-reset-tokens": "12ms", "x-ratelimit-remaining-tokens": "0"}, None, 0.012),
        ({"x-ratelimit-reset-tokens": "9s", "x-ratelimit-remaining-tokens": "5"}, None, None),
        ({"ratelimit-reset": "5"}, None, 5),
        ({}, {"error": {"details": [{"@type": "RetryInfo", "retryDelay": "9.5s"}]}}, 9.5),
        ({}, {"error": {"message": "Rate limit. Please try again in 1m2s."}}, 62),
        ({}, {"error": {"message": "Please retry in 250ms"}}, 0.25),
        ({}, {"error": {"type": "usage_limit_reached", "resets_in_seconds": 3600}}, 3600),
        ({}, {"error": {"resetsAt": NOW * 1000 + 5_000_000}}, 5),
        ({"retry-after": "120, 120"}, None, 120),
        ({"retry-after": "3"}, {"error": {"message": "try again in 50s"}}, 3),
        ({}, {"error": {"message": "slow down"}}, None),
    ],
)
def test_the_wait_that_a_service_asks_for(headers, error, seconds):
    assert asked_wait(headers, NOW, error).seconds == seconds
