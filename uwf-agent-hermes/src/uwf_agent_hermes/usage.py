"""Tokens: what Hermes counts for its process becomes what one call used."""

from uwf_agent_hermes.acp.client import TokenCounts
from uwf_core.api import Usage


class Meter:
    """The usage of prompts, of each what it added.

    Hermes reports the totals of a session since its process began; its input includes the tokens
    that were read from the cache. A service that reports no tokens at all shows as zeros.
    """

    def __init__(self) -> None:
        self._before = TokenCounts(0, 0, 0, 0)

    def read(self, counts: TokenCounts | None, *, turns: int, duration_ms: int) -> Usage:
        """What was used since the last reading; tokens that nobody counted are None."""
        if counts is None or not counts.input:
            return Usage(turns=turns, duration_ms=duration_ms)
        before, self._before = self._before, counts
        cached = _added(counts.cached_read, before.cached_read)
        written = _added(counts.cached_write, before.cached_write)
        whole = _added(counts.input, before.input)
        fresh = None if whole is None else max(0, whole - (cached or 0) - (written or 0))
        return Usage(
            turns=turns,
            input_tokens=fresh,
            output_tokens=_added(counts.output, before.output),
            cache_read_tokens=cached,
            cache_write_tokens=written,
            duration_ms=duration_ms,
        )


def _added(now: int | None, before: int | None) -> int | None:
    """The difference; a counter that went down has begun anew."""
    if now is None:
        return None
    return now - before if before is not None and now >= before else now
