"""How many tasks or repeats it would take."""

import numpy as np
import pytest
from tests.eval.statistics.scipy_oracle import stats

from uwf_eval.statistics.power import Aim, Spread, repeats_needed, spread, tasks_needed

AIM = Aim(target=0.1)


def test_the_number_of_tasks_finds_the_difference_as_often_as_was_asked() -> None:
    seen = Spread(tasks=10, total=0.04, between=0.03, within=0.03)
    tasks = tasks_needed(seen, AIM, bounded=True)
    assert tasks == 34
    drawn = np.random.default_rng(1).normal(0.1, 0.2, size=(4000, tasks))
    found = stats.ttest_1samp(drawn, 0, axis=1).pvalue <= 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.03)


def test_repeats_help_down_to_what_differs_between_tasks_and_no_further() -> None:
    noisy = Spread(tasks=20, total=0.06, between=0.01, within=0.15)
    assert repeats_needed(noisy, AIM) == 12
    assert tasks_needed(noisy, AIM, bounded=True) == 50
    different = Spread(tasks=20, total=0.06, between=0.05, within=0.03)
    assert repeats_needed(different, AIM) is None


def test_fewer_tasks_than_the_test_needs_are_not_helped_by_repeats() -> None:
    assert repeats_needed(Spread(tasks=5, total=0.01, between=0.0, within=0.01), AIM) is None
    assert tasks_needed(Spread(tasks=2, total=1e-6, between=None, within=None), AIM,
                        bounded=True) == 6  # fmt: skip


def test_without_repeats_nothing_is_said_of_them() -> None:
    seen = spread([[([0.0], [1.0])], [([0.5], [0.5])]])
    assert (seen.between, seen.within) == (None, None)
    assert repeats_needed(seen, AIM) is None


def test_where_nothing_varied_it_takes_as_many_tasks_as_the_interval_says() -> None:
    flat = spread([[([1.0, 1.0], [1.0, 1.0])]] * 8)
    assert flat == Spread(tasks=8, total=0.0, between=0.0, within=0.0)
    assert tasks_needed(flat, Aim(target=0.05), bounded=True) == 73
    assert tasks_needed(flat, Aim(target=0.05), bounded=False) is None
    assert repeats_needed(flat, AIM) is None


def test_no_difference_and_a_tiny_one_need_no_number_of_tasks() -> None:
    seen = Spread(tasks=10, total=0.04, between=0.03, within=0.03)
    assert tasks_needed(seen, Aim(target=0.0), bounded=True) is None
    assert tasks_needed(seen, Aim(target=1e-5), bounded=True) is None


def test_the_variances_are_told_apart() -> None:
    """Between 0.02 for tasks, within 0.5 for one repeat on both sides, with 3 repeats."""
    drawn = np.random.default_rng(2)
    effects = drawn.normal(0, 0.02**0.5, size=4000)
    tasks = [
        [(list(drawn.normal(0, 0.5, 3)), list(drawn.normal(effect, 0.5, 3)))] for effect in effects
    ]
    seen = spread(tasks)
    assert seen.within == pytest.approx(0.5, rel=0.05)
    assert seen.between == pytest.approx(0.02, abs=0.012)
    halves = [[(a, b), (a, b)] for [(a, b)] in tasks]  # two cases a task: noise of a mean of two
    assert spread(halves).within == pytest.approx(0.25, rel=0.05)
