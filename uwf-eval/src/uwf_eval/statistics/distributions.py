"""The normal distribution, and Student's t with any positive number of degrees of freedom."""

from functools import lru_cache
from math import erfc, exp, inf, isinf, lgamma, log, log1p, pi, sqrt
from typing import Final

_TINY: Final = 1e-300
_CLOSE: Final = 1e-15
_MOST_TERMS: Final = 10_000
_LARGE: Final = 1e4
"""Degrees of freedom from which four terms of the expansion are exact to 15 digits."""


def beta_share(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for 0 <= x <= 1 and a, b > 0.

    By the continued fraction of NIST DLMF 8.17.22, with Lentz's method as in Press et al.,
    "Numerical Recipes", 3rd edition, 6.4; the symmetry I_x(a, b) = 1 - I_(1-x)(b, a) keeps it on
    the side on which it converges fast.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _not_zero(1 + even * d)
        c = _not_zero(1 + even / c)
        result *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _not_zero(1 + odd * d)
        c = _not_zero(1 + odd / c)
        result *= d * c
        if abs(d * c - 1) < _CLOSE:
            break
    return result


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def t_cdf(t: float, df: float) -> float:
    """P(T <= t) = 1 - I_x(df/2, 1/2) / 2 with x = df / (df + t²) for t >= 0 (Abramowitz and
    Stegun, "Handbook of Mathematical Functions", 26.7.1 with 26.5.27), near 0 by I_(1-x).

    Raises:
        ValueError: `df` is not positive.
    """
    if not df > 0:
        raise ValueError(f"degrees of freedom must be positive, not {df}")
    if isinf(df) or isinf(t):
        return normal_cdf(t)
    if abs(t) < 0.5:
        tail = 0.5 - beta_share(t * t / (df + t * t), 0.5, df / 2) / 2
    else:
        tail = beta_share(df / (df + t * t), df / 2, 0.5) / 2
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """The t with P(T <= t) = p; ±inf at 1 and 0.

    The expansion of Abramowitz and Stegun 26.7.5, made exact with Newton's method on `t_cdf`.

    Raises:
        ValueError: `p` is not within 0..1, or `df` is not positive.
    """
    if not df > 0:
        raise ValueError(f"degrees of freedom must be positive, not {df}")
    if isinf(df) or p in (0, 1) or not 0 <= p <= 1:
        return normal_quantile(p)
    if p < 0.5:
        return -_upper_quantile(p, df)
    return _upper_quantile(1 - p, df)


def _upper_quantile(tail: float, df: float) -> float:
    """The t >= 0 with P(T > t) = tail <= 1/2."""
    low, high = 0.0, inf
    t = _expanded(-normal_quantile(tail), df)
    if df > _LARGE:
        return t
    for _ in range(500):
        excess = t_cdf(-t, df) - tail
        low, high = (t, high) if excess > 0 else (low, t)
        after = t + excess / _density(t, df)
        if not low <= after <= high:
            after = 2 * t + 1 if isinf(high) else (low + high) / 2
        if abs(after - t) <= 1e-8 * after:  # the error is about the square of the last step's
            return after
        t = after
    return t


def _expanded(x: float, df: float) -> float:
    """t out of the normal quantile x, the nearer the larger `df` is."""
    square = x * x
    terms = (
        (square + 1) / 4,
        ((5 * square + 16) * square + 3) / 96,
        (((3 * square + 19) * square + 17) * square - 15) / 384,
        ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    return x * (1 + sum(term / df**power for power, term in enumerate(terms, start=1)))


def _density(t: float, df: float) -> float:
    """The density of T at t (Abramowitz and Stegun 26.7.2 differentiated)."""
    scale = lgamma((df + 1) / 2) - lgamma(df / 2) - log(pi * df) / 2
    return max(exp(scale - (df + 1) / 2 * log1p(t * t / df)), _TINY)


def t_half_width(deviation: float, count: int, level: float) -> float:
    """t(1 - (1 - level) / 2; n - 1) · s / √n: half of Student's interval for a mean of `count`
    values with standard deviation s = `deviation` (Student, "The probable error of a mean",
    Biometrika 6, 1908).
    """
    return t_quantile((1 + level) / 2, count - 1) * deviation / sqrt(count)


def normal_cdf(x: float) -> float:
    """P(Z <= x) = erfc(-x / √2) / 2 for a standard normal Z (NIST DLMF 7.17.1)."""
    return 0.5 * erfc(-x / sqrt(2))


def normal_quantile(p: float) -> float:
    """The x with P(Z <= x) = p; ±inf at 1 and 0.

    Raises:
        ValueError: `p` is not within 0..1.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"a probability must be within 0..1, not {p}")
    if p in (0, 1):
        return inf if p else -inf
    from statistics import NormalDist  # slow to load, and a run needs the rest of this package

    return NormalDist().inv_cdf(p)
