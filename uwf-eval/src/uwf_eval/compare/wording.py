"""The sentences and figures of a comparison, shared by text and Markdown."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from uwf_eval.compare.measure import is_bounded
from uwf_eval.compare.records import Comparison, LeftOut, Measured, Metric, Plan
from uwf_eval.compare.verdict import shown_p
from uwf_eval.report.numbers import NONE, dollars, elapsed, percent, plural, score, tokens
from uwf_eval.report.tables import Columns, Heading, Table, Value, table_of
from uwf_eval.statistics.intervals import Estimate, Interval

_PLACES_SHOWN: Final = 5
_FIGURES: Final[Mapping[Metric, Callable[[float], str]]] = {
    "score": score,
    "passed": percent,
    "cost": dollars,
    "tokens": tokens,
    "duration": elapsed,
    "valid": percent,
    "status": percent,
    "fields": percent,
    "corrections": score,
}
_NAMES: Final[Mapping[Metric, str]] = {
    "passed": "pass rate",
    "valid": "valid output",
    "status": "same status",
    "fields": "equal fields",
}
_REASONS: Final = {
    "infra_error": "infrastructure error",
    "not_run": "not run",
    "no_score": "without a score",
    "fixture": "with another fixture on the other side",
    "unpaired": "without a trial on the other side",
}


def figures(comparison: Comparison, beside: str = "") -> Table:
    """A table of every metric with both means, their difference and the verdict.

    Args:
        beside: the heading of the columns for the intervals of the means; "" omits them.
    """
    columns: Columns = (
        (Heading("Metric"), lambda each: name_of(each.metric)),
        (Heading("A", "number", beside=beside), lambda each: _side(each.metric, each.a)),
        (Heading("B", "number", beside=beside), lambda each: _side(each.metric, each.b)),
        (Heading("B - A", "number", beside="range"), _difference),
        (Heading("Change", "number", rank=3), relative),
        (Heading("Verdict", least=11, rank=2), lambda each: verdict_of(each) or "not tested"),
    )
    every = (*comparison.tested, *comparison.beside)
    return table_of("Figures", columns, (each for each in every if each.tasks))


def _side(metric: Metric, side: Estimate | None) -> Value:
    return Value(figure(metric, side.mean if side else None), (mean_range(metric, side),))


def _difference(measured: Measured) -> Value:
    metric = measured.metric
    return Value(change(metric, measured.difference), (change_range(metric, measured.interval),))


def name_of(metric: Metric) -> str:
    """The displayed name of a metric."""
    return _NAMES.get(metric, metric)


def figure(metric: Metric, value: float | None) -> str:
    """Format a mean of a metric: `0.61`, `61%`, `$0.031`, `12.3k`, `1m05s`."""
    return NONE if value is None else _FIGURES[metric](value)


def change(metric: Metric, value: float | None) -> str:
    """Format a difference with its sign: `+0.12`, `-12 points`, `+$0.013`."""
    if value is None:
        return NONE
    shown = _size(metric, abs(value))
    sign = "" if shown == _size(metric, 0.0) else "+" if value > 0 else "-"
    return f"{sign}{shown}"


def _size(metric: Metric, value: float) -> str:
    """Format a size; small differences of scores and rates keep a significant digit."""
    if not is_bounded(metric):
        return _FIGURES[metric](value)
    places = 3 if 0.0005 <= value < 0.00995 else 2
    return f"{value:.{places}f}" if metric == "score" else f"{value * 100:.{places - 2}f} points"


def mean_range(metric: Metric, estimate: Estimate | None) -> str:
    """The interval of a mean: `0.49 to 0.72`."""
    if estimate is None or estimate.interval is None:
        return NONE
    low = max(estimate.interval.low, 0.0)  # no metric is negative
    return f"{figure(metric, low)} to {figure(metric, estimate.interval.high)}"


def change_range(metric: Metric, interval: Interval | None) -> str:
    """The interval of a difference: `+0.03 to +0.21`."""
    if interval is None:
        return NONE
    low = change(metric, interval.low).removesuffix(" points")
    return f"{low} to {change(metric, interval.high)}"


def relative(measured: Measured) -> str:
    """A difference as a share of A's mean: `+42%`."""
    if measured.relative is None:
        return NONE
    size = percent(abs(measured.relative))
    return size if size == "0%" else f"{'+' if measured.relative > 0 else '-'}{size}"


def verdict_of(measured: Measured) -> str:
    """The verdict in words."""
    if measured.verdict == "no_difference" and measured.margin is not None:
        return f"no difference within {_size(measured.metric, measured.margin)}"
    return (measured.verdict or "").replace("_", " ")


