"""What a comparison is asked, and what it answers."""

from collections.abc import Sequence
from typing import Final, Literal

from uwf_core.api.record import record
from uwf_eval.statistics.intervals import Estimate, Interval

Metric = Literal["score", "passed", "cost", "tokens", "duration"]
METRICS: Final[tuple[Metric, ...]] = ("score", "passed", "cost", "tokens", "duration")

Verdict = Literal["better", "worse", "no_difference", "cannot_tell"]
VERDICTS: Final[tuple[Verdict, ...]] = ("better", "worse", "no_difference", "cannot_tell")

GREATEST_MARGIN: Final = 1_000_000
"""More than this share of A's mean is no margin."""

Over = Literal["task", "case"]
Dimension = Literal["agent", "model", "workflow"]
DIMENSIONS: Final[tuple[Dimension, ...]] = ("agent", "model", "workflow")
Side = Literal["A", "B"]
Reason = Literal["infra_error", "not_run", "no_score", "fixture", "unpaired"]


@record
class CompareOptions:
    """What is asked of a comparison.

    Attributes:
        metrics: those that get a verdict, the most important first. The others stand beside.
        within: differences up to this do not matter: of a score or a pass rate itself, of cost,
            tokens and duration as a share of A's mean.
        level: 0.95: intervals hold the truth in 95 of 100 comparisons, and in at most 5 of 100
            a difference is found where there is none.
        power: the chance with which a planned comparison is to find a difference.
        seed: for signs that are drawn (see `statistics.signflip`).
        over: what the result is to hold for, and what counts as one: tasks, or cases.
        alike: what pairs have in common besides task, case and fixture.
        names: what A and B are called.
    """

    metrics: Sequence[Metric] = ("score",)
    within: float = 0.05
    level: float = 0.95
    power: float = 0.8
    seed: int = 0
    over: Over = "task"
    alike: Sequence[Dimension] = ()
    names: tuple[str, str] = ("A", "B")

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1 or not 0.5 <= self.power < 1:
            raise ValueError("level and power must be at least 0.5 and below 1, such as 0.95")
        if not 0 <= self.within <= GREATEST_MARGIN:
            raise ValueError(f"within must be between 0 and {GREATEST_MARGIN:,}, such as 0.05")
        if not self.metrics or len(set(self.metrics)) != len(self.metrics):
            raise ValueError("metrics must be one or more different ones")


@record
class Plan:
    """What would find a difference as large as `target`, with the power that was asked for.

    Attributes:
        kind: `margin`: the smallest difference that matters; `seen`: the one that was seen.
        tasks: how many tasks in all, with repeats as now; None where it cannot be known.
        repeats: how many repeats of each side, with the tasks as now; None where no number would.
        tasks_now, repeats_now: what there is.
    """

    kind: Literal["margin", "seen"]
    target: float
    tasks: int | None
    repeats: int | None
    tasks_now: int
    repeats_now: float


@record
class Measured:
    """A metric on both sides.

    Attributes:
        tasks: on both sides with this metric known. a, b: None where there are none.
        difference: B - A, with `interval` around it; relative: as a share of A's mean.
        margin: the difference up to which there is none that matters, in the metric's own unit.
        higher, lower, equal: tasks in which B's mean is.
        p: of the sign-flip test; None if the metric is not tested. adjusted: after Holm, for all
            metrics that are. exact: whether all signs were counted.
        verdict: None if not tested; why: in a sentence.
        unknown: trials of A and of B that do not say it (an agent that tells no cost).
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


@record
class LeftOut:
    """Trials of a side that count for nothing here, why, and of which tasks and cases."""

    side: Side
    reason: Reason
    trials: int
    places: Sequence[str]


@record
class Comparison:
    """The answer.

    Attributes:
        verdict: of the first metric that was asked for.
        trials: that count, of A and of B. tasks: their names; over: what counted as one.
        tested: with a verdict, in the order asked for. beside: the others; those that no task
            tells have 0 tasks.
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
