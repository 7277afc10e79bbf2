"""The budget of a run: what is spent, and whether a further trial may start. Pure."""

from collections.abc import Iterable, Iterator

from uwf_core.api import Usage
from uwf_core.named_tuple import NamedTuple
from uwf_eval.records import Budget, Trial


class Spending(NamedTuple):
    """What the trials used. `unknown_cost`, `unknown_tokens`: the trials with unknown parts."""

    trials: int = 0
    cost_usd: float = 0.0
    tokens: int = 0
    unknown_cost: int = 0
    unknown_tokens: int = 0

    def plus(self, trial: Trial) -> "Spending":
        """Add what a trial and its judges used."""
        usages = [trial.usage, *(each.usage for each in trial.judges if _spoke(each.usage))]
        costs = [each.cost_usd for each in usages]
        tokens = [tokens_of(each) for each in usages]
        return Spending(
            self.trials + 1,
            self.cost_usd + sum(each for each in costs if each is not None),
            self.tokens + sum(each for each in tokens if each is not None),
            self.unknown_cost + (None in costs),
            self.unknown_tokens + (None in tokens),
        )


def spending_of(trials: Iterable[Trial]) -> Spending:
    """What these trials used together."""
    spent = Spending()
    for trial in trials:
        if trial.state != "not_run":
            spent = spent.plus(trial)
    return spent


def tokens_of(usage: Usage) -> int | None:
    """Input and output tokens; None if one of them is unknown."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


def _spoke(usage: Usage) -> bool:
    """Whether a judge asked a model."""
    return usage.turns is not None and usage.turns > 0


def exhausted(budget: Budget, spent: Spending, begun: int, minutes: float) -> str | None:
    """Why no further trial may start; None if one may.

    Args:
        budget: the limits. spent: by the finished trials.
        begun: the number of trials that this call started. minutes: the duration of the call.
    """
    if budget.trials is not None and begun >= budget.trials:
        return f"trial limit reached: {budget.trials}"
    if budget.cost_usd is not None and spent.cost_usd >= budget.cost_usd:
        return f"cost limit reached: ${spent.cost_usd:.4g} of ${budget.cost_usd:g}"
    if budget.tokens is not None and spent.tokens >= budget.tokens:
        return f"token limit reached: {spent.tokens:,} of {budget.tokens:,}"
    if budget.minutes is not None and minutes >= budget.minutes:
        return f"time limit reached: {minutes:.1f} of {budget.minutes:g} minutes"
    return None


def unenforceable(budget: Budget, spent: Spending) -> Iterator[str]:
    """The limits that cannot be enforced, because the usage of a trial is unknown."""
    if budget.cost_usd is not None and spent.unknown_cost:
        yield "cannot enforce the cost limit: the cost of a trial is unknown"
    if budget.tokens is not None and spent.unknown_tokens:
        yield "cannot enforce the token limit: the tokens of a trial are unknown"


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
