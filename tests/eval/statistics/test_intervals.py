"""Intervals of shares, means and differences."""

import math
import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.eval.statistics.scipy_oracle import stats

from uwf_eval.statistics.intervals import (
    bounded_interval,
    cluster_mean,
    correlation,
    paired_difference,
    square_and_add,
    student_interval,
    wilson_interval,
)

scores = st.floats(0, 1)
tasks = st.lists(scores, min_size=1, max_size=12)
some = settings(max_examples=40, deadline=None)
pairs = st.lists(st.tuples(scores, scores), min_size=1, max_size=12)


def sides(pairs: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


@some
@given(st.integers(1, 500), st.data())
def test_wilson_is_that_of_scipy(trials: int, data: st.DataObject) -> None:
    passed = data.draw(st.integers(0, trials))
    level = data.draw(st.sampled_from([0.8, 0.9, 0.95, 0.99]))
    wanted = stats.binomtest(passed, trials).proportion_ci(level, method="wilson")
    found = wilson_interval(passed, trials, level)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


@pytest.mark.parametrize(("passed", "trials"), [(1, 0), (-1, 3), (4, 3), (math.nan, 3)])
def test_rates_that_cannot_be_are_refused(passed: float, trials: float) -> None:
    with pytest.raises(ValueError, match="impossible"):
        wilson_interval(passed, trials)


@pytest.mark.parametrize("level", [0, 1, -1, math.nan])
def test_levels_that_cannot_be_are_refused(level: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson_interval(1, 3, level)
    with pytest.raises(ValueError, match="between 0 and 1"):
        cluster_mean([[0.5]], level)


@some
@given(tasks)
def test_the_interval_of_a_mean_score_holds_it_and_stays_within_0_and_1(means: list[float]) -> None:
    estimate = cluster_mean([[each] for each in means])
    assert estimate is not None and estimate.interval is not None
    assert estimate.mean == pytest.approx(math.fsum(means) / len(means))
    assert 0 <= estimate.interval.low <= estimate.mean + 1e-12
    assert estimate.mean - 1e-12 <= estimate.interval.high <= 1
    assert estimate.interval.high - estimate.interval.low > 1e-9 or len(means) > 1


@some
@given(tasks)
def test_what_fails_is_the_mirror_of_what_passes(means: list[float]) -> None:
    there = bounded_interval(means, 0.95)
    back = bounded_interval([1 - each for each in means], 0.95)
    assert (there.low, there.high) == pytest.approx((1 - back.high, 1 - back.low), abs=1e-6)


def test_tasks_that_only_pass_or_fail_have_wilsons_interval_for_as_many_trials_less_one() -> None:
    # s² = p(1 - p) n/(n - 1): the effective number of trials is n - 1.
    means = [1.0] * 7 + [0.0] * 3
    assert bounded_interval(means, 0.95) == wilson_interval(0.7 * 9, 9)


def test_tasks_that_are_all_alike_count_as_one_trial_each() -> None:
    for score in (0.0, 0.7, 1.0):
        assert bounded_interval([score] * 6, 0.95) == wilson_interval(score * 6, 6)


def test_scores_that_vary_little_have_nearly_the_interval_of_student() -> None:
    means = [0.50 + 0.001 * step for step in range(-5, 6)]
    low, high = stats.t.interval(0.95, 10, 0.5, stats.sem(means))
    found = bounded_interval(means, 0.95)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-5)


def test_repeats_do_not_count_as_tasks() -> None:
    few = cluster_mean([[1.0] * 2, [0.0] * 2, [1.0] * 2])
    many = cluster_mean([[1.0] * 50, [0.0] * 50, [1.0] * 50])
    assert few is not None and many is not None
    assert few.interval == many.interval
    assert (many.groups, many.values) == (3, 150)


def test_tasks_count_alike_whatever_their_number_of_repeats() -> None:
    estimate = cluster_mean([[1.0], [0.0] * 9, []])
    assert estimate is not None
    assert (estimate.mean, estimate.groups, estimate.values) == (0.5, 2, 10)


def test_of_nothing_there_is_no_mean_and_a_value_beyond_0_and_1_is_refused() -> None:
    assert cluster_mean([]) is None
    assert cluster_mean([[], []]) is None
    with pytest.raises(ValueError, match=r"within 0\.\.1"):
        cluster_mean([[0.5], [1.2]])
    assert cluster_mean([[0.5], [1.2]], bounded=False) is not None


@some
@given(st.lists(st.integers(-10_000, 10_000).map(float), min_size=2, max_size=12))
def test_unbounded_means_have_the_interval_of_student(values: list[float]) -> None:
    assume(len(set(values)) > 1)
    low, high = stats.t.interval(
        0.95, len(values) - 1, sum(values) / len(values), stats.sem(values)
    )
    found = student_interval(values, 0.95)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-6, abs=1e-6)


def test_what_never_varied_has_no_student_interval() -> None:
    assert student_interval([3.0], 0.95) is None
    assert student_interval([0.1 + 0.2, 0.3, 0.3], 0.95) is None
    assert paired_difference([2.0, 3.0], [3.0, 4.0], bounded=False).interval is None


@some
@given(pairs)
def test_swapping_sides_turns_the_difference_around(both: list[tuple[float, float]]) -> None:
    a, b = sides(both)
    there, back = paired_difference(a, b), paired_difference(b, a)
    assert there.interval is not None and back.interval is not None
    assert there.mean == pytest.approx(-back.mean, abs=1e-12)
    assert there.interval.low == pytest.approx(-back.interval.high, abs=1e-9)
    assert -1 <= there.interval.low <= there.mean + 1e-9
    assert there.mean - 1e-9 <= there.interval.high <= 1


@some
@given(pairs, st.randoms())
def test_the_order_of_tasks_does_not_matter(
    both: list[tuple[float, float]], shuffler: random.Random
) -> None:
    before = paired_difference(*sides(both)).interval
    shuffler.shuffle(both)
    after = paired_difference(*sides(both)).interval
    assert before is not None and after is not None
    assert (before.low, before.high) == pytest.approx((after.low, after.high), abs=1e-9)


def test_the_difference_of_paired_rates_is_that_of_newcombe() -> None:
    # Square-and-add by hand from the two intervals: 8 of 10 against 5 of 10, correlated.
    a, b = [1.0] * 5 + [0.0] * 5, [1.0] * 8 + [0.0] * 2
    left, right = wilson_interval(0.5 * 9, 9), wilson_interval(0.8 * 9, 9)
    c = stats.pearsonr(a, b).statistic
    assert correlation(a, b) == pytest.approx(c)
    one, other = 0.8 - right.low, left.high - 0.5
    low = 0.3 - math.sqrt(one**2 - 2 * c * one * other + other**2)
    assert square_and_add(a, b, 0.95).low == pytest.approx(low, abs=1e-9)


@pytest.mark.parametrize(("tasks", "widest"), [(6, 0.40), (20, 0.17), (73, 0.05)])
def test_that_all_came_out_alike_does_not_say_that_all_will(tasks: int, widest: float) -> None:
    a = [float(number % 3 == 0) for number in range(tasks)]
    interval = paired_difference(a, a).interval
    assert interval is not None
    assert interval.high == pytest.approx(widest, abs=0.01)
    assert interval.low == pytest.approx(-widest, abs=0.01)


def test_pairs_that_are_none_are_refused() -> None:
    for a, b in (([], []), ([0.5], [])):
        with pytest.raises(ValueError, match="cannot be paired"):
            paired_difference(a, b)
