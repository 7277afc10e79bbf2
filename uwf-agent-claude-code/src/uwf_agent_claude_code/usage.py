"""What one run used, out of what the program counts. Pure."""

from collections.abc import Iterable, Mapping
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


def usage_of(result: Result, before: Ledger, turns: int, duration_ms: int) -> Usage:
    """The usage of this run alone; what was not counted is None.

    `modelUsage` counts everything, agents that the model started and answers that were fetched
    without streaming as well. `usage` lacks them, and counts only where there is no `modelUsage`.

    Args:
        turns: the answers of the model that were seen. The program's own count has the turn that a
            limit on turns prevented, and errors that no model wrote.
    """
    tokens = _of_models(result, before) if result.models else result.tokens
    cost = result.cost_usd
    if cost is not None and cost >= before.cost_usd:
        cost -= before.cost_usd
    if not turns and result.is_success:
        turns = result.turns or 0  # answers without a word are not printed
    is_rejected = result.status is not None and 400 <= result.status < 500
    if tokens.is_zero and not (is_rejected or turns == result.turns == 0):
        return Usage(turns=turns, cost_usd=cost or None, duration_ms=duration_ms)
    return _usage(tokens, turns, cost, duration_ms)


def usage_without_result(messages: Iterable[Tokens], turns: int, duration_ms: int) -> Usage:
    """The usage of a run that was ended before its result: at least what its messages report."""
    parts = [tokens[:4] for tokens in messages]
    total = Tokens(*map(sum, zip(*parts, strict=True)))
    return _usage(total, turns, None, 0).plus(Usage(turns=0, duration_ms=duration_ms))


def _usage(tokens: Tokens, turns: int, cost: float | None, duration_ms: int) -> Usage:
    return Usage(
        turns=turns,
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
