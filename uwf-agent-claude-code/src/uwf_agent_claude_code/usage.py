"""What one run used, out of what the program counts. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from uwf_agent_claude_code.lines import Result, Tokens
from uwf_core.api import Usage


class Ledger(NamedTuple):
    """The cost of a session before a run, if its transcript has it.

    Newer versions note it there and count on from it: `modelUsage` and the cost of a result are
    then of the whole session, while `usage` is always of the run alone.
    """

    cost_usd: float = 0.0
    models: Mapping[str, Tokens] = {}


def usage_of(result: Result, before: Ledger, duration_ms: int) -> Usage:
    """The usage of this run alone; what was not counted is None.

    `usage` counts, except where the answer was fetched without streaming or the budget ended the
    run: there it is zero, and `modelUsage` has the numbers.
    """
    tokens = _of_models(result, before) if result.tokens.is_zero else result.tokens
    cost = result.cost_usd
    if cost is not None and cost >= before.cost_usd:
        cost -= before.cost_usd
    if tokens.is_zero:
        return Usage(turns=result.turns, cost_usd=cost or None, duration_ms=duration_ms)
    return Usage(
        turns=result.turns,
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        cost_usd=cost,
        duration_ms=duration_ms,
    )


def _of_models(result: Result, before: Ledger) -> Tokens:
    """All models together, less what they had before."""
    total = Tokens()
    for name, now in result.models.items():
        was = before.models.get(name, Tokens())
        is_cumulative = all(new >= old for new, old in zip(now[:4], was[:4], strict=True))
        parts = [
            sum_so_far + new - (old if is_cumulative else 0)
            for sum_so_far, new, old in zip(total[:4], now[:4], was[:4], strict=True)
        ]
        total = Tokens(*parts)
    return total
