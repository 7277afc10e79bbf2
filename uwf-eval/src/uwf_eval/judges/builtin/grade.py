"""An amount as a score: 1 up to one limit, 0 from another on, evenly between. Pure."""

from uwf_core.api import JudgeReply
from uwf_core.api.extract import NO_USAGE
from uwf_eval.judges.failed import JudgeFailed


def check_limits(full: float | None, zero: float | None) -> None:
    """Whether two limits can be those of a grade.

    Raises:
        ValueError: they cannot.
    """
    for name, limit in (("full", full), ("zero", zero)):
        if limit is not None and limit < 0:
            raise ValueError(f"{name} is {limit:g}; wanted 0 or more")
    if full is not None and zero is not None and full > zero:
        raise ValueError(f"full is {full:g} and zero {zero:g}; full has to be the smaller one")


def graded(
    name: str, amount: float | None, *, full: float | None, zero: float | None
) -> JudgeReply:
    """A reply for an amount of which less is better.

    With one limit alone, the score is 1 up to it and 0 beyond; with none the reply only informs.

    Raises:
        JudgeFailed: there is a limit, and nobody knows the amount.
    """
    data = {name: amount}
    limits = [limit for limit in (full, zero) if limit is not None]
    if not limits:
        return JudgeReply(score=None, data=data, usage=NO_USAGE)
    if amount is None:
        raise JudgeFailed(
            f"{name} is not known, so it cannot be held to a limit",
            hint="the agent does not report it, and no price of its model is configured",
        )
    return JudgeReply(score=_score(amount, limits[0], limits[-1]), data=data, usage=NO_USAGE)


def _score(amount: float, full: float, zero: float) -> float:
    if amount <= full:
        return 1.0
    return 0.0 if amount >= zero else (zero - amount) / (zero - full)
