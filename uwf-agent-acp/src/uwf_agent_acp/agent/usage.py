"""Convert an agent's token counts to the usage of one call."""

from collections.abc import Iterable
from typing import Literal

from uwf_agent_acp.protocol.client import TokenCounts
from uwf_core.api import Usage
from uwf_core.api.sums import TOKEN_FIELDS, UsageField

UsageForm = Literal["turn", "last", "total"]
"""What an agent counts: the whole turn; only the last request to the model; or everything since its
process began, the cached tokens among the input. Each call has a new process.
"""


def summed(counts: Iterable[TokenCounts]) -> TokenCounts | None:
    """The sum of the requests of a turn; a count that none of them has stays unknown."""
    columns = [[n for n in column if n is not None] for column in zip(*counts, strict=True)]
    return TokenCounts(*(sum(each) if each else None for each in columns)) if columns else None


def usage_of(counts: TokenCounts | None, form: UsageForm, *, turns: int, duration_ms: int) -> Usage:
    """The usage of a call; unknown counts are None. A service that reports none gives zeros."""
    if counts is None or not any(counts):
        return Usage(turns=turns, duration_ms=duration_ms)
    cached = (counts.cached_read or 0) + (counts.cached_write or 0) if form == "total" else 0
    is_part = form == "last" and turns > 1
    return Usage(
        turns=turns,
        input_tokens=None if counts.input is None else max(0, counts.input - cached),
        output_tokens=counts.output,
        cache_read_tokens=counts.cached_read,
        cache_write_tokens=counts.cached_write,
        duration_ms=duration_ms,
        at_least=_known(counts) if is_part else (),
    )


def _known(counts: TokenCounts) -> tuple[UsageField, ...]:
    return tuple(
        name for name, count in zip(TOKEN_FIELDS, counts, strict=True) if count is not None
    )
