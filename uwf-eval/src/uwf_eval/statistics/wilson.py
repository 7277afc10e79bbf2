"""Wilson's interval for a share."""

from math import sqrt

from uwf_eval.statistics.interval import Interval
from uwf_eval.statistics.normal import normal_quantile


def wilson_interval(successes: float, trials: float, level: float = 0.95) -> Interval:
    """The interval of a success rate p = successes / trials of independent trials.

        (p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n),  z the normal quantile

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal
    of the American Statistical Association 22 (1927) 209-212; recommended for small n by Brown,
    Cai and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16
    (2001) 101-133. Repeats of one task are not independent: for them see `cluster_mean`.

    Args:
        successes: within 0..trials. trials: more than 0; neither needs to be whole.
        level: the share of intervals that hold the true rate, such as 0.95.

    Raises:
        ValueError: the numbers are not of these ranges.
    """
    if not 0 < level < 1:
        raise ValueError(f"a level is between 0 and 1, not {level}")
    if not (trials > 0 and 0 <= successes <= trials):
        raise ValueError(f"{successes} successes of {trials} trials cannot be")
    return wilson_around(successes / trials, trials, normal_quantile((1 + level) / 2))


def wilson_around(share: float, trials: float, quantile: float) -> Interval:
    """Wilson's interval around a share, with another quantile than the normal one."""
    square = quantile * quantile / trials
    centre = (share + square / 2) / (1 + square)
    half = quantile * sqrt(max(share * (1 - share), 0.0) / trials + square / (4 * trials))
    half /= 1 + square
    # The share itself is within, whatever rounding says where it is 0 or 1.
    return Interval(
        low=max(min(centre - half, share), 0.0), high=min(max(centre + half, share), 1.0)
    )
