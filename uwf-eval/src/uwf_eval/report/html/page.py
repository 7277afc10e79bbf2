"""The whole page."""

from functools import cache
from pathlib import Path

from uwf_core.commands import duration
from uwf_eval.report.html.cost import cost_section
from uwf_eval.report.html.marks import bar
from uwf_eval.report.html.markup import Markup, join, tag
from uwf_eval.report.html.scores import configurations_section, tasks_section, told
from uwf_eval.report.html.shares import (
    failures_section,
    judges_section,
    roles_section,
    routes_section,
)
from uwf_eval.report.html.trials import run_section, trials_section
from uwf_eval.report.numbers import (
    at_least,
    dollars,
    known,
    mean_range,
    percent,
    plural,
    rate_range,
    score,
    tokens,
    utc,
)
from uwf_eval.report.states import States
from uwf_eval.report.summary import Line, Report, trials_in

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Even if something foreign became markup, the browser would run and fetch nothing."""

_STATES = (
    ("scored", "scored", "judged"),
    ("failed", "failed", "did not get to the end; score 0"),
    ("infra_error", "infra error", "the surroundings failed; counts as nothing"),
    ("tampered", "tampered", "the agent touched what judges it; counts as nothing"),
    ("not_run", "not run", "left; counts as nothing"),
)


def page(report: Report) -> str:
    """The report as one HTML document."""
    name = report.run.name or report.run.run
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content="uwf-eval"),
        tag("link", rel="icon", href="data:,"),
        tag("title", f"{name} – uwf-eval"),
        tag("style", _style()),
    )
    sections = (
        configurations_section(report),
        tasks_section(report),
        cost_section(report),
        judges_section(report.overall.judges),
        roles_section(report.roles),
        routes_section(report.routes),
        failures_section(report.failures),
        trials_section(report),
        run_section(report.run),
    )
    body = tag("body", _header(report), tag("main", _short(report), *sections), _footer())
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


@cache
def _style() -> Markup:
    return Markup(Path(__file__).with_name("page.css").read_text(encoding="utf-8"))


def _header(report: Report) -> Markup:
    run = report.run
    ended = f"ended {utc(run.finished_at_ms)}" if run.finished_at_ms else "not finished"
    began = f"began {utc(run.started_at_ms)}, {ended}"
    return tag(
        "header",
        tag("p", "uwf-eval report", class_="over"),
        tag("h1", run.name or run.run),
        tag("p", tag("code", run.run), " · ", began, class_="meta"),
        tag("p", told(report.overall), class_="told"),
        _states(report.overall.states),
    )


def _states(states: States) -> Markup:
    """All trials as one bar, and what each part of it is."""
    every = [(getattr(states, field), field, word, why) for field, word, why in _STATES]
    total = sum(number for number, *_ in every) or 1
    parts = [(number / total, f"state-{field}") for number, field, _, _ in every]
    said = ", ".join(f"{number:,} {word}" for number, _, word, _ in every if number)
    items = [
        tag("li", tag("span", class_=f"swatch state-{field}"), tag("b", f"{number:,}"),
            f" {word} ", tag("small", why))
        for number, field, word, why in every
        if number
    ]  # fmt: skip
    return join(bar(parts, f"{plural(total, 'trial')}: {said}"), tag("ul", *items,
                class_="legend"))  # fmt: skip


def _short(report: Report) -> Markup:
    """The figures of the whole run."""
    line = report.overall
    cards = [
        _card("Passed", percent(line.success.value), rate_range(line.success),
              f"{line.success.passed:,} of {line.success.trials:,}"),
        _card("Mean score", score(line.score.value), mean_range(line.score),
              f"n = {trials_in(line.score, report)}"),
        *_repeats(line),
        _card("Cost of a trial", dollars(line.cost.mean), known(line.cost),
              _spent(line)),
        _card("Tokens of a trial", tokens(line.tokens.mean), known(line.tokens),
              f"{at_least(line.tokens, tokens(line.tokens.total))} in all"),
        _card("Time of a trial", _time(line.duration.median), "median",
              f"{_time(line.duration.total)} in all"),
    ]  # fmt: skip
    return tag(
        "section",
        tag("h2", "In short", class_="hidden"),
        tag("dl", *cards, class_="cards"),
        tag("p", "Ranges are 95 % intervals. n is the number of trials that count: those scored, "
            "and those that failed by the workflow's or the agent's own fault, with score 0.",
            class_="note"),
    )  # fmt: skip


def _repeats(line: Line) -> list[Markup]:
    """pass@k and pass^k of the largest k that was tried; none where nothing was repeated."""
    last = line.passes[-1] if line.passes else None
    if last is None or last.k < 2:
        return []
    of = f"over {last.items:,} of {last.of:,} cases" if last.items < last.of else (
        f"over {plural(last.of, 'case')}")  # fmt: skip
    return [
        _card(f"pass@{last.k}", score(last.at), f"one of {last.k} passes", of),
        _card(f"pass^{last.k}", score(last.all), f"all {last.k} pass", of),
    ]


def _card(name: str, value: str, beside: str, below: str) -> Markup:
    return tag(
        "div",
        tag("dt", name),
        tag("dd", tag("b", value), tag("span", beside), tag("small", below)),
    )


def _spent(line: Line) -> str:
    """What the run cost in all, as far as it is known."""
    if line.cost.mean is None and not line.spent.total:
        return "not known"
    return f"{at_least(line.spent, dollars(line.spent.total))} in all, judges included"


def _time(ms: float | None) -> str:
    return duration(None if ms is None else round(ms))


def _footer() -> Markup:
    return tag(
        "footer",
        tag("p", "Shares that passed have Wilson's interval; where trials fall into several tasks, "
            "the tasks are the units, since trials of one task resemble each other. pass@k and "
            "pass^k are the unbiased estimates, averaged over cases. This page is complete in "
            "itself: it holds no script and asks the network for nothing."),
    )  # fmt: skip
