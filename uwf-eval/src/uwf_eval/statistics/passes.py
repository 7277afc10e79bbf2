"""pass@k and pass^k: what to expect of k attempts, from n of which c passed."""

from collections.abc import Callable, Sequence
from math import comb


def pass_at_k(trials: int, passed: int, k: int) -> float:
    """The chance that at least one of k attempts passes: 1 - C(n - c, k) / C(n, k), unbiased.

    Chen et al., "Evaluating Large Language Models Trained on Code", arXiv 2107.03374 (2021), 2.1.

    Args:
        trials: n, how often the task was tried. passed: c, how often it passed.
        k: at least 1, at most n.

    Raises:
        ValueError: the numbers are not of these ranges.
    """
    _check(trials, passed, k)
    return 1 - comb(trials - passed, k) / comb(trials, k)


def pass_hat_k(trials: int, passed: int, k: int) -> float:
    """The chance that all of k attempts pass: C(c, k) / C(n, k), unbiased.

    Yao et al., "τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains",
    arXiv 2406.12045 (2024), 3. Arguments and errors as `pass_at_k`.
    """
    _check(trials, passed, k)
    return comb(passed, k) / comb(trials, k)


def mean_pass_at_k(counts: Sequence[tuple[int, int]], k: int) -> float | None:
    """`pass_at_k` over tasks `(trials, passed)`, each counting alike; tasks with fewer than k
    trials say nothing of it and are left out. None where none is left.
    """
    return _mean(pass_at_k, counts, k)


def mean_pass_hat_k(counts: Sequence[tuple[int, int]], k: int) -> float | None:
    """`pass_hat_k` over tasks, as `mean_pass_at_k`."""
    return _mean(pass_hat_k, counts, k)


def _mean(
    estimate: Callable[[int, int, int], float], counts: Sequence[tuple[int, int]], k: int
) -> float | None:
    known = [estimate(trials, passed, k) for trials, passed in counts if trials >= k]
    return sum(known) / len(known) if known else None


def _check(trials: int, passed: int, k: int) -> None:
    if not 0 <= passed <= trials:
        raise ValueError(f"{passed} of {trials} trials cannot have passed")
    if not 1 <= k <= trials:
        raise ValueError(f"k must be within 1..{trials}, the number of trials, not {k}")
