"""What browsers, proxies and strangers send to `uwf web`."""

import http.client
import json
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "web"))
from web_server import WebServer

HALF = {
    "nothing": b"",
    "a half head": b"GET /threads HTTP/1.1\r\nhost: x\r\n",
    "a request without a login": None,
    "a half form": b"POST /editor/check HTTP/1.1\r\nhost: {host}\r\ncontent-length: 99\r\n\r\na",
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebServer]:
    found = WebServer(tmp_path)
    yield found
    found.stop()


def asked(server: WebServer, path: str, cookie: str = "") -> tuple[int, http.client.HTTPMessage]:
    link = urlsplit(server.link)
    connection = http.client.HTTPConnection("127.0.0.1", link.port or 80, timeout=5)
    connection.request("GET", path, headers={"host": link.netloc, "cookie": cookie})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers


@pytest.mark.parametrize("sent", HALF.values(), ids=[f"slow loris: {each}" for each in HALF])
def test_strangers_never_lock_out_somebody_who_is_logged_in(
    server: WebServer, sent: bytes | None
) -> None:
    """slow loris; kind: web."""
    link = urlsplit(server.link)
    host, kept = link.netloc.encode(), list[socket.socket]()
    whole = b"GET /threads HTTP/1.1\r\nhost: {host}\r\n\r\n"
    data = (whole if sent is None else sent).replace(b"{host}", host)
    status, headers = asked(server, f"/threads?{link.query}")
    assert status == 303
    cookie = str(headers["set-cookie"]).partition(";")[0]
    try:
        for _ in range(600):
            kept.append(socket.create_connection(("127.0.0.1", link.port or 80), timeout=5))
            try:
                kept[-1].sendall(data)
            except ConnectionError:  # it was closed at once
                continue
        begin = time.monotonic()
        assert asked(server, "/threads", cookie)[0] == 200
        assert time.monotonic() - begin < 5, "before the time of a head is over"
        assert asked(server, "/threads")[0] == 401, "the page of the login is there as well"
        assert asked(server, f"/?{urlsplit(server.new_link()).query}")[0] == 303
    finally:
        for each in kept:
            each.close()


def test_a_connection_with_a_login_outlives_those_of_strangers(server: WebServer) -> None:
    """kind: web."""
    link = urlsplit(server.link)
    cookie = str(asked(server, f"/?{link.query}")[1]["set-cookie"]).partition(";")[0]
    mine = http.client.HTTPConnection("127.0.0.1", link.port or 80, timeout=5)
    strangers = []
    try:
        for _ in range(3):
            mine.request("GET", "/threads.json", headers={"host": link.netloc, "cookie": cookie})
            answer = mine.getresponse()
            assert (answer.status, bool(answer.read())) == (200, True)
            for _ in range(100):
                address = ("127.0.0.1", link.port or 80)
                strangers.append(socket.create_connection(address, timeout=5))
    finally:
        for each in (mine, *strangers):
            each.close()


@pytest.mark.parametrize(
    "wrong",
    [
        ("--allow-host", "a b"),
        ("--base-url", "uwf.example"),
        ("--base-url", "http://[::1"),
        ("--base-url", "https://a/x", "--base-path", "y"),
    ],
)
def test_an_address_that_is_none_is_reported(tmp_path: Path, wrong: tuple[str, ...]) -> None:
    from uwf_core.testing.project import Project

    refused = Project(tmp_path).uwf("web", "--port", "0", *wrong)
    assert (refused.exit_code, refused.stdout) == (2, "")


@pytest.mark.parametrize(
    ("options", "host", "origin"),
    [
        (("--allow-host", "Page.example."), "PAGE.example:9", "http://page.example:9"),
        (("--allow-host", "https://page.example"), "page.example", "https://page.example"),
        (("--base-url", "https://page.example/x"), "page.example", "https://page.example"),
        (
            ("--base-url", "https://page.example:444/x"),
            "127.0.0.1:{port}",
            "https://page.example:444",
        ),
    ],
    ids=["mvslovers/mvsmf #175", "a TLS proxy", "an outer address", "a proxy that sets the host"],
)
def test_a_browser_behind_a_proxy_sends_forms(
    tmp_path: Path, options: tuple[str, ...], host: str, origin: str
) -> None:
    """mozilla/geckodriver #2034; kind: web."""
    server = WebServer(tmp_path, *options)
    try:
        link, state = urlsplit(server.link), server.project.home / "web.json"
        assert link.hostname == "page.example"
        listening = json.loads(state.read_text())["port"]
        shown = host.replace("{port}", str(listening))
        statuses = []
        for sender in (origin, "https://evil.example", origin.replace("page", "other")):
            connection = http.client.HTTPConnection("127.0.0.1", listening, timeout=10)
            connection.request(
                "GET", f"{link.path}?{link.query}", headers={"host": shown, "origin": sender}
            )
            statuses.append(connection.getresponse().status)
            connection.close()
        assert statuses == [303, 403, 403]
        assert urlsplit(server.new_link())._replace(query="") == link._replace(query="")
    finally:
        server.stop()
