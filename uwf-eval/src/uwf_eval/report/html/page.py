"""The whole page: elements of `uwf_core.markup`, with its own style for drawings and for tables
that become lists on a narrow screen.
"""

from functools import cache
from pathlib import Path

from uwf_core.markup import Markup, document, join, tag
from uwf_eval.report.groups import States
from uwf_eval.report.html.cost import cost_section
from uwf_eval.report.html.marks import bar
from uwf_eval.report.html.table import section, table, table_section
from uwf_eval.report.numbers import plural, rate_range, utc
from uwf_eval.report.sections import STATES, counts, facts, run_tasks, settings, tables, trials
from uwf_eval.report.summary import Line, Report
from uwf_eval.report.tables import Fact

_TASKS = 60
_WIDE = 0.5
"""An interval wider than this is not informative."""


def page(report: Report) -> str:
    """Render the report as one HTML document."""
    name = report.run.name or report.run.run
    header, *sections, footer = report_parts(report)
    body = header, tag("main", *sections), footer
    return document(name, report_style(), *body, program="uwf-eval")


def report_parts(report: Report) -> tuple[Markup, ...]:
    """The head, the sections and the foot; a page that shows them needs the style of this one."""
    configurations, tasks, *others = (table_section(each) for each in tables(report, _TASKS))
    sections = (
        configurations,
        tasks,
        cost_section(report),
        *others,
        table_section(trials(report)),
        _run(report),
    )
    shown = (each for each in sections if each is not None)
    return _header(report), _short(report), *shown, _footer()


@cache
def report_style() -> str:
    """The style of the report."""
    files = (Path(__file__).with_name(name) for name in ("colours.css", "page.css"))
    return "".join(file.read_text(encoding="utf-8") for file in files)


def _header(report: Report) -> Markup:
    run = report.run
    ended = f"finished {utc(run.finished_at_ms)}" if run.finished_at_ms else "not finished"
    began = f"started {utc(run.started_at_ms)}, {ended}"
    return tag(
        "header",
        tag("p", "uwf-eval report", class_="over"),
        tag("h1", run.name or run.run),
        tag("p", tag("code", run.run), " · ", began, class_="meta"),
        tag("p", headline(report.overall), class_="headline"),
        _states(report.overall.states),
    )


def headline(line: Line) -> str:
    """The result in a sentence, without statistics."""
    success = line.success
    if success.value is None:
        return "No trial counts yet."
    said = f"{success.passed:,} of {plural(success.trials, 'trial')} that count passed"
    if success.low is None:
        return f"{said}. There are too few trials for an interval."
    fit = f"{said}. The data fit a success rate of {rate_range(success)}"
    wide = (success.high or 0.0) - success.low > _WIDE
    return f"{fit}: not enough data to say much." if wide else f"{fit}."


def _states(states: States) -> Markup:
    """All trials as one bar with a legend."""
    found = list(counts(states))
    parts = [(number / (states.all or 1), f"state-{state}") for state, number in found]
    said = ", ".join(f"{number:,} {STATES[state][0]}" for state, number in found)
    items = [
        tag("li", tag("span", class_=f"swatch state-{state}"), tag("b", f"{number:,}"),
            f" {STATES[state][0]} ", tag("small", STATES[state][1]))
        for state, number in found
    ]  # fmt: skip
    whole = bar(parts, f"{plural(states.all, 'trial')}: {said}")
    return join(whole, tag("ul", *items, class_="legend"))


def _short(report: Report) -> Markup:
    """The figures of the whole run."""
    return tag(
        "section",
        tag("h2", "Summary", class_="hidden"),
        tag("dl", *map(_card, facts(report)), class_="cards"),
        tag("p", "Ranges are 95 % intervals. n is the number of trials that count: scored trials, "
            "and failed trials with score 0.", class_="note"),
    )  # fmt: skip


def _card(fact: Fact) -> Markup:
    name, value, beside, below = fact
    figures = tag("b", value), tag("span", beside), tag("small", below)
    return tag("div", tag("dt", name), tag("dd", *figures))


def _run(report: Report) -> Markup:
    """The settings to repeat the run."""
    run, tasks = report.run, run_tasks(report.run)
    pairs = [tag("div", tag("dt", name), tag("dd", shown)) for name, shown in settings(run)]
    note = " ".join(filter(None, (tasks.note, tasks.left_out)))
    return section("Run", note, tag("dl", *pairs, class_="facts"), table(tasks))


def _footer() -> Markup:
    return tag(
        "footer",
        tag("p", "Shares that passed have Wilson's interval. Where a run has several tasks, the "
            "tasks are the units of the interval, because trials of one task resemble each other. "
            "pass@k and pass^k are the unbiased estimates, averaged over cases. This page contains "
            "no script and makes no network request."),
    )  # fmt: skip
