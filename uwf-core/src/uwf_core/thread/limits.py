"""Limits over a whole thread, checked between its steps. Pure."""

from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.index import ThreadIndex
from uwf_core.thread.usage import TOKEN_FIELDS


class Allowance(NamedTuple):
    """What a workflow allows one thread; None is no limit. Minutes are time spent running."""

    steps: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    minutes: float | None = None


class LimitState(NamedTuple):
    """`reached` names the limit that was reached; `unenforceable` those that cannot be known."""

    reached: str | None
    unenforceable: tuple[str, ...]


def check_limits(index: ThreadIndex, allowance: Allowance) -> LimitState:
    """Whether the thread may take another step.

    What a call did not report is never taken as 0: the known part still counts against the
    limit, and the limit is named as not enforceable.
    """
    used = {
        "maxSteps": (index.steps - index.inherited_steps, allowance.steps),
        "maxTokens": (index.totals.at_least(*TOKEN_FIELDS), allowance.tokens),
        "maxCostUsd": (index.totals.at_least("costUsd"), allowance.cost_usd),
        "maxMinutes": (index.running_ms / 60_000, allowance.minutes),
    }
    grants = 1 + index.grants
    reached = next(
        (
            f"{name} {limit * grants:g} is reached ({value:g} used)"
            for name, (value, limit) in used.items()
            if limit is not None and value >= limit * grants
        ),
        None,
    )
    return LimitState(reached, _unknown(index, allowance))


def _unknown(index: ThreadIndex, allowance: Allowance) -> tuple[str, ...]:
    unknown = []
    if allowance.tokens is not None and not index.totals.is_known("inputTokens", "outputTokens"):
        unknown.append("maxTokens")
    if allowance.cost_usd is not None and not index.totals.is_known("costUsd"):
        unknown.append("maxCostUsd")
    return tuple(unknown)