def headline(measured: Measured) -> str:
    """`B is better: …`, with both means."""
    name = name_of(measured.metric)
    words = verdict_of(measured)
    begin = f"B is {words}" if measured.verdict in ("better", "worse") else words.capitalize()
    if measured.a is None or measured.b is None:
        return f"{begin}: {name} unknown."
    mean_a, mean_b = measured.a.mean, measured.b.mean
    figures = f"A {figure(measured.metric, mean_a)}, B {figure(measured.metric, mean_b)}"
    return f"{begin}: {name} of {figures}."


def explanation(measured: Measured, comparison: Comparison) -> Iterator[str]:
    """The sentences below the headline: the difference, the tasks, the reason, the plans."""
    if measured.difference is not None:
        text = f"The difference is {change(measured.metric, measured.difference)}"
        if measured.interval is not None:
            low = change(measured.metric, measured.interval.low)
            high = change(measured.metric, measured.interval.high)
            text += f", and lies between {low} and {high} ({comparison.level * 100:.4g}% interval)"
        yield f"{text}. {_tally(measured, comparison)}"
    yield measured.why
    for plan in measured.plans:
        yield _plan(measured, plan, comparison)


def test_line(measured: Measured, comparison: Comparison) -> str:
    """The description of the test: `p = 0.012 by exact sign flips over 15 tasks`."""
    way = "exact" if measured.exact else f"sampled (seed {comparison.seed})"
    text = f"p = {shown_p(measured.p)} by {way} sign flips over {_tasks(measured, comparison)}"
    if len(comparison.tested) > 1:
        text += f"; {shown_p(measured.adjusted)} after Holm for {len(comparison.tested)} metrics"
    return text.replace("= <", "<")


def _tasks(measured: Measured, comparison: Comparison) -> str:
    return plural(measured.tasks, comparison.over)


def _tally(measured: Measured, comparison: Comparison) -> str:
    return (
        f"Of {_tasks(measured, comparison)}, B's {name_of(measured.metric)} is higher in "
        f"{measured.higher}, lower in {measured.lower}, equal in {measured.equal}."
    )


def _plan(measured: Measured, plan: Plan, comparison: Comparison) -> str:
    target = _size(measured.metric, plan.target)
    what = "as seen" if plan.kind == "seen" else "the smallest that matters"
    begin = f"To find a difference of {target} ({what}) in {_chance(comparison)} comparisons"
    ways = [*_more_tasks(plan, comparison), *_more_repeats(plan)]
    if plan.tasks is not None and plan.tasks <= plan.tasks_now:
        return f"{begin}, this many {comparison.over}s and repeats are enough."
    if not ways:
        return f"{begin}: these trials do not show how much is needed."
    end = "" if plan.repeats else f"; more repeats of these {comparison.over}s alone are not enough"
    if plan.repeats is None and plan.repeats_now < 2:
        end = f"; run every {comparison.over} at least twice to estimate the effect of repeats"
    return f"{begin} it takes about {', or '.join(ways)}{end}."


def _more_tasks(plan: Plan, comparison: Comparison) -> Iterator[str]:
    if plan.tasks is not None:
        more = plan.tasks - plan.tasks_now
        yield f"{plural(plan.tasks, comparison.over)} ({more:,} more) with as many repeats"


def _more_repeats(plan: Plan) -> Iterator[str]:
    if plan.repeats is not None:
        yield f"{plural(plan.repeats, 'repeat')} instead of {plan.repeats_now:.2g}"


def _chance(comparison: Comparison) -> str:
    of_ten = comparison.power * 10
    whole = abs(of_ten - round(of_ten)) < 1e-9
    return f"{round(of_ten)} of 10" if whole else f"{comparison.power * 100:.4g} of 100"


def remarks(comparison: Comparison) -> Iterator[str]:
    """The unknown values, the trials that are left out, and the notes."""
    for measured in (*comparison.tested, *comparison.beside):
        yield from _unknown(measured)
    for each in comparison.left_out:
        yield f"left out: {_left_out(each)}"
    yield from comparison.notes


def _left_out(each: LeftOut) -> str:
    """`3 trials of A, not run: add, review`."""
    places = ", ".join(each.places[:_PLACES_SHOWN])
    more = len(each.places) - _PLACES_SHOWN
    end = f" and {more} more" if more > 0 else ""
    return f"{plural(each.trials, 'trial')} of {each.side}, {_REASONS[each.reason]}: {places}{end}"


def _unknown(measured: Measured) -> Iterator[str]:
    """The unknown values of a metric: `unknown: cost in 3 trials of A and 1 of B`."""
    of_a, of_b = measured.unknown
    sides = [f"{count:,} of {side}" for side, count in (("A", of_a), ("B", of_b)) if count]
    if sides:
        noun = "trial" if of_a + of_b == 1 else "trials"
        places = " and ".join(sides).replace(" of", f" {noun} of", 1)
        yield f"unknown: {name_of(measured.metric)} in {places}"
