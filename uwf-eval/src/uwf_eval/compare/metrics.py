"""What is measured of a trial."""

from math import isfinite

from uwf_eval.compare.records import Metric
from uwf_eval.records import Trial
from uwf_eval.report.amounts import tokens_of


def is_bounded(metric: Metric) -> bool:
    """Whether its values lie within 0..1."""
    return metric in ("score", "passed")


def higher_is_better(metric: Metric) -> bool:
    """Else (dollars, tokens, ms) lower is."""
    return metric in ("score", "passed")


def value_of(metric: Metric, trial: Trial) -> float | None:
    """A metric of a trial that counts: a share, 0 or 1, dollars, tokens or ms; None: unknown."""
    match metric:
        case "score":
            value: float | None = trial.score
        case "passed":
            value = None if trial.passed is None else float(trial.passed)
        case "cost":
            value = trial.usage.cost_usd
        case "tokens":
            value = tokens_of(trial.usage)
        case "duration":
            value = trial.duration_ms
    return value if value is not None and isfinite(value) else None
