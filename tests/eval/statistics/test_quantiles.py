"""The distributions agree with scipy's to the last digits that can agree."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.eval.statistics.scipy_oracle import special, stats

from uwf_eval.statistics.distributions import (
    beta_share,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_half_width,
    t_quantile,
)

TAILS = (1e-12, 1e-6, 0.001, 0.025, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.975, 0.999, 1 - 1e-6)
FREEDOMS = (0.5, 1, 1.3, 2, 3, 5, 7.77, 10, 30, 49, 333.3, 9_999, 10_001, 1e6, 1e12)


@pytest.mark.parametrize("p", [*TAILS, 1e-300, 0.02425, 0.0242499])
def test_normal_quantiles_are_those_of_scipy(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1e-12, abs=1e-15)
    assert normal_cdf(normal_quantile(p)) == pytest.approx(p, rel=1e-11)


@pytest.mark.parametrize("df", FREEDOMS)
def test_t_quantiles_are_those_of_scipy(df: float) -> None:
    for p in TAILS:
        assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.floats(-40, 40), st.floats(0.3, 5000))
def test_t_probabilities_are_those_of_scipy(t: float, df: float) -> None:
    assert t_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), rel=1e-9, abs=1e-13)


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 1), st.floats(0.1, 200), st.floats(0.1, 200))
def test_the_incomplete_beta_function_is_that_of_scipy(x: float, a: float, b: float) -> None:
    assert beta_share(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-9, abs=1e-13)


def test_quantiles_at_the_ends_are_infinite_and_beyond_them_an_error() -> None:
    assert normal_quantile(0) == t_quantile(0, 3) == -math.inf
    assert normal_quantile(1) == t_quantile(1, 3) == math.inf
    assert t_quantile(0.975, math.inf) == normal_quantile(0.975)
    for p in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match=r"within 0\.\.1"):
            normal_quantile(p)
        with pytest.raises(ValueError, match=r"within 0\.\.1"):
            t_quantile(p, 5)
    for df in (0, -1, math.nan):
        with pytest.raises(ValueError, match="positive"):
            t_quantile(0.9, df)
        with pytest.raises(ValueError, match="positive"):
            t_cdf(1.0, df)


def test_the_width_of_a_student_interval_is_that_of_scipy() -> None:
    values = [0.2, 0.5, 0.9, 0.4]
    low, high = stats.t.interval(0.9, 3, 0.5, stats.sem(values))
    half = t_half_width(stats.tstd(values), 4, 0.9)
    assert (0.5 - half, 0.5 + half) == pytest.approx((low, high), rel=1e-12)
