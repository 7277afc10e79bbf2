"""pass@k and pass^k."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_eval.statistics.passes import (
    mean_pass_at_k,
    mean_pass_hat_k,
    pass_at_k,
    pass_hat_k,
)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.data())
def test_they_are_the_shares_of_all_ways_to_choose_k_of_the_trials(
    n: int, data: st.DataObject
) -> None:
    passed, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    chosen = list(combinations([True] * passed + [False] * (n - passed), k))
    assert pass_at_k(n, passed, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert pass_hat_k(n, passed, k) == pytest.approx(sum(map(all, chosen)) / len(chosen))


def test_with_k_of_1_both_are_the_success_rate() -> None:
    assert pass_at_k(10, 3, 1) == pytest.approx(0.3)
    assert pass_hat_k(10, 3, 1) == pytest.approx(0.3)


def test_tasks_count_alike_and_those_with_too_few_trials_say_nothing() -> None:
    counts = [(3, 3), (3, 0), (1, 1)]
    assert mean_pass_at_k(counts, 2) == 0.5
    assert mean_pass_hat_k(counts, 2) == 0.5
    assert mean_pass_at_k(counts, 4) is None
    assert mean_pass_hat_k([], 1) is None


@pytest.mark.parametrize(("n", "passed", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 4)])
def test_numbers_that_cannot_be_are_refused(n: int, passed: int, k: int) -> None:
    for estimate in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match=r"cannot have passed|k must be within"):
            estimate(n, passed, k)
