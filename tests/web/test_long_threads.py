"""A thread of many steps is shown in pages: quick to read, and each step can be reached."""

import re

import pytest
from web_server import LOOP
from web_site import WebSite

LENGTH = 120


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> WebSite:
    return WebSite(tmp_path_factory.mktemp("web"))


@pytest.fixture(scope="module")
def thread(site: WebSite) -> str:
    """A thread of 120 steps."""
    site.project.workflow("loop", LOOP)
    site.project.script([{"role": "worker", "output": {"$status": "again"}}], repeat=True)
    with site.project.client() as uwf:
        thread = str(uwf.start("loop", "Work")["thread"])
        uwf.exec(thread, count=LENGTH)
        return thread


def shown(page: str) -> list[int]:
    """The numbers of the steps in the table of a page."""
    return [int(number) for number in re.findall(r'<tr id="step-(\d+)-', page)]


def test_all_steps_are_reached_from_the_newest_back(site: WebSite, thread: str) -> None:
    path, seen = f"/threads/{thread}", []
    while path:
        page = site.visitor.get(path).text
        seen += shown(page)
        older = re.search(r'<a href="([^"]*)#steps">Older steps</a>', page)
        path = older.group(1) if older else ""
    assert seen == list(range(LENGTH, 0, -1))


def test_newer_steps_lead_back_to_the_first_page(site: WebSite, thread: str) -> None:
    newest = site.visitor.get(f"/threads/{thread}").text
    assert "Newer steps" not in newest
    assert "Steps 71–120 of 120" in newest
    page = site.visitor.get(f"/threads/{thread}?to=60").text
    assert (shown(page)[0], shown(page)[-1]) == (60, 11)
    newer = re.search(r'<a href="([^"]*)#steps">Newer steps</a>', page)
    assert newer is not None and newer.group(1) == f"/threads/{thread}?to=110"
    last = site.visitor.get(f"/threads/{thread}?to=70").text
    assert f'<a href="/threads/{thread}#steps">Newer steps</a>' in last


@pytest.mark.parametrize("to", ["0", "x", "-1", "1e3", "٣", "9" * 5000])
def test_a_number_that_is_none_is_rejected(site: WebSite, thread: str, to: str) -> None:
    assert site.visitor.get(f"/threads/{thread}?to={to}").status_code == 400


def test_a_number_after_the_end_shows_the_newest(site: WebSite, thread: str) -> None:
    assert shown(site.visitor.get(f"/threads/{thread}?to=999999").text)[0] == LENGTH


def test_a_page_stays_small_and_its_json_has_all_steps(site: WebSite, thread: str) -> None:
    page = site.visitor.get(f"/threads/{thread}")
    assert len(page.content) < 100 * 1024
    assert page.text.count("<a ") < 150, "the graph names few of its visits, too"
    assert len(site.visitor.get(f"/threads/{thread}.json").json()["steps"]) == LENGTH + 1


def test_the_reasons_of_a_long_thread_are_pages_too(site: WebSite, thread: str) -> None:
    page = site.visitor.get(f"/threads/{thread}/why").text
    assert page.count('<section class="why" id="') < 60
    assert "Steps 71–120 of 120" in page
    step = re.findall(r"open the step</a>", page)
    assert len(step) == 50
    assert re.search(r'<code class="ref"><a href="#[0-9A-Z]{13}">', page)


def test_a_short_thread_has_one_page(site: WebSite) -> None:
    with site.project.client() as uwf:
        short = uwf.start("loop", "Work")["thread"]
        uwf.exec(short, count=2)
    page = site.visitor.get(f"/threads/{short}").text
    assert "Older steps" not in page and "Go to step" not in page
    assert shown(page) == [2, 1]
