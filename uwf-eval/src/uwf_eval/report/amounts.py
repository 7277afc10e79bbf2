"""Sums of what may be unknown. Unknown is never taken as 0: it is told how much is known."""

from collections.abc import Sequence

from uwf_core.api import Usage
from uwf_core.api.record import record


@record
class Amount:
    """What some trials (or steps) used of one thing: dollars, tokens, ms.

    Attributes:
        total: the sum of what is known; None where nothing is.
        mean, median: of those that are known.
        known: how many are, out of `of`.
    """

    total: float | None
    mean: float | None
    median: float | None
    known: int
    of: int

    @property
    def whole(self) -> bool:
        """Whether all of it is known, so that the total is one."""
        return self.known == self.of


def amount(values: Sequence[float | None]) -> Amount:
    """The amount that these values come to; None is unknown."""
    known = [value for value in values if value is not None]
    if not known:
        return Amount(total=None, mean=None, median=None, known=0, of=len(values))
    from statistics import median  # slow to load, and a run needs the rest of this module

    total = sum(known)
    return Amount(
        total=total,
        mean=total / len(known),
        median=float(median(known)),
        known=len(known),
        of=len(values),
    )


def tokens_of(usage: Usage) -> int | None:
    """All tokens that a model read and wrote, the cached ones included; None where reading or
    writing is not known. Services that cache nothing do not speak of it.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    return usage.input_tokens + usage.output_tokens + cached
