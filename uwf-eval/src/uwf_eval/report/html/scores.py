"""Success and score, line by line, each with its interval."""

from collections.abc import Iterable, Mapping
from typing import Final

from uwf_eval.report.html.marks import scale, strip
from uwf_eval.report.html.markup import Markup, join, tag
from uwf_eval.report.html.table import Column, Row, figure, group, section, table
from uwf_eval.report.numbers import mean_range, percent, plural, rate_range, score
from uwf_eval.report.summary import Line, Report, TaskLine

SHOWN: Final = 60
"""Tasks that get a line of their own; of more, those of the lowest scores."""

_WIDE: Final = 0.5
"""An interval wider than this says next to nothing."""


def configurations_section(report: Report) -> Markup | None:
    """Each configuration over all tasks, where there are several."""
    if len(report.configurations) < 2:
        return None
    rows = [
        _row(each.configuration.label, each.line, number)
        for number, each in enumerate(report.configurations)
    ]
    note = join(
        "The same tasks under each. Whether intervals overlap does not say whether there is a "
        "difference: ",
        tag("code", "uwf-eval compare"),
        " pairs the tasks and tells.",
    )
    columns = _columns("Configuration")
    return section(
        "Configurations", note, table("Success and score of each configuration", columns, rows)
    )


def tasks_section(report: Report) -> Markup:
    """Each task, and each configuration within it."""
    tasks = report.tasks
    note = (
        "Points are means, lines their 95 % intervals: with few trials they are long, and that "
        "is the news."
    )
    if len(tasks) > SHOWN:
        tasks = sorted(tasks, key=_lowest_first)[:SHOWN]
        note += (
            f" These are the {SHOWN} tasks of the lowest scores, of {len(report.tasks):,}; "
            "the JSON report has all."
        )
    order = {each.configuration.label: n for n, each in enumerate(report.configurations)}
    columns = _columns("Task")
    rows = [row for task in tasks for row in _task_rows(task, order, len(columns))]
    return section(
        "Scores by task", note, table("Success and score of each task", columns, rows)
    )  # fmt: skip


def told(line: Line) -> str:
    """The result in a sentence for somebody who has not asked for statistics."""
    success = line.success
    if success.value is None:
        return "No trial counts yet, so there is nothing to say of the workflow."
    said = f"{success.passed:,} of {plural(success.trials, 'trial')} that count passed"
    if success.low is None:
        return f"{said}. There is not enough data to say how far that would hold."
    fit = f"{said}. The data fit a true success rate of anything from {rate_range(success)}"
    wide = (success.high or 0.0) - success.low > _WIDE
    return f"{fit}: not enough data to say much." if wide else f"{fit}."


def apart(line: Line) -> Markup:
    """The trials that count as nothing, by state; empty where there are none."""
    states = line.states
    words = (
        (states.infra_error, "infra error", "infra"),
        (states.not_run, "not run", "notrun"),
        (states.tampered, "tampered", "tampered"),
    )
    badges = [
        tag("span", f"{number:,} {word}", class_=f"badge {class_}")
        for number, word, class_ in words
        if number
    ]
    return join(*badges)


def _columns(first: str) -> tuple[Column, ...]:
    return (
        Column(first),
        Column("Passed", "number"),
        Column("Share that passed", "plot", scale()),
        Column("Score", "number"),
        Column("Mean score", "plot", scale()),
        Column("Apart"),
    )


def _task_rows(task: TaskLine, order: Mapping[str, int], width: int) -> Iterable[Row | Markup]:
    lines = [(each.configuration.label, each.line) for each in task.configurations]
    if len(lines) < 2:
        number = order.get(lines[0][0], 0) if lines else 0
        return [_row(task.task.name, task.line, number)]
    inner = [_row(label, line, order[label], class_="inner") for label, line in lines]
    return [group(task.task.name, width), *inner]


def _row(label: str, line: Line, number: int, class_: str | None = None) -> Row:
    success, mean = line.success, line.score
    passed = f"{success.passed:,} of {success.trials:,}" if success.trials else "no trial counts"
    said = f"{label}: {passed} passed, {percent(success.value)}, {rate_range(success)}"
    mean_said = f"{label}: mean score {score(mean.value)}, {mean_range(mean)}, n = {mean.trials}"
    cells = (
        label,
        figure(percent(success.value), rate_range(success), passed),
        strip(number, success.value, success.low, success.high, said),
        figure(score(mean.value), mean_range(mean), f"n = {mean.trials:,}"),
        strip(number, mean.value, mean.low, mean.high, mean_said),
        apart(line),
    )
    return Row(cells, class_)


def _lowest_first(task: TaskLine) -> tuple[bool, float]:
    value = task.line.score.value
    return value is None, 0.0 if value is None else value
