"""What a run has used, and whether it may go on. Pure."""

from collections.abc import Iterable, Iterator

from uwf_core.api import Usage
from uwf_core.named_tuple import NamedTuple
from uwf_eval.records import Budget, Trial


class Spent(NamedTuple):
    """What was used. `unknown_cost`, `unknown_tokens`: by how many trials, in part at least."""

    trials: int = 0
    cost_usd: float = 0.0
    tokens: int = 0
    unknown_cost: int = 0
    unknown_tokens: int = 0

    def plus(self, trial: Trial) -> "Spent":
        """With what a trial used, its judges included."""
        usages = [trial.usage, *(each.usage for each in trial.judges if _spoke(each.usage))]
        costs = [each.cost_usd for each in usages]
        tokens = [tokens_of(each) for each in usages]
        return Spent(
            self.trials + 1,
            self.cost_usd + sum(each for each in costs if each is not None),
            self.tokens + sum(each for each in tokens if each is not None),
            self.unknown_cost + (None in costs),
            self.unknown_tokens + (None in tokens),
        )


def spent_by(trials: Iterable[Trial]) -> Spent:
    """What these trials used."""
    spent = Spent()
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


def exhausted(budget: Budget, spent: Spent, begun: int, minutes: float) -> str | None:
    """Which part of the budget is used up, in words; None if another trial may begin.

    Args:
        budget: the most there is. spent: by the trials that have ended.
        begun: how many trials were begun by this call. minutes: that it has taken.
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


def unenforceable(budget: Budget, spent: Spent) -> Iterator[str]:
    """Which limits cannot be kept, since trials do not say what they used."""
    if budget.cost_usd is not None and spent.unknown_cost:
        yield "cannot enforce the cost limit: the cost of a trial is unknown"
    if budget.tokens is not None and spent.unknown_tokens:
        yield "cannot enforce the token limit: the tokens of a trial are unknown"


def read_budget(text: str) -> Budget:
    """A budget as people write it: parts with commas between, such as `$2.50,1h,500ktok,20trials`.

    Raises:
        ValueError: it is none.
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
