"""The normal distribution."""

from math import erfc, exp, log, pi, sqrt
from typing import Final

# Coefficients of Acklam's rational approximation of the quantile, relative error below 1.2e-9.
_A: Final = (-3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2,
             1.383577518672690e2, -3.066479806614716e1, 2.506628277459239)  # fmt: skip
_B: Final = (-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2,
             6.680131188771972e1, -1.328068155288572e1, 1.0)  # fmt: skip
_C: Final = (-7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838,
             -2.549732539343734, 4.374664141464968, 2.938163982698783)  # fmt: skip
_D: Final = (7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996,
             3.754408661907416, 1.0)  # fmt: skip
_TAIL: Final = 0.02425


def normal_cdf(x: float) -> float:
    """P(Z <= x) = erfc(-x / √2) / 2 for a standard normal Z (NIST DLMF 7.17.1)."""
    return 0.5 * erfc(-x / sqrt(2))


def normal_quantile(p: float) -> float:
    """The x with P(Z <= x) = p, to about 15 digits; ±inf at 1 and 0.

    P. J. Acklam's rational approximation ("An algorithm for computing the inverse normal
    cumulative distribution function", 2003), refined by one step of Halley's method.

    Raises:
        ValueError: `p` is not within 0..1.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"a probability is within 0..1, not {p}")
    if p > 0.5:
        return -normal_quantile(1 - p)
    if p == 0:
        return float("-inf")
    x = _approximate(p)
    error = (normal_cdf(x) - p) * sqrt(2 * pi) * exp(x * x / 2)
    return x - error / (1 + x * error / 2)


def _approximate(p: float) -> float:
    """Acklam's approximation for p <= 0.5."""
    if p < _TAIL:
        q = sqrt(-2 * log(p))
        return _polynomial(_C, q) / _polynomial(_D, q)
    q = p - 0.5
    return q * _polynomial(_A, q * q) / _polynomial(_B, q * q)


def _polynomial(coefficients: tuple[float, ...], x: float) -> float:
    total = 0.0
    for each in coefficients:
        total = total * x + each
    return total
