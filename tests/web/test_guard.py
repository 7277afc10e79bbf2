"""What other sites, and programs that speak HTTP badly, cannot do."""

import asyncio
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from web_site import WebSite

from uwf_web.app import FORM
from uwf_web.hosts import Place, read_host, read_origin, read_url
from uwf_web.keys import read_keys
from uwf_web.settings import WebSettings


@pytest.mark.parametrize(
    "host",
    ["localhost:8421", "127.0.0.1", "127.0.0.1:80", "evil.example", "", "uwf.localhost:8421",
     "uwf-0000000000000000.localhost:8421"],
)  # fmt: skip
def test_a_host_that_is_not_exactly_ours_is_misdirected(web: WebSite, host: str) -> None:
    assert web.visitor.get("/threads", host=host).status_code == 421


@pytest.mark.parametrize("origin", ["null", "http://127.0.0.1:8421", "https://evil.example", ""])
def test_another_origin_gets_nothing_and_changes_nothing(web: WebSite, origin: str) -> None:
    thread = web.waiting()
    assert web.visitor.get("/threads.json", origin=origin).status_code == 403
    answer = web.visitor.post(f"/threads/{thread}/stop", {}, origin=origin)
    assert answer.status_code == 403


def test_a_form_needs_an_origin_and_the_value_of_its_login(web: WebSite) -> None:
    thread = web.waiting()
    path = f"/threads/{thread}/cancel"
    fields = next(
        each for each in web.visitor.forms(f"/threads/{thread}") if each["action"] == path
    )["fields"]
    assert web.visitor.request("POST", path, {}, data=fields).status_code == 403
    for wrong in ("", "x", fields["csrf"][:-1]):
        assert web.visitor.post(path, {**fields, "csrf": wrong}).status_code == 403
    assert web.stranger.post(path, fields).status_code == 401
    web.until(thread, "suspended", 1)
    assert web.visitor.post(path, fields).status_code == 303
    web.until(thread, "cancelled", 1)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_no_other_method_is_answered(web: WebSite, method: str) -> None:
    answer = web.visitor.request(method, "/threads", {"origin": web.origin})
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD, POST"


def test_a_url_says_which_method_it_has(web: WebSite) -> None:
    answer = web.visitor.post("/threads", {})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    answer = web.visitor.get("/editor/save")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    answer = web.visitor.request("HEAD", "/threads", {})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")


def test_a_slash_too_many_leads_to_the_page(tmp_path: Path) -> None:
    web = WebSite(tmp_path, base="/uwf")
    found = [web.visitor.get(f"/uwf{path}") for path in ("", "/threads/?text=a%20b", "/threads//")]
    assert [each.status_code for each in found] == [307, 307, 404]
    assert found[0].headers["location"] == "/uwf/"
    assert found[1].headers["location"] == "/uwf/threads?text=a%20b"


@pytest.mark.parametrize("name", ["a%3Fb", "a%23b", "a%253Fb", "a%25", "a%0D%0Ab"])
def test_a_redirect_leads_to_the_path_that_was_asked_for(web: WebSite, name: str) -> None:
    answer = web.visitor.get(f"/workflows/{name}/")
    assert (answer.status_code, answer.headers["location"]) == (307, f"/workflows/{name}")


def test_the_headers_of_the_stream_alone_come_to_an_end(web: WebSite) -> None:
    answer = web.visitor.request("HEAD", "/stream", {})
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"


def test_a_request_that_the_stop_of_the_server_cuts_off_is_no_error(web: WebSite) -> None:
    sent: list[Any] = []

    async def cut_off() -> None:
        headers = {"host": web.origin[7:], "origin": web.origin, "content-type": FORM}
        cookie = "; ".join(f"{name}={value}" for name, value in web.visitor.cookies.items())
        scope = {
            "type": "http", "method": "POST", "path": "/editor/check", "query_string": b"",
            "headers": [(k.encode(), v.encode()) for k, v in {**headers, "cookie": cookie}.items()],
        }  # fmt: skip

        async def send(message: Any) -> None:
            sent.append(message)

        waits = asyncio.Event()

        async def receive() -> Any:
            waits.set()
            await asyncio.Event().wait()

        task = asyncio.ensure_future(web.app(scope, receive, send))
        await waits.wait()
        task.cancel()
        await task

    asyncio.run(cut_off())
    assert sent[0]["status"] == 503


