"""The sign-flip test: exact, quick, and the same for everything that should not matter."""

import random
from itertools import product
from math import fsum, inf
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.eval.statistics.scipy_oracle import stats

from uwf_eval.statistics.signflip import holm, least_tasks, sign_flip

real = st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), max_size=8)
thirds = st.lists(st.integers(-3, 3).map(lambda k: k / 3), max_size=8)
hundredths = st.lists(st.integers(-100, 100).map(lambda k: k / 100), max_size=8)


def brute(differences: list[float]) -> float:
    """All ways to set the signs, one by one."""
    seen = abs(fsum(differences))
    room = 1e-9 * max(map(abs, differences), default=0.0) * max(len(differences), 1)
    sums = [
        fsum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(abs(each) >= seen - room for each in sums) / len(sums)


@settings(max_examples=50, deadline=None)
@given(st.one_of(real, thirds, hundredths))
def test_p_is_the_share_of_all_signs_counted_one_by_one(differences: list[float]) -> None:
    found = sign_flip(differences)
    assert found.exact
    assert found.p == pytest.approx(brute(differences), rel=1e-12)


@pytest.mark.parametrize("size", [6, 9, 12])
def test_p_is_that_of_scipys_permutation_test(size: int) -> None:
    drawn = random.Random(size)
    differences = [drawn.gauss(0.4, 1) for _ in range(size)]
    wanted = stats.permutation_test(
        (np.array(differences),), np.sum, permutation_type="samples", vectorized=True,
        n_resamples=inf,
    )  # fmt: skip
    assert sign_flip(differences).p == pytest.approx(wanted.pvalue, rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.one_of(real, thirds), st.randoms(), st.floats(0.001, 1000))
def test_order_unit_and_sides_do_not_matter(
    differences: list[float], shuffler: random.Random, unit: float
) -> None:
    wanted = sign_flip(differences).p
    assert sign_flip([-each for each in differences]).p == wanted
    assert sign_flip([*differences, 0.0, 0.0]).p == wanted
    assert sign_flip([each * unit for each in differences]).p == pytest.approx(wanted, rel=1e-12)
    shuffler.shuffle(differences)
    assert sign_flip(differences).p == wanted


def test_differences_on_a_grid_are_exact_for_any_number_of_tasks() -> None:
    # 300 tasks, each of which differs by one third: the binomial test of scipy.
    for ahead in (130, 150, 171, 190):
        differences = [1 / 3] * ahead + [-1 / 3] * (300 - ahead)
        found = sign_flip(differences)
        assert found.exact
        assert found.p == pytest.approx(stats.binomtest(ahead, 300).pvalue, rel=1e-12)


def test_beyond_30_tasks_off_the_grid_signs_are_drawn_with_a_seed() -> None:
    drawn = random.Random(3)
    differences = [drawn.gauss(0.2, 1) for _ in range(40)]
    found = sign_flip(differences, seed=1)
    assert (found.exact, found.samples) == (False, 9_999)
    assert sign_flip(differences, seed=1) == found
    assert sign_flip(differences[::-1], seed=1) == found
    assert sign_flip(differences, seed=2) != found
    rounded = sign_flip([round(each, 2) for each in differences])
    assert rounded.exact
    assert found.p == pytest.approx(rounded.p, abs=0.015)
    assert sign_flip([each + 9 for each in differences]).p == 1 / 10_000


def test_nothing_and_zeros_show_nothing() -> None:
    for differences in ([], [0.0], [0.0] * 40, [0.5, -0.5], [0.1 + 0.2, -0.3]):
        found = sign_flip(differences)
        assert found.exact
        assert found.p == 1.0


def test_fewer_than_6_tasks_cannot_reach_5_percent() -> None:
    assert [least_tasks(p) for p in (0.05, 0.025, 0.01, 1.0)] == [6, 7, 8, 1]
    for tasks in range(1, 12):
        assert sign_flip([0.1] * tasks).p == min(1.0, 2.0 ** (1 - tasks))
        assert least_tasks(min(1.0, 2.0 ** (1 - tasks))) == tasks


def test_thirty_tasks_off_the_grid_take_milliseconds() -> None:
    drawn = random.Random(5)
    differences = [drawn.gauss(0.2, 1) for _ in range(30)]
    began = process_time()
    assert sign_flip(differences).exact
    assert process_time() - began < 2  # 0.03 s on a quiet machine, where 2^30 would take hours


def test_holm_is_that_of_the_paper_and_keeps_the_order() -> None:
    assert holm([]) == []
    assert holm([0.04]) == [0.04]
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_never_makes_a_finding_clearer_and_never_turns_two_around(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(p <= after <= 1 for p, after in zip(ps, adjusted, strict=True))
    assert all(after <= min(1, p * len(ps)) + 1e-12 for p, after in zip(ps, adjusted, strict=True)
               if p == min(ps))  # fmt: skip
    order = sorted(range(len(ps)), key=ps.__getitem__)
    assert [adjusted[i] for i in order] == sorted(adjusted)
