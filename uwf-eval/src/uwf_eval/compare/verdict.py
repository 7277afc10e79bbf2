"""The rule for the verdict (better, worse, no difference, cannot tell) and its explanation.

A difference counts if the test (after Holm) is significant and the interval excludes 0. There is no
difference if the whole interval is inside the margin (two one-sided tests, on the wider displayed
interval: D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987) 657-680).
All other results, and fewer tasks than the test needs, are "cannot tell".
"""

from uwf_eval.compare.measure import higher_is_better
from uwf_eval.compare.records import CompareOptions, Measured, Verdict
from uwf_eval.statistics.signflip import least_tasks


def judge(measured: Measured, options: CompareOptions) -> tuple[Verdict, str]:
    """The verdict on a tested metric, and its explanation."""
    if measured.tasks == 0:
        return "cannot_tell", f"No {options.over} has a known result on both sides."
    least = least_tasks((1 - options.level) / len(options.metrics))
    if measured.tasks < least:
        return "cannot_tell", _too_few(measured.tasks, least, options)
    if _within(measured):
        return "no_difference", _small(measured, options)
    if _shown(measured, options):
        up = (measured.difference or 0) > 0
        return "better" if up == higher_is_better(measured.metric) else "worse", _clear(measured)
    return "cannot_tell", _unclear(measured, options)


def _within(measured: Measured) -> bool:
    interval, margin = measured.interval, measured.margin
    return interval is not None and margin is not None and interval.inside(margin)


def _shown(measured: Measured, options: CompareOptions) -> bool:
    return _significant(measured.adjusted, options) and not _reaches_zero(measured)


def _significant(p: float | None, options: CompareOptions) -> bool:
    return p is not None and p <= 1 - options.level + 1e-12


def _reaches_zero(measured: Measured) -> bool:
    return measured.interval is not None and measured.interval.holds(0.0)


def _too_few(tasks: int, least: int, options: CompareOptions) -> str:
    noun = options.over if tasks == 1 else f"{options.over}s"
    several = f" with {len(options.metrics)} metrics" if len(options.metrics) > 1 else ""
    return (
        f"{tasks} {noun} cannot show a difference: even if all pointed one way, that could be "
        f"chance. A level of {options.level:.4g}{several} needs at least {least}."
    )


def _small(measured: Measured, options: CompareOptions) -> str:
    words = "Any difference is smaller than the margin."
    if _significant(measured.adjusted, options):
        words += f" A small difference is significant (p = {shown_p(measured.adjusted)})."
    return words


def _clear(measured: Measured) -> str:
    return (
        f"Chance alone would show so clear a difference in {_of_hundred(measured.adjusted)} "
        "comparisons."
    )


def _unclear(measured: Measured, options: CompareOptions) -> str:
    if measured.higher == measured.lower == 0:
        return (
            "Every task has the same result on both sides. Tasks that differ may be missing from "
            "this sample."
        )
    if _significant(measured.adjusted, options):
        return (
            "The test finds a difference, but the interval of its size still contains 0: the "
            "data are at the limit of what these tasks can show."
        )
    if _significant(measured.p, options):
        return (
            f"Alone it would be significant (p = {shown_p(measured.p)}), but with "
            f"{len(options.metrics)} metrics it is not (p = {shown_p(measured.adjusted)} after "
            "Holm's correction)."
        )
    if (measured.adjusted or 0) >= 0.995:
        return "By chance alone nearly every comparison shows a difference as large."
    return (
        f"Chance alone would show a difference as large in {_of_hundred(measured.adjusted)} "
        "comparisons."
    )


def shown_p(p: float | None) -> str:
    """Format a p-value: `0.25`, `0.012`, `< 0.001`."""
    if p is None:
        return "–"
    if p < 0.001:
        return "< 0.001"
    return f"{p:.2f}" if p >= 0.095 else f"{p:.3f}"


def _of_hundred(p: float | None) -> str:
    p = p or 0.0
    if p >= 0.0095:
        return f"{p * 100:.0f} of 100"
    return f"{p * 1000:.0f} of 1000" if p >= 0.001 else "less than 1 of 1000"
