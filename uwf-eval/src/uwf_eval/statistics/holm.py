"""Several questions at once: Holm's correction."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values such that the chance of even one false finding among all stays at the level.

    The i-th smallest of m becomes the greatest of (m - j + 1) · p_(j) for j <= i, at most 1.
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6 (1979) 65-70. It needs no independence.

    Returns:
        The adjusted values in the order in which they came.
    """
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, (len(p_values) - place) * p_values[index])
        adjusted[index] = min(running, 1.0)
    return adjusted
