"""fetch_url: only the public internet, at every hop, whatever an address looks like."""

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from uwf_agent_builtin.tools.addresses import is_public
from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.tools.fetch import BYTES, Fetcher, addresses_of, page_text
from uwf_agent_builtin.tools.html_text import html_text
from uwf_core.api import Cancel

NOT_PUBLIC = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.254 127.0.0.1 127.1.2.3
127.255.255.254 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.254 192.0.0.1 192.0.0.192
192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.254 198.18.0.1 198.19.255.254 198.51.100.7
203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 168.63.129.16 :: ::1 ::7f00:1
::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:192.168.1.1 64:ff9b::7f00:1
64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1 2001::1 2001:0:0:0:0:0:80ff:fffe 2001:db8::1 2001:10::1
2001:0:4136:e378:8000:63bf:3fff:fdd2 ::127.0.0.1 2002:7f00:1::1 2002:7f00:1::
2002:a9fe:a9fe:: 2002:c0a8:101::1 fc00::1 fd00:ec2::254 fd12::1 fe80::1 fe80::ffff:1 fec0::1
ff02::1 ff0e::1 3fff::1 5f00::1 localhost 999.1.1.1 1.2.3
"""

PUBLIC = """
1.1.1.1 8.8.8.8 93.184.216.34 172.15.255.255 172.32.0.1 192.167.255.255 192.169.0.1 11.0.0.1
100.63.255.255 100.128.0.1 2606:4700:4700::1111 2001:4860:4860::8888 ::ffff:8.8.8.8
64:ff9b::808:808 2002:808:808::1
"""

REFUSED_URLS = [
    "http://localhost/",
    "http://localhost.:80/",
    "http://LOCALHOST/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0/",
    "http://0.0.0.0/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://2852039166/latest/meta-data/",
    "http://10.0.0.1/",
    "http://192.168.1.1:8080/",
    "https://127.0.0.1/",
    "https://[::1]:8443/",
    "http://user@127.0.0.1/",
    "http://user:password@example.com/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1#@example.com/",
    "http://127.0.0.1?@example.com/",
    "http://127.0.0.1\\@example.com/",
    "http://example.com\\@127.0.0.1/",
    "http://[::1%25lo]/",
    "http://[fe80::1%25eth0]/",
    "http://127.0.0.1%2f@example.com/",
    "http://127%2e0%2e0%2e1/",
    "http://\uff11\uff12\uff17.0.0.1/",
    "http://\u2460\u2461\u2466.0.0.1/",
    "http://127\u30020\u30020\u30021/",
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "ftp://example.com/",
    "gopher://127.0.0.1:6379/_INFO",
    "dict://127.0.0.1:11211/stat",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "ldap://127.0.0.1/",
    "unix:///var/run/docker.sock",
    "http+unix://%2fvar%2frun%2fdocker.sock/",
    "ws://127.0.0.1/",
    "//127.0.0.1/",
    "127.0.0.1",
    "http:127.0.0.1",
    "http:///127.0.0.1",
    "http://",
    "http://:80/",
    "http://127.0.0.1:99999/",
    "http://127.0.0.1:-1/",
    "http://127.0.0.1:0/",
    "http://127.0.0.1\r\nHost: example.com/",
    "http://127.0.0.1 /",
    "\thttp://127.0.0.1/",
    "http://example.com/\r\nX: y",
    "http://[::1",
    "http://" + "a" * 300 + ".example/",
    "",
]


@pytest.mark.parametrize("address", NOT_PUBLIC.split())
def test_an_address_that_is_not_of_the_public_internet(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC.split())
def test_an_address_of_the_public_internet(address):
    assert is_public(address)


class Listener:
    """Counts who connects to this machine, on 127.0.0.1 and ::1, whatever the port is."""

    def __init__(self, monkeypatch) -> None:
        self.connected = []
        real = socket.create_connection
        monkeypatch.setattr(
            socket, "create_connection", lambda *a, **k: self.connected.append(a) or real(*a, **k)
        )


@pytest.mark.parametrize("url", REFUSED_URLS, ids=ascii)
def test_no_connection_is_made_to_anything_but_the_public_internet(url, monkeypatch):
    listener = Listener(monkeypatch)

    def resolve(host, port):
        # Names are not looked up here; numbers in all their forms are read by the system.
        if host.endswith(("example.com", ".example")):
            raise OSError("no such name")
        return addresses_of(host, port)

    with pytest.raises(ToolError):
        Fetcher(resolve).fetch(url, Cancel(), 5.0)
    assert listener.connected == []


class Pages(BaseHTTPRequestHandler):
    """What the scripted site answers, by path."""

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path.startswith("/to/"):
            self._answer(302, b"", {"Location": self.path[4:]})
        elif path == "/loop":
            self._answer(302, b"", {"Location": "/loop"})
        elif path == "/page":
            body = b"<html><head><title>T</title><script>x()</script></head><h1>H</h1><p>one</p>"
            self._answer(200, body, {"Content-Type": "text/html; charset=utf-8"})
        elif path == "/large":
            self._answer(200, b"x" * (BYTES + 100_000), {"Content-Type": "text/plain"})
        elif path == "/picture":
            self._answer(200, b"\x89PNG\0", {"Content-Type": "image/png"})
        elif path == "/drip":
            self._drip()
        elif path == "/host":
            self._answer(200, self.headers["Host"].encode(), {"Content-Type": "text/plain"})
        else:
            self._answer(404, b"nothing here", {"Content-Type": "text/plain"})

    def _answer(self, status, body, headers):
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _drip(self):
        self.send_response(200)
        self.end_headers()
        try:
            for _ in range(600):
                self.wfile.write(b"x")
                time.sleep(0.05)
        except OSError:
            return  # nobody reads any more

    def log_message(self, *_args):
        return


@pytest.fixture
def site():
    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_args):
            return

    server = Server(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def only_site(host, _port):
    return {"site.example": ["127.0.0.1"], "inner.example": ["127.0.0.2"]}.get(host, [host])


def fetch(path, port, seconds=30.0, cancel=None):
    """Fetch with one address of this machine passing as public."""
    fetcher = Fetcher(only_site, lambda address: address == "127.0.0.1")
    return fetcher.fetch(f"http://site.example:{port}{path}", cancel or Cancel(), seconds)


def test_a_page_comes_as_text(site):
    text = page_text(fetch("/page", site))
    assert text.endswith("T\n\n# H\n\none")
    assert "x()" not in text


def test_the_name_is_asked_for_and_the_vetted_address_connected_to(site):
    assert page_text(fetch("/host", site)).endswith(f"\nsite.example:{site}")


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.2/",
        "http://inner.example/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "//127.0.0.2/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://user:pw@site.example/",
    ],
)
def test_every_redirect_is_looked_at(site, target):
    with pytest.raises(ToolError):
        fetch(f"/to/{target}", site)


def test_a_redirect_to_a_public_place_is_followed(site):
    assert "one" in page_text(fetch("/to//page", site))


def test_redirects_end(site):
    with pytest.raises(ToolError, match="redirects"):
        fetch("/loop", site)


def test_a_name_with_one_private_address_among_public_ones_is_refused():
    fetcher = Fetcher(lambda *_: ["93.184.216.34", "127.0.0.1"])
    with pytest.raises(ToolError, match=r"127\.0\.0\.1"):
        fetcher.fetch("http://both.example/", Cancel(), 2.0)


def test_a_host_of_which_one_address_takes_no_connection_is_reached_by_another(site):
    fetcher = Fetcher(lambda *_: ["127.0.0.3", "127.0.0.1"], lambda a: a.startswith("127.0.0."))
    assert fetcher.fetch(f"http://x.example:{site}/page", Cancel(), 5.0).status == 200


def test_a_name_is_resolved_once_so_that_it_cannot_change_in_between(site):
    asked = []

    def resolve(host, _port):
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    Fetcher(resolve, lambda a: a == "127.0.0.1").fetch(f"http://x.example:{site}/", Cancel(), 5.0)
    assert asked == ["x.example"]


def test_of_a_large_page_the_beginning_is_taken(site):
    page = fetch("/large", site)
    assert len(page.content) == BYTES and not page.whole
    assert len(page_text(page)) < 50_000


def test_a_page_that_comes_byte_by_byte_ends_with_the_time(site):
    started = time.monotonic()
    with pytest.raises(ToolError):
        fetch("/drip", site, seconds=0.5)
    assert time.monotonic() - started < 15


def test_cancel_ends_a_fetch(site):
    cancel = Cancel()
    threading.Timer(0.2, cancel.set, ("enough",)).start()
    with pytest.raises(ToolError, match="cancelled"):
        fetch("/drip", site, cancel=cancel)


def test_what_is_no_text_is_said_to_be_none(site):
    assert "image/png, no text" in page_text(fetch("/picture", site))


def test_a_status_is_told(site):
    assert page_text(fetch("/missing", site)).endswith("HTTP 404]\nnothing here")


def test_a_service_that_is_not_there_is_an_answer(desk):
    answered = desk.tool("fetch_url", url="http://localhost:1/")
    assert answered.is_error and "public internet" in answered.text


def test_html_is_text_with_headings_lists_and_links():
    html = '<h2>A</h2><ul><li>x<li><a href="https://e.example/">y</a></ul><style>p{}</style>&amp;'
    assert html_text(html) == "## A\n\n- x\n- y (https://e.example/)\n&"
