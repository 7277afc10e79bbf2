"""Where time, tokens and money went, role by role."""

from collections.abc import Iterable, Sequence

from uwf_core.api.record import record
from uwf_eval.records import Trial
from uwf_eval.report.amounts import Amount, amount, tokens_of


@record
class RoleShare:
    """What one role's steps took in all trials of the run.

    Attributes:
        steps: how many there were, in how many `trials`.
        duration_ms: all of them together.
        attempts: failed ones before the steps. corrections: outputs that were sent back.
    """

    role: str
    steps: int
    trials: int
    duration_ms: int
    tokens: Amount
    cost: Amount
    attempts: int
    corrections: int


class _Sum:
    """What is added up of one role."""

    def __init__(self) -> None:
        self.tokens: list[int | None] = []
        self.costs: list[float | None] = []
        self.last_trial: int | None = None
        self.trials = self.duration_ms = self.attempts = self.corrections = 0


def roles_of(trials: Iterable[Trial]) -> Sequence[RoleShare]:
    """Every role of these trials, the one that took longest first."""
    sums: dict[str, _Sum] = {}
    for trial in trials:
        for step in trial.steps:
            its = sums.get(step.role)
            if its is None:
                its = sums[step.role] = _Sum()
            if its.last_trial != trial.number:
                its.last_trial = trial.number
                its.trials += 1
            its.tokens.append(tokens_of(step.usage))
            its.costs.append(step.usage.cost_usd)
            its.duration_ms += step.duration_ms
            its.attempts += step.attempts
            its.corrections += step.corrections
    shares = [_share(role, its) for role, its in sums.items()]
    return sorted(shares, key=lambda each: (-each.duration_ms, each.role))


def _share(role: str, its: _Sum) -> RoleShare:
    return RoleShare(
        role=role,
        steps=len(its.tokens),
        trials=its.trials,
        duration_ms=its.duration_ms,
        tokens=amount(its.tokens),
        cost=amount(its.costs),
        attempts=its.attempts,
        corrections=its.corrections,
    )
