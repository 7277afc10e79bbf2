"""The page of `uwf thread why` in a real browser."""

from pathlib import Path

import pytest
from chromium import Browser
from test_report_page import FAINT, OVERFLOWING

from uwf_explain.explanation.html import why_html
from uwf_explain.explanation.page import why_page
from uwf_testing.exporter_threads import ExporterThreads

NAMES = ("rich", "hostile", "empty")
OPEN_ALL = "document.querySelectorAll('details').forEach(each => { each.open = true; })"


@pytest.fixture(scope="session")
def why_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("why")
    threads = ExporterThreads(tmp_path_factory.mktemp("threads"))
    for name, thread in threads.all().items():
        (folder / f"{name}.html").write_text("".join(why_html(why_page(thread))), encoding="utf-8")
    threads.close()
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_the_page_requests_nothing_and_runs_nothing(browser: Browser, why_pages: Path, name: str):
    file = why_pages / f"{name}.html"
    browser.show(file, 1200)
    browser.ask(OPEN_ALL)
    requested, complaints = browser.requests_and_complaints()
    assert requested == [file.as_uri()]
    assert complaints == []
    assert browser.ask("document.scripts.length + document.images.length") == 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [320, 400, 1200])
def test_nothing_lies_outside_of_the_window(
    browser: Browser, why_pages: Path, pictures: Path, name: str, width: int
):
    browser.show(why_pages / f"{name}.html", width)
    browser.ask(OPEN_ALL)
    if width in (400, 1200):
        browser.picture(pictures / f"why-{name}-{width}.png")
    assert browser.ask("document.scrollingElement.scrollWidth") <= width
    assert browser.ask(OVERFLOWING) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read_in_both_schemes(browser: Browser, why_pages: Path, scheme: str):
    browser.show(why_pages / "rich.html", 1200, scheme)
    browser.ask(OPEN_ALL)
    assert browser.ask(FAINT) == []


def test_the_keyboard_reaches_each_step_and_opens_its_prompt(browser: Browser, why_pages: Path):
    browser.show(why_pages / "rich.html", 800)
    browser.page.keyboard.press("Tab")
    assert browser.ask("document.activeElement.tagName") == "A"
    browser.page.keyboard.press("Enter")
    assert browser.ask("location.hash.length") > 1
    browser.ask("document.querySelector('summary').focus()")
    browser.page.keyboard.press("Enter")
    assert browser.ask("document.querySelector('details').open")


def test_the_page_can_be_printed(browser: Browser, why_pages: Path):
    browser.show(why_pages / "rich.html", 794, media="print")
    assert browser.pdf().startswith(b"%PDF")
