"""The plot of cost against score."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from uwf_core.markup import Markup, join, tag
from uwf_eval.report.html.marks import at, picture, symbol, tone
from uwf_eval.report.html.table import section, table
from uwf_eval.report.numbers import NONE, dollars, known, mean_range, score
from uwf_eval.report.summary import Line, Report
from uwf_eval.report.tables import Columns, Heading, Value, table_of

SHOWN: Final = 40
FAINT: Final = 300
_TITLE: Final = "Cost against score"
_WIDE: Final = 30
"""The ratio of the highest to the lowest cost from which the scale is logarithmic."""


class Point(NamedTuple):
    """A point of the plot; `number` is its configuration's."""

    label: str
    number: int
    line: Line


class Axis(NamedTuple):
    """The scale of costs."""

    low: float
    high: float
    logarithmic: bool

    def share(self, cost: float) -> float:
        """The position of a cost, from 0 to 1."""
        if not self.logarithmic:
            return cost / self.high
        return math.log(cost / self.low) / math.log(self.high / self.low)

    def ticks(self) -> Sequence[float]:
        """The costs that have a label."""
        if not self.logarithmic:
            return [self.high * step / 4 for step in range(5)]
        tens = range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)
        return [10.0**power for power in tens]


def cost_section(report: Report) -> Markup:
    """The plot and its figures, or the reason why there are none."""
    points = [point for point in _points(report) if point.line.cost.known]
    if not points:
        said = "The cost is not known: no agent reported it and no model has a price."
        return section(_TITLE, said)
    shown = points[:SHOWN]
    left_out = len(points) - len(shown)
    faint = _of_tasks(report)
    axis = axis_of([point.line.cost.mean or 0.0 for point in (*shown, *faint)])
    note = (
        "Up is better, left is cheaper. The cost is the mean of the trials that count, without "
        "judges. Vertical lines are the 95 % intervals of the score."
    )
    note += " Faint points are single tasks." if len(report.configurations) > 1 else ""
    note += " The scale of costs is logarithmic." if axis.logarithmic else ""
    note += f" The plot omits {left_out:,} more." if left_out else ""
    return section(
        _TITLE, note, _plot(shown, faint, axis), table(table_of(_TITLE, _COLUMNS, shown))
    )


def _of_tasks(report: Report) -> Sequence[Point]:
    """The points of each configuration in each task, unless there are too many."""
    order = {each.configuration.label: n for n, each in enumerate(report.configurations)}
    if len(order) < 2:
        return ()
    found = [
        Point(f"{task.task.name}, {label}", order[label], each.line)
        for task in report.tasks
        for each in task.configurations
        if (label := each.configuration.label) in order and each.line.cost.known
    ]
    return found if len(found) <= FAINT else ()


def _points(report: Report) -> Sequence[Point]:
    """The configurations if there are several, else the tasks."""
    if len(report.configurations) > 1:
        return [
            Point(each.configuration.label, number, each.line)
            for number, each in enumerate(report.configurations)
        ]
    return [Point(each.task.name, number, each.line) for number, each in enumerate(report.tasks)]


def axis_of(costs: Sequence[float]) -> Axis:
    """A scale that separates these costs."""
    highest = max(costs)
    some = [cost for cost in costs if cost > 0]
    if len(some) == len(costs) and highest / min(some) >= _WIDE:
        low = 10.0 ** math.floor(math.log10(min(some)))
        return Axis(low, 10.0 ** math.ceil(math.log10(highest)), True)
    return Axis(0.0, round_up(highest), False)


def round_up(value: float) -> float:
    """Round up to 1, 2, 4 or 8 times a power of ten, so that quarters are short numbers."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 8, 10) if step * power >= value * 0.999)


def _plot(points: Sequence[Point], faint: Sequence[Point], axis: Axis) -> Markup:
    grid = [
        tag("line", x1="0%", x2="100%", y1=at(1 - level), y2=at(1 - level), class_="grid")
        for level in (0, 0.25, 0.5, 0.75, 1)
    ]
    levels = [
        tag("text", f"{level:g}", x=-8, y=at(1 - level), dy="0.35em", text_anchor="end",
            class_="tick")
        for level in (0, 0.5, 1)
    ]  # fmt: skip
    costs = []
    for tick in axis.ticks():
        place = at(axis.share(tick))
        costs.append(tag("line", x1=place, x2=place, y1="0%", y2="100%", class_="grid"))
        costs.append(tag("text", dollars(tick), x=place, y="100%", dy=18, text_anchor="middle",
                         class_="tick"))  # fmt: skip
    names = tag("text", "mean cost of a trial", x="100%", y="100%", dy=34, text_anchor="end",
                class_="axis")  # fmt: skip
    marks = [_mark(point, axis, faint=True) for point in faint]
    marks += [_mark(point, axis) for point in points]
    return picture(
        _TITLE, _described(points), *grid, *levels, *costs, names, *marks,
        class_="scatter", height=320,
    )  # fmt: skip


def _mark(point: Point, axis: Axis, *, faint: bool = False) -> Markup:
    mean, cost = point.line.score, point.line.cost.mean
    x = at(axis.share(cost or 0.0))
    interval = None
    if not faint and mean.low is not None and mean.high is not None:
        interval = tag("line", x1=x, x2=x, y1=at(1 - mean.low), y2=at(1 - mean.high),
                       class_=f"interval {tone(point.number)}")  # fmt: skip
    label = f"{point.label}: {dollars(cost)}, score {score(mean.value)}"
    return join(interval, symbol(point.number, x, at(1 - (mean.value or 0.0)), faint=faint,
                                 label=label))  # fmt: skip


def _described(points: Sequence[Point]) -> str:
    said = [
        f"{point.label}: {dollars(point.line.cost.mean)} and {score(point.line.score.value)}"
        for point in points[:8]
    ]
    more = f"; and {len(points) - 8} more" if len(points) > 8 else ""
    return "; ".join(said) + more + ". The table below has the same figures."


_COLUMNS: Final[Columns] = (
    (Heading("Point"), lambda point: Value(point.label, mark=point.number)),
    (Heading("Cost of a trial", "number"),
     lambda point: Value(dollars(point.line.cost.mean), (known(point.line.cost),))),
    (Heading("Score", "number"),
     lambda point: Value(score(point.line.score.value), (mean_range(point.line.score),))),
    (Heading("Cost of a trial that passed", "number"), lambda point: _of_passed(point.line)),
)  # fmt: skip


def _of_passed(line: Line) -> str:
    """Dollars per passed trial: the cost of a success, including failures."""
    if line.cost.mean is None or not line.success.value:
        return NONE
    return dollars(line.cost.mean / line.success.value)
