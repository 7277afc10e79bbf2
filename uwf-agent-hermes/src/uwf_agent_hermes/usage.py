"""Convert Hermes' token counts to the usage of one call."""

from uwf_agent_acp.protocol.client import TokenCounts
from uwf_core.api import Usage


def usage_of(counts: TokenCounts | None, *, turns: int, duration_ms: int) -> Usage:
    """The usage of a call; unknown counts are None.

    Hermes reports the totals of a session since its process began, and each call has a new
    process. Its input includes the tokens that were read from the cache. A service that reports no
    tokens gives zeros.
    """
    if counts is None or not counts.input:
        return Usage(turns=turns, duration_ms=duration_ms)
    cached = (counts.cached_read or 0) + (counts.cached_write or 0)
    return Usage(
        turns=turns,
        input_tokens=max(0, counts.input - cached),
        output_tokens=counts.output,
        cache_read_tokens=counts.cached_read,
        cache_write_tokens=counts.cached_write,
        duration_ms=duration_ms,
    )
