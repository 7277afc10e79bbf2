"""What `compare` and its intervals do over many evaluations of which the truth is known.

Every evaluation has 3 repeats of each task. A task has a rate (or a level) of its own; A and B are
the same, or B is better or worse by a known amount. Seeded: the figures are the same everywhere.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import sqrt

import numpy as np
import pytest
from compare_kit import A, B, trial
from numpy.typing import NDArray
from tests.forms import form

from uwf_core.api import Usage
from uwf_eval.compare.compare import compare
from uwf_eval.records import Trial
from uwf_eval.statistics.intervals import cluster_mean, paired_difference, wilson_interval

REPEATS = 3
RATES = np.linspace(0.05, 0.95, 19)
TASKS = (6, 10, 20, 50)
EVALUATIONS = form(
    short={6: 250, 10: 160, 20: 100, 50: 60}, long={6: 500, 10: 400, 20: 300, 50: 200}
)
Scores = NDArray[np.float64]
"""Evaluations x tasks x repeats."""


def most(count: int, share: float = 0.05) -> float:
    """A share with three standard errors of so many evaluations."""
    return share + 3 * sqrt(share * (1 - share) / count)


def rates(drawn: np.random.Generator, mean: float, shape: tuple[int, int]) -> Scores:
    """Rates of tasks around a mean: a beta distribution, correlation 0.3 within a task."""
    total = 0.7 / 0.3
    return drawn.beta(mean * total, (1 - mean) * total, size=shape)


def graded(drawn: np.random.Generator, count: int, tasks: int) -> tuple[Scores, Scores]:
    """Scores in hundredths around a level of each task, the same for A and B."""
    level = drawn.uniform(0.3, 0.7, size=(count, tasks, 1))
    noise = drawn.normal(0, 0.15, size=(2, count, tasks, REPEATS))
    a, b = np.clip(level + noise, 0, 1).round(2)
    return a, b


def passing(drawn: np.random.Generator, count: int, tasks: int) -> tuple[Scores, Scores]:
    """Trials that pass or fail, at rates of each task that are the same for A and B."""
    rate = rates(drawn, 0.6, (count, tasks))[:, :, None]
    a, b = (drawn.random((2, count, tasks, REPEATS)) < rate) * 1.0
    return a, b


def broken(drawn: np.random.Generator, count: int, tasks: int) -> tuple[Scores, Scores]:
    """B is A, but for one task in ten, at which it always fails: worse by 0.08."""
    level = drawn.uniform(0.6, 1, size=(count, tasks, 1))
    a = np.repeat(level, REPEATS, axis=2).round(2)
    b = np.where(drawn.random((count, tasks, 1)) < 0.1, 0.0, a)
    return a, b


@cache
def known(run: str, task: int, repeat: int, hundredths: int) -> Trial:
    """Each trial is made once: the same ones come up again and again."""
    return trial(
        run, f"task-{task}", repeat, hundredths / 100, number=task * 10 + repeat, usage=Usage()
    )


def verdicts(a: Scores, b: Scores) -> Iterator[str]:
    """The verdict of each evaluation."""
    for left, right in zip((a * 100).round(), (b * 100).round(), strict=True):
        sides = [
            [
                known(run, task, repeat, int(score))
                for task, row in enumerate(scores.tolist())
                for repeat, score in enumerate(row)
            ]
            for run, scores in ((A, left), (B, right))
        ]
        yield compare(*sides).verdict


def bootstrap_finds(a: Scores, b: Scores, drawn: np.random.Generator) -> float:
    """How often the percentile bootstrap over tasks finds a difference."""
    differences = (b - a).mean(axis=2)
    count, tasks = differences.shape
    chosen = drawn.integers(0, tasks, size=(count, 1000, tasks))
    means = np.take_along_axis(differences[:, None, :], chosen, axis=2).mean(axis=2)
    low, high = np.quantile(means, [0.025, 0.975], axis=1)
    return float(np.mean((low > 0) | (high < 0)))


@pytest.mark.parametrize("tasks", TASKS)
@pytest.mark.parametrize("scores", [graded, passing])
def test_a_difference_where_there_is_none_is_found_in_at_most_5_percent(
    scores: Callable[..., tuple[Scores, Scores]], tasks: int
) -> None:
    count = EVALUATIONS[tasks]
    found = list(verdicts(*scores(np.random.default_rng(7), count, tasks)))
    share = sum(each in ("better", "worse") for each in found) / count
    assert share <= most(count)
    if scores is graded and tasks > 6:
        assert share >= 0.02, "a test that never finds anything holds no less"


def test_nor_is_it_where_one_side_was_tried_more_often() -> None:
    count = EVALUATIONS[20]
    a, b = passing(np.random.default_rng(23), count, 20)
    found = list(verdicts(a, b[:, :, :1]))
    assert sum(each in ("better", "worse") for each in found) / count <= most(count)


def test_the_naive_bootstrap_finds_one_nearly_three_times_as_often() -> None:
    drawn = np.random.default_rng(7)
    count = 500
    share = bootstrap_finds(*graded(drawn, count, 6), drawn)
    assert share > most(count)
    assert share == pytest.approx(0.137, abs=0.02)


@pytest.mark.parametrize(("tasks", "least"), [(6, 0.4), (10, 0.9)])
def test_a_difference_that_is_there_is_found_and_never_the_other_way(
    tasks: int, least: float
) -> None:
    a, b = graded(np.random.default_rng(11), 200, tasks)
    found = list(verdicts(a, np.clip(b + 0.15, 0, 1)))
    assert sum(each == "better" for each in found) / 200 >= least
    assert "worse" not in found


@pytest.mark.parametrize("tasks", [6, 20, 50])
def test_no_difference_is_not_said_of_a_workflow_that_breaks_one_task_in_ten(tasks: int) -> None:
    """Even where none of these tasks was among those that were tried."""
    a, b = broken(np.random.default_rng(13), 120, tasks)
    found = list(verdicts(a, b))
    assert sum(each == "no_difference" for each in found) / 120 <= most(120)
    assert "better" not in found


@pytest.mark.parametrize("tasks", TASKS)
def test_the_interval_of_a_mean_holds_the_rate_in_93_to_97_percent(tasks: int) -> None:
    drawn = np.random.default_rng(17)
    assert 0.93 <= coverage(_mean_holds(drawn, tasks)) <= 0.97


@pytest.mark.parametrize("tasks", [6, 10])
def test_the_interval_of_student_does_not(tasks: int) -> None:
    from scipy import stats

    drawn = np.random.default_rng(17)
    holds = []
    for rate in RATES:
        means = _outcomes(drawn, rates(drawn, rate, (200, tasks))).mean(axis=2)
        half = stats.t.ppf(0.975, tasks - 1) * means.std(axis=1, ddof=1) / sqrt(tasks)
        holds.append(float(np.mean(abs(means.mean(axis=1) - rate) <= half)))
    assert coverage(holds) < 0.93


@pytest.mark.parametrize("gain", [0.0, 0.1])
@pytest.mark.parametrize("tasks", TASKS)
def test_the_interval_of_a_difference_holds_it_in_93_to_97_percent(tasks: int, gain: float) -> None:
    drawn = np.random.default_rng(19)
    assert 0.93 <= coverage(_difference_holds(drawn, tasks, gain)) <= 0.97


def test_wilsons_interval_holds_the_rate_in_93_to_97_percent() -> None:
    from scipy import stats

    for trials in (6, 10, 20, 50):
        counts = np.arange(trials + 1)
        intervals = [wilson_interval(int(each), trials) for each in counts]
        holds = [
            sum(stats.binom.pmf(passed, trials, rate) for passed in counts
                if intervals[passed].holds(rate))
            for rate in RATES
        ]  # fmt: skip
        assert 0.93 <= coverage(holds) <= 0.97


def coverage(holds: Sequence[float]) -> float:
    """The mean over all rates."""
    return sum(holds) / len(holds)


def _outcomes(drawn: np.random.Generator, chances: Scores) -> Scores:
    return (drawn.random((*chances.shape, REPEATS)) < chances[:, :, None]) * 1.0


def _mean_holds(drawn: np.random.Generator, tasks: int, count: int = 150) -> list[float]:
    holds = []
    for rate in RATES:
        held = 0
        for groups in _outcomes(drawn, rates(drawn, rate, (count, tasks))).tolist():
            estimate = cluster_mean(groups)
            assert estimate is not None and estimate.interval is not None
            held += estimate.interval.holds(rate)
        holds.append(held / count)
    return holds


def _difference_holds(
    drawn: np.random.Generator, tasks: int, gain: float, count: int = 100
) -> list[float]:
    """B passes a task with the chance that A has, and of what is left with a chance of `gain`."""
    holds = []
    for rate in RATES:
        before = rates(drawn, rate, (count, tasks))
        a, b = _outcomes(drawn, before), _outcomes(drawn, before + gain * (1 - before))
        held = 0
        for left, right in zip(a.mean(axis=2).tolist(), b.mean(axis=2).tolist(), strict=True):
            interval = paired_difference(left, right).interval
            assert interval is not None
            held += interval.holds(gain * (1 - rate))
        holds.append(held / count)
    return holds
