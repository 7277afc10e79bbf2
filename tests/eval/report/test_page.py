"""The page: well-formed, complete in itself, and hostile text is only text in it."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_kit import HOSTILE, cell, ended, not_run, rich_run, run_of, scored, step, usage

from uwf_core.commands import Screen
from uwf_core.markdown import inline
from uwf_core.markup import tag
from uwf_eval.records import JudgeResult, Trial
from uwf_eval.report import html as html_room
from uwf_eval.report.html.cost import axis_of
from uwf_eval.report.html.page import page
from uwf_eval.report.markdown import report_markdown
from uwf_eval.report.sections import tables
from uwf_eval.report.summary import summarise
from uwf_eval.report.tables import in_lines, value
from uwf_eval.report.text import report_text

_VOID = {"meta", "link", "br"}


class Page(HTMLParser):
    """A page as a strict reader sees it: every element that is opened is closed, in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, name: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        assert len(attributes) == len(attrs), f"an attribute comes twice in {name}"
        self.tags.append((name, attributes))
        if name not in _VOID:
            self.open.append(name)

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def count(self, name: str) -> int:
        return sum(each == name for each, _ in self.tags)


def of(*trials: Trial) -> Page:
    return Page(page(summarise(run_of(list(trials)), trials)))


@pytest.fixture(scope="module")
def rich() -> str:
    return page(summarise(*rich_run()))


def test_the_page_is_well_formed_and_asks_nobody_for_anything(rich: str):
    read = Page(rich)
    assert read.count("script") == 0
    places = {"src", "href", "srcset", "action", "data", "poster", "xlink:href"}
    found = [
        value for _, attributes in read.tags for key, value in attributes.items() if key in places
    ]
    assert found == ["data:,"]
    assert not re.search(r"https?:|@import|url\(|//[a-z]", rich)
    policy = [attributes["content"] for _, attributes in read.tags if "http-equiv" in attributes]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_no_element_has_an_inline_handler_or_style(rich: str):
    for _, attributes in Page(rich).tags:
        assert not [key for key in attributes if key.startswith("on") or key == "style"]


def test_every_plot_says_in_words_what_it_shows_and_has_its_figures_in_a_table(rich: str):
    read = Page(rich)
    pictures = [attributes for name, attributes in read.tags if (name, attributes.get("role")) == (
        "svg", "img")]  # fmt: skip
    assert len(pictures) > 20
    assert read.count("desc") == len(pictures)
    assert read.count("caption") == read.count("table") >= 7


def test_the_page_has_every_part(rich: str):
    text = Page(rich).text
    for part in (
        "Configurations", "Tasks", "Cost against score", "Judges", "Roles",
        "Share of time", "Share of tokens", "Routes", "Failures", "Trials", "Run", "Passing score",
    ):  # fmt: skip
        assert part in text
    assert "15 of 38 trials that count passed" in text
    assert "1 infra error" in text
    assert "1 tampered" in text
    assert "pass^5" in text


def test_the_page_text_and_markdown_show_the_same_tables(rich: str):
    report = summarise(*rich_run())
    shown, text = Page(rich).text, report_text(report, Screen(1000, False))
    markdown = report_markdown(report)
    for table in tables(report, 60):
        headings, rows = in_lines(table)
        assert rows, table.title
        assert all(heading.name in markdown for heading in headings)
        for row in rows:
            assert f"| {' | '.join(map(inline, row))} |" in markdown
            assert all(each in text for each in row)
            assert row[0].removeprefix("· ") in shown
        for row in table.rows:
            own = [value(cell).text for cell, each in zip(row.cells, table.headings, strict=True)
                   if each.page]  # fmt: skip
            assert all(each in shown for each in own)


def test_intervals_and_n_stand_beside_every_mean(rich: str):
    text = Page(rich).text
    assert len(re.findall(r"\d\.\d\d–\d\.\d\d n = \d+", text)) >= 10


def test_hostile_text_is_only_text():
    hostile = JudgeResult(
        name=HOSTILE, judge=HOSTILE, weight=1.0, score=None, error=HOSTILE, data={"x": HOSTILE}
    )
    where = cell(HOSTILE, case=HOSTILE, agent=HOSTILE, model=HOSTILE, workflow_name=HOSTILE)
    trials = [
        ended(1, "failed", HOSTILE, HOSTILE, where=where),
        scored(2, 0.0, where, judges=[hostile], steps=[step(HOSTILE)]),
        ended(3, "tampered", HOSTILE, "", tampered=[HOSTILE], where=cell(HOSTILE, agent="b")),
    ]
    text = page(summarise(run_of(trials, name=HOSTILE, command=[HOSTILE]), trials))
    read = Page(text)
    assert read.count("script") == 0
    assert read.count("title") >= 1
    assert "</title><script>alert(1)</script>" in read.text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e\ud800-\udfff]", text)
    text.encode("utf-8")


def test_a_value_of_an_attribute_cannot_leave_it():
    assert tag("p", class_='"><script>') == '<p class="&quot;&gt;&lt;script&gt;"></p>'


def test_a_page_of_nothing_says_so():
    text = of(not_run(1), not_run(2)).text
    assert "No trial counts yet" in text
    assert "No trial has run a step" in text
    assert "The cost is not known" in text
    assert "0%" not in text


def test_a_handful_of_trials_is_said_to_be_not_enough_data():
    assert "not enough data to say much" in of(scored(1, 1.0), scored(2, 0.0)).text


def test_a_page_of_thousands_of_trials_stays_small_and_says_what_it_leaves_out():
    trials = [
        scored(n, float(n % 3 > 0), cell(f"task-{n % 200:03}", repeat=n // 200))
        for n in range(1, 1201)
    ]
    text = page(summarise(run_of(trials), trials))
    assert len(text) < 600_000
    words = Page(text).text
    assert "the 60 tasks with the lowest scores, of 200" in words
    assert "1,000 trials more are not listed" in words


def test_costs_that_lie_far_apart_have_a_logarithmic_scale():
    assert not axis_of([0.0, 0.5, 1.0]).logarithmic
    wide = axis_of([0.002, 0.3])
    assert wide.logarithmic
    assert [round(tick, 4) for tick in wide.ticks()] == [0.001, 0.01, 0.1, 1.0]
    assert 0 < wide.share(0.002) < wide.share(0.3) < 1


def test_what_cost_nothing_is_drawn_all_the_same():
    trials = [scored(1, 1.0, usage=usage(10, 0.0)), scored(2, 0.0, usage=usage(10, 0.0))]
    assert "$0" in of(*trials).text


def test_all_colours_of_the_page_are_in_one_file():
    html = Path(html_room.__file__).parent
    assert "--tone0: #" in (html / "colours.css").read_text(encoding="utf-8")
    assert re.findall(r"#[0-9a-f]{3,6}\b", (html / "page.css").read_text(encoding="utf-8")) == []