def test_an_error_of_a_page_is_shown_and_reaches_the_terminal(
    web: WebSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_words: object) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr("uwf_core.client.Client.list", broken)
    with pytest.raises(RuntimeError, match="on purpose"):
        web.visitor.get("/threads")
    shown = asyncio.run(_shown(web, "/threads"))
    assert shown.status_code == 500
    assert "This is an error of uwf-web" in shown.text


async def _shown(web: WebSite, path: str) -> httpx.Response:
    """What a browser shows of a request whose error the server prints."""
    transport = httpx.ASGITransport(web.app, raise_app_exceptions=False)
    cookies = web.visitor.cookies
    async with httpx.AsyncClient(transport=transport, base_url=web.origin, cookies=cookies) as one:
        return await one.get(path)


def test_every_answer_forbids_what_a_page_does_not_need(web: WebSite) -> None:
    thread = web.waiting()
    paths = ["/", "/threads", f"/threads/{thread}", "/nowhere", "/threads.json"]
    answers = [web.visitor.get(path) for path in paths]
    answers += [web.stranger.get("/"), web.visitor.get("/", host="evil.example")]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "form-action 'self'; frame-ancestors 'none'; base-uri 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "style=" not in answer.text
        assert "<script>" not in answer.text


@pytest.mark.parametrize(
    "path",
    ["/static/../keys.py", "/static/%2e%2e%2fkeys.py", "/static/page.css", "/steps/x",
     "/nodes/../../etc/passwd", "/threads/..%2f..%2fetc%2fpasswd",
     "/threads/@last/steps/x/files/../../etc/passwd"],
)  # fmt: skip
def test_a_path_never_reads_a_file_of_the_disk(web: WebSite, path: str) -> None:
    answer = web.visitor.get(path)
    assert answer.status_code == 404
    assert "root:" not in answer.text


def test_words_of_a_path_or_query_cannot_add_headers_or_markup(web: WebSite) -> None:
    hostile = quote('"><script>alert(1)</script>\r\nset-cookie: a=b')
    for path in (f"/threads/{hostile}", f"/threads?workflow={hostile}", f"/start/{hostile}"):
        answer = web.visitor.get(path)
        assert "set-cookie" not in answer.headers
        assert "<script>alert" not in answer.text


def test_a_form_that_is_too_large_or_none_is_rejected(web: WebSite) -> None:
    thread = web.waiting()
    path = f"/threads/{thread}/poke"
    send = web.visitor.request
    origin = {"origin": web.origin}
    typed = {**origin, "content-type": "application/x-www-form-urlencoded"}
    for headers, body in (
        (origin, b"{}"),
        (typed, b"text=" + b"a" * (1024 * 1024 + 1)),
        (typed, b"&".join(b"a%d=" % n for n in range(600))),
        (typed, b"text=%ff"),
        (typed, "text=ä".encode("latin-1")),
    ):
        assert send("POST", path, headers, content=body).status_code in (400, 403)


def test_a_read_only_server_shows_and_does_nothing(tmp_path: Path) -> None:
    web = WebSite(tmp_path, read_only=True)
    thread = web.waiting()
    assert web.visitor.forms(f"/threads/{thread}") == []
    assert web.visitor.post(f"/threads/{thread}/cancel", {}).status_code == 403
    web.until(thread, "suspended", 1)


def test_below_a_base_path_every_link_begins_with_it(tmp_path: Path) -> None:
    web = WebSite(tmp_path, base="/uwf")
    thread = web.waiting()
    page = web.visitor.get(f"/uwf/threads/{thread}").text
    links = re.findall(r'(?:href|action|src)="(/[^"]*)"', page)
    assert len(links) > 10
    assert [each for each in links if not each.startswith("/uwf/")] == []
    assert web.visitor.get(f"/threads/{thread}").status_code == 401


