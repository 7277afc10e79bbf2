"""Tokens: of each call what it added, whatever Hermes has counted before."""

from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_agent_hermes.acp.client import TokenCounts
from uwf_agent_hermes.usage import Meter

CALLS = st.lists(
    st.tuples(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**6)), max_size=6
)


@settings(max_examples=40, deadline=None)
@given(CALLS)
def test_each_reading_is_what_was_added_without_the_cached_tokens(calls):
    meter, totals = Meter(), [0, 0, 0]
    for fresh, output, cached in calls:
        totals = [totals[0] + fresh + cached, totals[1] + output, totals[2] + cached]
        usage = meter.read(TokenCounts(*totals), turns=1, duration_ms=1)
        assert usage.input_tokens == fresh
        assert usage.output_tokens == output
        assert usage.cache_read_tokens == cached


def test_a_counter_that_began_anew_is_taken_as_it_is():
    meter = Meter()
    meter.read(TokenCounts(100, 10, 0), turns=1, duration_ms=1)
    assert meter.read(TokenCounts(40, 4, 0), turns=1, duration_ms=1).input_tokens == 40


def test_nothing_counted_is_unknown_and_not_zero():
    for counts in (None, TokenCounts(), TokenCounts(0, 0, 0)):
        usage = Meter().read(counts, turns=1, duration_ms=5)
        assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (None,) * 3
        assert usage.duration_ms == 5
