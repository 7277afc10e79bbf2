"""The page as text, Markdown, HTML: what people read, and nothing that a reader would obey."""

import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from uwf_core.escape import clean
from uwf_core.fields.records import write_record
from uwf_explain.explanation.html import why_html
from uwf_explain.explanation.markdown import why_markdown
from uwf_explain.explanation.page import why_page
from uwf_explain.explanation.sections import Sections
from uwf_explain.explanation.text import why_text
from uwf_testing.exporter_threads import ExporterThreads

GOLDEN = Path(__file__).parent / "golden"
_CHANGING = (
    (re.compile(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b"), "THREAD"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "ROOT"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"), "MOMENT"),
    (re.compile(r"the person \S+ \(on \S+\)"), "the person ada (on laptop)"),
    (re.compile(r"(?<=in the folder )\S+?(?=\. Each)"), "FOLDER"),
    (re.compile(r'(?<=working folder is )"[^"]*"'), '"FOLDER"'),
    (re.compile(r"less than a second|[\d.]+ seconds?\b"), "less than a second"),
)
_REF = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{13}\b")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    made = ExporterThreads(tmp_path_factory.mktemp("threads"))
    yield {name: why_page(thread) for name, thread in made.all().items()}
    made.close()


def stable(text: str) -> str:
    """The text with names in place of what differs from run to run."""
    for pattern, name in _CHANGING:
        text = pattern.sub(name, text)
    names: dict[str, str] = {}
    return _REF.sub(lambda found: names.setdefault(found[0], f"REF{len(names) + 1:02}"), text)


@pytest.mark.parametrize(
    ("name", "render", "between"), [("rich.txt", why_text, "\n"), ("rich.md", why_markdown, "")]
)
def test_the_page_of_a_rich_thread_is_as_it_was_agreed(pages, name, render, between):
    """WRITE_GOLDEN=1 writes it anew."""
    text = stable(between.join(render(pages["rich"])).rstrip("\n")) + "\n"
    if os.environ.get("WRITE_GOLDEN"):
        (GOLDEN / name).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


class Elements(HTMLParser):
    """What a browser would see: elements, attributes, texts."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.ids: list[str] = []
        self.texts = ""
        self.feed(document)

    def handle_starttag(self, name, attributes):
        self.names.add(name)
        self.attributes += attributes
        self.ids += [value for key, value in attributes if key == "id"]

    def handle_data(self, data):
        self.texts += data


def test_nothing_in_a_page_is_requested_or_runs(pages):
    for page in pages.values():
        document = "".join(why_html(page))
        found = Elements(document)
        assert not found.names & {"script", "img", "iframe", "object", "form", "base", "svg"}
        addresses = [value for key, value in found.attributes if key in ("href", "src", "action")]
        assert [each for each in addresses if not each.startswith("#")] == ["data:,"]
        assert {each[1:] for each in addresses if each != "data:,"} <= set(found.ids)
        assert len(found.ids) == len(set(found.ids))
        assert not [key for key, _ in found.attributes if key.startswith("on") or key == "style"]
        assert "default-src 'none'" in found.attributes[2][1] or "default-src" in document


def test_a_hostile_text_is_shown_and_changes_nothing(pages):
    document = Elements("".join(why_html(pages["hostile"])))
    assert "</script><img src=http://127.0.0.1/x onerror=alert(1)>" in document.texts
    assert "\\u202egnp.exe" in document.texts
    assert clean(document.texts) == document.texts
    text = "".join(why_markdown(pages["hostile"]))
    assert clean(text) == text
    assert "\\u202egnp.exe" in text
    headings = [line for line in outside_fences(text) if line.startswith("#")]
    assert not any("forged" in line for line in headings)
    assert "<img" not in "\n".join(outside_fences(text))


def outside_fences(text: str) -> list[str]:
    """The lines of Markdown that are not in a fence."""
    found, fence = [], ""
    for line in text.split("\n"):
        ticks = re.match(r"`{3,}", line)
        if not fence and ticks:
            fence = ticks[0]
        elif fence:
            fence = "" if line == fence else fence
        else:
            found.append(line)
    return found


def test_every_renderer_says_the_same_sentences(pages):
    for page in pages.values():
        html = Elements("".join(why_html(page))).texts
        for section in page.sections:
            told = write_record(section)
            assert section.title in html
            for statement, row in zip(section.statements, told["statements"], strict=True):
                assert (statement.text, list(statement.refs)) == (row["text"], row["refs"])
                assert statement.refs[0] in html


def test_a_long_text_is_cut_in_the_text_and_whole_in_the_pages(pages):
    (task,) = (each for each in pages["rich"].sections[1].statements if each.kind == "task")
    long = task._replace(quote="\n".join(f"line {number}" for number in range(100)))
    section = pages["rich"].sections[1]._replace(statements=(long,))
    sections = Sections()
    sections.append(section)
    page = pages["rich"]._replace(sections=sections)
    assert "line 9" not in "\n".join(why_text(page))
    assert f"uwf cas get {task.refs[0]}" in "\n".join(why_text(page))
    for render in (why_html, why_markdown):
        assert "line 99" in "".join(render(page))