def test_127_0_0_1_works_with_a_warning_and_another_host_if_it_is_allowed(tmp_path: Path) -> None:
    web = WebSite(tmp_path, allowed_hosts=(Place("https", "page.example", 443),))
    port = web.settings.port
    page = web.visitor.get("/threads", host=f"127.0.0.1:{port}").text
    assert f"Use {web.origin}" in page
    assert "Other servers on this machine" not in web.visitor.get("/threads").text
    others = ("http://page.example", "https://page.example:444", web.origin)
    for origin, status in (("https://page.example", 200), *((each, 403) for each in others)):
        answer = web.visitor.get("/threads", host="page.example", origin=origin)
        assert answer.status_code == status


@pytest.mark.parametrize(
    ("host", "linked"),
    [("0.0.0.0", None), ("::", None), ("::1", None), ("page.example", "page.example"),
     ("2001:db8::1", "[2001:db8::1]")],
)  # fmt: skip
def test_the_printed_link_is_one_that_the_server_answers(
    tmp_path: Path, host: str, linked: str | None
) -> None:
    web = WebSite(tmp_path, host=host)
    own = read_keys(web.project.home).host
    place = web.settings.place(own)
    assert place.name == (linked or own)
    assert web.visitor.get("/threads", host=str(place).partition("//")[2]).status_code == 200


NAMES = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?(\.[a-z]{1,6}){0,2}", fullmatch=True)
PORTS = st.sampled_from([80, 443, 8421, 1, 65535])
SCHEMES = st.sampled_from(["http", "https"])


@given(SCHEMES, NAMES, PORTS, st.data())
def test_a_place_is_the_same_however_a_browser_writes_it(
    scheme: str, name: str, port: int, data: st.DataObject
) -> None:
    """mvslovers/mvsmf #175, mozilla/geckodriver #2034; kind: web."""
    place = Place(scheme, name, port)
    shown = "".join(data.draw(st.sampled_from([each, each.upper()])) for each in name)
    dot = data.draw(st.sampled_from(["", "."]))
    is_default = port == {"http": 80, "https": 443}[scheme]
    ends = data.draw(st.sampled_from([f":{port}", *(["", ":"] if is_default else [])]))
    host = f"{shown}{dot}{ends}"
    assert read_host(host, scheme) == place
    assert read_origin(f"{scheme}://{host}") == place == read_origin(str(place))
    assert read_url(f"{place}/a/b") == (place, "/a/b")


@given(SCHEMES, NAMES, PORTS, SCHEMES, NAMES, PORTS)
def test_only_the_same_place_may_send_a_form(
    scheme: str, name: str, port: int, other: str, its: str, at: int
) -> None:
    settings = WebSettings(Path(), Path(), port, tls=("c", "k") if scheme == "https" else None)
    is_same = (scheme, name, port) == (other, its, at)
    origin, host = str(Place(other, its, at)), str(Place(scheme, name, port)).partition("//")[2]
    assert settings.accepts(origin, host) is is_same
    assert settings.answers_to(host, name) and not settings.answers_to(host, "other.example")
    proxied = settings._replace(outer=Place(other, its, at))
    assert proxied.accepts(origin, host) and proxied.place(name) == Place(other, its, at)
    assert settings._replace(allowed_hosts=(Place(other, its, 443),)).answers_to(f"{its}:9", name)


@given(st.text(max_size=12))
def test_what_is_not_a_host_is_nobodys(text: str) -> None:
    found = read_host(text, "http")
    assert found is None or read_host(str(found).partition("//")[2], "http") == found
    for wrong in (f"a {text}", f"a/{text}", f"a@{text}", f"a,{text}", f"a:{text}x", f"{text}\n"):
        assert read_host(wrong, "http") is None


@pytest.mark.parametrize(
    "text",
    ["null", "", "file://", "http://", "http://a:0", "http://a:65536", "http://a:b", "http://a/",
     "http://..", "http://[::g]"],
)  # fmt: skip
def test_what_is_not_an_origin_is_nobodys(text: str) -> None:
    assert read_origin(text) is None
