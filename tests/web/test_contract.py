"""What `uwf web` promises, with the standard library alone: it also runs where only wheels are."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from web_server import WebServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebServer]:
    found = WebServer(tmp_path)
    yield found
    found.stop()


def get(server: WebServer, path: str, cookie: str = "") -> tuple[http.client.HTTPMessage, int, str]:
    link = urlsplit(server.link)
    connection = http.client.HTTPConnection("127.0.0.1", link.port or 80, timeout=30)
    connection.request("GET", path, headers={"host": link.netloc, "cookie": cookie})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.headers, answer.status, body


def test_a_link_logs_in_and_a_page_has_the_document_of_its_command(server: WebServer) -> None:
    with server.project.client() as uwf:
        thread = uwf.start("letter", "Write to Ada")["thread"]
    assert get(server, "/threads")[1] == 401
    headers, status, _ = get(server, f"/threads?{urlsplit(server.link).query}")
    assert (status, headers["location"]) == (303, "/threads")
    cookie = str(headers["set-cookie"]).partition(";")[0]
    page = get(server, f"/threads/{thread}", cookie)[2]
    assert "Write to Ada" in page
    assert f"uwf thread show {thread}" in page
    found = json.loads(get(server, f"/threads/{thread}.json", cookie)[2])
    assert found["thread"] == server.project.uwf("thread", "show", thread).document
    style = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
    assert get(server, style)[1] == 200
