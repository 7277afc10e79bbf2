"""Pages show the documents of the commands, and nothing that a browser would run."""

import json

import pytest
from web_site import TEXT, WebSite

from uwf_web.markdown import to_html


def printed(web: WebSite, *words: str):
    """The document that a command prints."""
    return web.project.uwf(*words).document


def test_the_json_of_a_page_is_what_its_commands_print(web: WebSite) -> None:
    thread = web.waiting()
    step = printed(web, "step", "list", thread)["steps"][1]["step"]
    get = lambda path: web.visitor.get(path).json()  # noqa: E731
    assert get("/threads.json")["threads"] == printed(web, "thread", "list", "--all")["threads"]
    task = printed(web, "thread", "show", thread)["task"].partition("\n")[0]
    assert [each["task"] for each in get("/threads.json")["threads"]] == [task]
    assert get("/inbox.json") == printed(web, "inbox")
    page = get(f"/threads/{thread}.json")
    assert page["thread"] == printed(web, "thread", "show", thread)
    assert page["steps"] == printed(web, "step", "list", thread)["steps"]
    assert page["usage"] == printed(web, "usage", thread)
    assert page["turns"] == printed(web, "step", "turns", thread, "--running")["turns"]
    assert page["workflow"]["name"] == "letter"
    found = get(f"/threads/{thread}/steps/{step}.json")
    assert found["step"] == printed(web, "step", "show", step)
    assert found["why"] == printed(web, "thread", "why", thread, "--step", step, "--format", "json")
    assert get(f"/nodes/{step}.json") == printed(web, "cas", "get", step)


def test_every_page_names_its_commands_and_links_to_its_json(web: WebSite) -> None:
    thread = web.waiting()
    page = web.visitor.get(f"/threads/{thread}").text
    assert f"<code>uwf thread show {thread}</code>" in page
    assert f'href="/threads/{thread}.json"' in page
    listed = web.visitor.get("/threads?status=suspended&workflow=letter").text
    assert "uwf thread list --all --status suspended --workflow letter" in listed


def test_agents_text_is_text(web: WebSite) -> None:
    thread = web.waiting()
    page = web.visitor.get(f"/threads/{thread}").text
    assert "<b>hello</b>" not in page
    assert "&lt;b&gt;hello&lt;/b&gt;" in page


@pytest.mark.parametrize(
    ("text", "absent", "present"),
    [
        ("<img src=x onerror=alert(1)>", "<img", "&lt;img"),
        ("[a](javascript:alert(1))", "<a", "javascript"),
        ("[a](JaVaScRiPt:alert(1))", "<a", "alert"),
        ("[a](data:text/html,x)", "<a", "data:"),
        ("[a](//evil.example/x)", "<a", "evil"),
        ("[a](/threads/x/cancel)", "<a", "cancel"),
        ("![a](https://evil.example/x.png)", "<img", "evil"),
        ("<https://good.example>", "<https", 'rel="noopener noreferrer nofollow"'),
        ("```html\n<script>\n```", "<script>", "&lt;script&gt;"),
        ("`<b>`", "<b>", "&lt;b&gt;"),
        ("a\u202eb \x1b[31mred", "\u202e", "\\u202e"),
        ("# Title", "<h1", "<h3>"),
    ],
)
def test_markdown_of_agents_is_harmless(text: str, absent: str, present: str) -> None:
    html = to_html(text)
    assert absent not in html
    assert present in html


def test_lists_are_paged_by_key(web: WebSite, monkeypatch: pytest.MonkeyPatch) -> None:
    from uwf_web.pages import threads

    monkeypatch.setattr(threads, "ROWS", 2)
    with web.project.client() as uwf:
        started = [uwf.start("letter", f"Task {n}")["thread"] for n in range(5)]
    seen, path = [], "/threads.json"
    while path:
        rows = [row["thread"] for row in web.visitor.get(path).json()["threads"]]
        seen += rows
        path = f"/threads.json?before={rows[-1]}" if rows else ""
    assert seen == sorted(started, reverse=True)


def test_an_unknown_thread_and_a_wrong_filter_are_reported_as_such(web: WebSite) -> None:
    for path, status, word in (
        ("/threads/01JD8ZK3M0000000000000000Z", 404, "01JD8ZK3M"),
        ("/threads?status=lost", 400, "unknown status"),
        ("/threads?before=x", 400, "not a thread id"),
        ("/nowhere", 404, "does not exist"),
    ):
        answer = web.visitor.get(path)
        assert answer.status_code == status
        assert word in answer.text
        found = web.visitor.get(path.replace("?", ".json?") if "?" in path else path + ".json")
        assert found.status_code == status
        assert word in json.dumps(found.json()["error"])


def test_a_page_that_has_not_changed_is_not_sent_again(web: WebSite) -> None:
    thread = web.waiting()
    step = printed(web, "step", "list", thread)["steps"][1]["step"]
    for path in (f"/nodes/{step}", f"/threads/{thread}/steps/{step}"):
        first = web.visitor.get(path)
        assert first.status_code == 200
        again = web.visitor.get(path, if_none_match=first.headers["etag"])
        assert (again.status_code, again.content) == (304, b"")
        several = f'"x", W/{first.headers["etag"]}'  # weak since a proxy has compressed the page
        assert web.visitor.get(path, if_none_match=several).status_code == 304
        assert web.visitor.get(path, if_none_match='"x", W/"y"').status_code == 200
        assert first.headers["cache-control"] == "private, no-cache"
    asset = web.visitor.get("/threads").text.partition('href="/static/page.')[2].partition('"')[0]
    found = web.stranger.get(f"/static/page.{asset}")
    assert "immutable" in found.headers["cache-control"]
    assert TEXT not in found.text
