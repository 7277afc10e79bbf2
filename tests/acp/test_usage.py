"""Tokens: some agents count cached ones as input too; uwf does not."""

from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_agent_acp.agent.usage import usage_of
from uwf_agent_acp.protocol.client import TokenCounts

COUNT = st.integers(0, 10**6)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 10**6), COUNT, COUNT, COUNT)
def test_the_input_is_without_the_cached_tokens(fresh, output, read, written):
    counts = TokenCounts(fresh + read + written, output, read, written)
    usage = usage_of(counts, "total", turns=1, duration_ms=1)
    assert (usage.input_tokens, usage.output_tokens) == (fresh, output)
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (read, written)


def test_nothing_counted_is_unknown_and_not_zero():
    for counts in (None, TokenCounts(), TokenCounts(0, 0, 0)):
        usage = usage_of(counts, "total", turns=1, duration_ms=5)
        assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (None,) * 3
        assert usage.duration_ms == 5


def test_the_counts_of_the_last_request_are_lower_bounds_of_a_longer_turn():
    one = usage_of(TokenCounts(5, 2, 3), "last", turns=1, duration_ms=1)
    two = usage_of(TokenCounts(5, 2, 3), "last", turns=2, duration_ms=1)
    assert one.at_least == ()
    assert two.at_least == ("inputTokens", "outputTokens", "cacheReadTokens")
    assert (two.input_tokens, two.cache_read_tokens) == (5, 3)
