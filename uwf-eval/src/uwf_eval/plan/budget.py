"""The budget of a run: what is spent, and whether a further trial may start. Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from uwf_core.api import NO_USAGE, Usage
from uwf_eval.records import Budget, Trial


class Spending(NamedTuple):
    """What the trials and their judges used."""

    trials: int = 0
    usage: Usage = NO_USAGE

    def plus(self, trial: Trial) -> "Spending":
        """Add what a trial and its judges used."""
        return Spending(self.trials + 1, self.usage.plus(trial.spent))


def spending_of(trials: Iterable[Trial]) -> Spending:
    """What these trials used together."""
    spent = Spending()
    for trial in trials:
        if trial.state != "not_run":
            spent = spent.plus(trial)
    return spent


def exhausted(budget: Budget, spent: Spending, begun: int, minutes: float) -> str | None:
    """Why no further trial may start; None if one may.

    Args:
        budget: the limits. spent: by the finished trials.
        begun: the number of trials that this call started. minutes: the duration of the call.
    """
    if budget.trials is not None and begun >= budget.trials:
        return f"trial limit reached: {budget.trials}"
    cost, tokens = spent.usage.cost_usd or 0, spent.usage.tokens or 0
    if budget.cost_usd is not None and cost >= budget.cost_usd:
        return f"cost limit reached: ${cost:.4g} of ${budget.cost_usd:g}"
    if budget.tokens is not None and tokens >= budget.tokens:
        return f"token limit reached: {tokens:,} of {budget.tokens:,}"
    if budget.minutes is not None and minutes >= budget.minutes:
        return f"time limit reached: {minutes:.1f} of {budget.minutes:g} minutes"
    return None


def unknown_limits(budget: Budget, usage: Usage) -> Iterator[str]:
    """A text for each limit that cannot be enforced, or only on the part that is known."""
    if budget.cost_usd is not None and not usage.is_exact("costUsd"):
        yield _unknown("cost", usage.cost_usd)
    if budget.tokens is not None and not usage.is_exact("inputTokens", "outputTokens"):
        yield _unknown("token", usage.tokens)


def _unknown(limit: str, known: float | None) -> str:
    if known:
        return f"the {limit} limit counts only what is known: a call did not report all of it"
    return f"cannot enforce the {limit} limit: the agent does not report it"


def read_budget(text: str) -> Budget:
    """Parse a budget: parts separated by commas, such as `$2.50,1h,500ktok,20trials`.

    Raises:
        ValueError: a part is not valid.
    """
    values: dict[str, float | int] = {}
    for part in text.replace(" ", "").lower().split(","):
        key, value = _part(part)
        if key in values:
            raise ValueError(f"{text!r} sets {key} twice")
        values[key] = value
    return Budget(**values)  # type: ignore[arg-type]


_COST, _MINUTES, _TOKENS, _TRIALS = "cost_usd", "minutes", "tokens", "trials"
_UNITS = {
    "$": (_COST, 1.0),
    "usd": (_COST, 1.0),
    "s": (_MINUTES, 1 / 60),
    "m": (_MINUTES, 1.0),
    "min": (_MINUTES, 1.0),
    "h": (_MINUTES, 60.0),
    "d": (_MINUTES, 1440.0),
    "tok": (_TOKENS, 1.0),
    "tokens": (_TOKENS, 1.0),
    "ktok": (_TOKENS, 1e3),
    "mtok": (_TOKENS, 1e6),
    "trial": (_TRIALS, 1.0),
    "trials": (_TRIALS, 1.0),
}


def _part(part: str) -> tuple[str, float | int]:
    number, unit = (part[1:], "$") if part.startswith("$") else _split(part)
    try:
        key, factor = _UNITS[unit]
        value = float(number) * factor
    except (KeyError, ValueError) as error:
        raise ValueError(f"{part!r} is not a valid part of a budget") from error
    if not 0 < value < 1e15:
        raise ValueError(f"a budget must be above 0, not {part!r}")
    return key, int(value) if key in ("tokens", "trials") else value


def _split(part: str) -> tuple[str, str]:
    letters = len(part) - len(part.rstrip("abcdefghijklmnopqrstuvwxyz"))
    return (part[:-letters], part[-letters:]) if letters else (part, "")
