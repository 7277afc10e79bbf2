"""The report as text, Markdown and JUnit XML."""

import re
from xml.etree import ElementTree

import pytest
from report_kit import (
    HOSTILE,
    cell,
    check_golden,
    ended,
    not_run,
    rich_run,
    run_of,
    scored,
    step,
    usage,
)

from uwf_core.commands import Screen
from uwf_eval.report.junit import report_junit
from uwf_eval.report.markdown import report_markdown
from uwf_eval.report.numbers import dollars, percent
from uwf_eval.report.summary import summarise
from uwf_eval.report.text import report_text


@pytest.mark.parametrize("width", [60, 100])
def test_the_text_reads_as_in_the_golden_file(width: int):
    text = report_text(summarise(*rich_run()), Screen(width, False))
    check_golden(f"report-{width}.txt", text + "\n")


def test_no_table_is_wider_than_the_terminal():
    text = report_text(summarise(*rich_run()), Screen(60, False))
    tables = text.split("\n\n")[2:-1]
    assert max(len(line) for table in tables for line in table.splitlines()) <= 60


def test_a_run_that_has_just_begun_says_that_there_is_nothing_to_say():
    trials = [not_run(1), not_run(2)]
    text = report_text(summarise(run_of(trials, finished_at_ms=None), trials), Screen(80, False))
    assert "not finished" in text
    assert "no trial counts" in text
    assert "uwf eval resume" in text
    assert "0%" not in text


def test_the_markdown_reads_as_in_the_golden_file():
    check_golden("report.md", report_markdown(summarise(*rich_run())))


def test_the_junit_xml_reads_as_in_the_golden_file():
    run, trials = rich_run()
    check_golden("report.xml", report_junit(run, trials[::4]))


def test_in_junit_only_what_counts_is_a_failure():
    trials = [
        scored(1, 1.0),
        scored(2, 0.4),
        ended(3, "failed", "timeout", "too long"),
        ended(4, "infra_error", "auth", "no key"),
        ended(5, "tampered", "tampered", "", tampered=["a"]),
        not_run(6),
    ]
    root = ElementTree.fromstring(report_junit(run_of(trials), trials))
    counts = {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "6", "failures": "3", "errors": "1", "skipped": "1"}
    kinds = [[child.tag for child in case] for case in root.iter("testcase")]
    assert kinds == [[], ["failure"], ["failure"], ["error"], ["failure"], ["skipped"]]


def test_hostile_text_is_harmless_in_every_form():
    trials = [
        ended(1, "failed", HOSTILE, HOSTILE, where=cell(HOSTILE, case=HOSTILE, agent=HOSTILE)),
        scored(2, 0.0, cell(HOSTILE, model=HOSTILE), steps=[step(HOSTILE)]),
    ]
    run = run_of(trials, name=HOSTILE)
    report = summarise(run, trials)
    text = report_text(report, Screen(100, False))
    assert "\x1b" not in text
    assert "\u202e" not in text
    markdown = report_markdown(report)
    assert not re.search(r"(?<!\\)<", markdown)
    assert "\x1b" not in markdown
    root = ElementTree.fromstring(report_junit(run, trials))
    assert root.find(".//script") is None
    for form in (text, markdown, report_junit(run, trials)):
        form.encode("utf-8")


def test_a_cost_that_is_known_in_part_is_said_to_be_a_least():
    trials = [scored(1, 1.0), scored(2, 1.0, usage=usage(None, None))]
    text = report_text(summarise(run_of(trials), trials), Screen(100, False))
    assert "$0.020 (known of 1 of 2), ≥ $0.022 in all" in text


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0, "$0"), (0.0123, "$0.012"), (0.1, "$0.10"), (1.234, "$1.23"),
     (0.000_001, "$0.000001"), (0.9999, "$1.00"), (1234.5, "$1,234")],
)  # fmt: skip
def test_money_has_as_many_places_as_figures_that_count(value: float | None, shown: str):
    assert dollars(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0%"), (0.001, "<1%"), (0.456, "46%"), (0.999, ">99%"), (1.0, "100%")],
)
def test_what_is_not_quite_all_or_nothing_is_not_shown_as_that(value: float, shown: str):
    assert percent(value) == shown
