"""Tokens: some agents count cached ones as input too; uwf does not."""

from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_agent_acp.agent.known import GEMINI, OPENCODE, QWEN
from uwf_agent_acp.agent.usage import summed, usage_of
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


def test_the_requests_of_a_turn_are_summed_and_what_none_has_stays_unknown():
    assert summed([]) is None
    counts = summed([TokenCounts(5, 2, None), TokenCounts(7, None, None)])
    assert counts == TokenCounts(12, 2, None, None)


def test_counts_are_found_where_only_one_agent_puts_them():
    chunk = {"usage": {"inputTokens": 130, "outputTokens": 7, "cachedReadTokens": 30}}
    assert QWEN.counted({}, [chunk, {"other": 1}, {"usage": "x"}, chunk]) == TokenCounts(
        260, 14, 60
    )
    end = {"quota": {"token_count": {"input_tokens": 260, "output_tokens": 14}}}
    assert GEMINI.counted(end, []) == TokenCounts(260, 14)
    for nonsense in ({}, {"quota": 1}, {"quota": {"token_count": []}}):
        assert GEMINI.counted(nonsense, []) is None
    assert OPENCODE.counted(end, [chunk]) is None
