"""The options and the result of a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from uwf_eval.compare.changes import Changes
from uwf_eval.statistics.intervals import Estimate, Interval

Metric = Literal[
    "score", "passed", "cost", "tokens", "duration", "valid", "status", "fields", "corrections"
]
METRICS: Final[tuple[Metric, ...]] = ("score", "passed", "cost", "tokens", "duration")
STEP_METRICS: Final[tuple[Metric, ...]] = ("valid", "status", "fields", "corrections")
"""Those of recorded steps: whether the output is valid, whether its status is the recorded one, the
share of equal fields, the rejected replies.
"""

Verdict = Literal["better", "worse", "no_difference", "cannot_tell"]
VERDICTS: Final[tuple[Verdict, ...]] = ("better", "worse", "no_difference", "cannot_tell")

GREATEST_MARGIN: Final = 1_000_000
"""The largest valid margin."""

Over = Literal["task", "case"]
Dimension = Literal["agent", "model", "workflow"]
DIMENSIONS: Final[tuple[Dimension, ...]] = ("agent", "model", "workflow")
Side = Literal["A", "B"]
Reason = Literal["infra_error", "not_run", "no_score", "fixture", "unpaired"]


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The options of a comparison.

    Attributes:
        metrics: to test, the most important first. The others are shown without a verdict.
        within: the margin up to which differences do not matter: absolute for a score or a pass
            rate, as a share of A's mean for cost, tokens and duration.
        level: with 0.95, intervals contain the true value in 95 of 100 comparisons, and at most
            5 of 100 find a difference that does not exist.
        power: the probability with which a planned comparison finds a difference.
        seed: of sampled signs (see `statistics.signflip`).
        over: the unit of the comparison: tasks or cases; None: cases if all trials are recorded
            steps, else tasks.
        alike: further dimensions that are equal in a pair.
        names: of A and B.
    """

    metrics: Sequence[Metric] = ("score",)
    within: float = 0.05
    level: float = 0.95
    power: float = 0.8
    seed: int = 0
    over: Over | None = None
    alike: Sequence[Dimension] = ()
    names: tuple[str, str] = ("A", "B")

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1 or not 0.5 <= self.power < 1:
            raise ValueError("level and power must be at least 0.5 and below 1, such as 0.95")
        if not 0 <= self.within <= GREATEST_MARGIN:
            raise ValueError(f"within must be between 0 and {GREATEST_MARGIN:,}, such as 0.05")
        if not self.metrics or len(set(self.metrics)) != len(self.metrics):
            raise ValueError("metrics must be one or more different ones")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is needed to find a difference of `target` with the required power.

    Attributes:
        kind: `margin`: the smallest difference that matters; `seen`: the observed one.
        tasks: the number of tasks with the present repeats; None if unknown.
        repeats: the number of repeats on each side with the present tasks; None if no number
            is enough.
        tasks_now, repeats_now: the present numbers.
    """

    kind: Literal["margin", "seen"]
    target: float
    tasks: int | None
    repeats: int | None
    tasks_now: int
    repeats_now: float


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A metric on both sides.

    Attributes:
        tasks: with a known value on both sides. a, b: None without tasks.
        difference: B - A, with `interval` around it; relative: as a share of A's mean.
        margin: the largest difference that does not matter, in the unit of the metric.
        higher, lower, equal: the number of tasks in which B's mean is.
        p: of the sign-flip test; None if the metric is not tested. adjusted: by Holm's method
            over all tested metrics. exact: whether all signs were counted.
        verdict: None if not tested; why: in a sentence.
        unknown: trials of A and of B without a value (an agent does not report its cost).
    """

    metric: Metric
    tasks: int
    a: Estimate | None = None
    b: Estimate | None = None
    difference: float | None = None
    interval: Interval | None = None
    relative: float | None = None
    margin: float | None = None
    higher: int = 0
    lower: int = 0
    equal: int = 0
    p: float | None = None
    adjusted: float | None = None
    exact: bool = True
    verdict: Verdict | None = None
    why: str = ""
    plans: Sequence[Plan] = ()
    unknown: tuple[int, int] = (0, 0)


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Trials of a side that are not compared, the reason, their tasks and cases."""

    side: Side
    reason: Reason
    trials: int
    places: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The result of a comparison.

    Attributes:
        verdict: of the first tested metric.
        trials: the compared ones of A and of B. tasks: their names; over: the unit.
        tested: the metrics with a verdict, in the order of the request. beside: the others; a
            metric without known values has 0 tasks. changes: if A and B are whole runs.
    """

    verdict: Verdict
    names: tuple[str, str]
    tasks: Sequence[str]
    over: Over
    trials: tuple[int, int]
    level: float
    power: float
    within: float
    seed: int
    tested: Sequence[Measured]
    beside: Sequence[Measured]
    left_out: Sequence[LeftOut] = ()
    notes: Sequence[str] = ()
    changes: Changes | None = None
