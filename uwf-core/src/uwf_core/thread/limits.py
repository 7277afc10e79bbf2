"""Limits over a whole thread, checked between its steps. Pure."""

from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.state import ThreadState
from uwf_core.thread.usage import TOKEN_FIELDS


class Allowance(NamedTuple):
    """What a workflow allows one thread; None is no limit. Minutes are time spent running."""

    steps: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    minutes: float | None = None


class Reached(NamedTuple):
    """A limit that was reached: its name, its value with what was granted, and what was used."""

    name: str
    value: float
    used: float

    def words(self) -> str:
        """The limit, for people."""
        return f"{self.name} {self.value:g} is reached ({self.used:g} used)"


class LimitState(NamedTuple):
    """`reached` names the limit that was reached; `unenforceable` those that cannot be known."""

    reached: Reached | None
    unenforceable: tuple[str, ...]


def check_limits(state: ThreadState, allowance: Allowance) -> LimitState:
    """Whether the thread may take another step.

    What a call did not report is never taken as 0: the known part still counts against the
    limit, and the limit is named as not enforceable.
    """
    used = {
        "maxSteps": (state.steps - state.inherited_steps, allowance.steps),
        "maxTokens": (state.totals.at_least(*TOKEN_FIELDS), allowance.tokens),
        "maxCostUsd": (state.totals.at_least("costUsd"), allowance.cost_usd),
        "maxMinutes": (state.running_ms / 60_000, allowance.minutes),
    }
    grants = 1 + state.grants
    reached = next(
        (
            Reached(name, limit * grants, value)
            for name, (value, limit) in used.items()
            if limit is not None and value >= limit * grants
        ),
        None,
    )
    return LimitState(reached, _unknown(state, allowance))


def _unknown(state: ThreadState, allowance: Allowance) -> tuple[str, ...]:
    unknown = []
    if allowance.tokens is not None and not state.totals.is_known("inputTokens", "outputTokens"):
        unknown.append("maxTokens")
    if allowance.cost_usd is not None and not state.totals.is_known("costUsd"):
        unknown.append("maxCostUsd")
    return tuple(unknown)
