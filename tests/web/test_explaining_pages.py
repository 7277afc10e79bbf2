"""Threads compared and explained, what they used, and evaluations."""

import pytest
from web_site import WebSite


@pytest.fixture
def threads(web: WebSite) -> tuple[str, str]:
    return web.waiting(), web.waiting()


def test_two_threads_are_compared_side_by_side(web: WebSite, threads: tuple[str, str]):
    first, second = threads
    page = web.visitor.get(f"/threads/{first}/compare").text
    assert f'href="/threads/{second}/diff/{first}"' in page
    document = web.visitor.get(f"/threads/{first}/diff/{second}.json").json()
    assert document == web.project.uwf("thread", "diff", first, second).document
    page = web.visitor.get(f"/threads/{first}/diff/{second}").text
    assert "No divergence: all steps are the same." in page
    assert f'href="/threads/{second}/diff/{first}"' in page


def test_the_page_of_reasons_has_each_statement_with_its_references(
    web: WebSite, threads: tuple[str, str]
):
    thread = threads[0]
    document = web.visitor.get(f"/threads/{thread}/why.json").json()
    assert document == web.project.uwf("thread", "why", thread, "--format", "json").document
    page = web.visitor.get(f"/threads/{thread}/why").text
    for section in document["sections"]:
        for statement in section["statements"]:
            assert statement["refs"] == [ref for ref in statement["refs"] if ref in page]
    step = next(each["step"] for each in document["sections"] if each["step"])
    assert f'<section class="why" id="{step}">' in page
    assert f'href="/threads/{thread}/steps/{step}"' in page


def test_usage_is_grouped_as_the_url_asks(web: WebSite, threads: tuple[str, str]):
    for path, words in (
        ("/usage", ("--by", "workflow")),
        ("/usage?by=role", ("--by", "role")),
        (f"/threads/{threads[0]}/usage?by=agent", (threads[0], "--by", "agent")),
    ):
        before, _, query = path.partition("?")
        document = web.visitor.get(f"{before}.json?{query}").json()
        assert document == web.project.uwf("usage", *words).document
        assert f"uwf usage {' '.join(words)}" in web.visitor.get(path).text
    assert web.visitor.get("/usage?by=colour").status_code == 400


def test_an_unknown_thread_is_a_404_on_each_page(web: WebSite):
    missing = "01M8A637GBAAQVQJSSH01ESAVE"
    for page in ("why", "usage", "compare", f"diff/{missing}"):
        assert web.visitor.get(f"/threads/{missing}/{page}").status_code == 404
