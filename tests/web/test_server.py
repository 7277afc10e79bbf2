"""The server as a process: one for each home, on a free port, and killed at any moment."""

import itertools
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from tests.forms import form
from web_server import WebServer

from uwf_core.client import ThreadFilter

KILLS = form(short=5, long=250)
SEED = int(os.environ.get("UWF_WEB_SEED", "5"))
START_SECONDS, ACTING_SECONDS = 0.6, 1.2
"""Within which a server is killed that starts, or that acts; every fifth one starts."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebServer]:
    found = WebServer(tmp_path)
    yield found
    found.stop()


def browser_of(server: WebServer) -> httpx.Client:
    """A browser that is logged in: it resolves the name as browsers do."""
    port = int(server.origin.rpartition(":")[2])
    host = server.origin.partition("//")[2]
    client = httpx.Client(
        base_url=f"http://127.0.0.1:{port}", headers={"host": host, "origin": server.origin},
        timeout=30,
    )  # fmt: skip
    token = server.new_link().partition("token=")[2]
    answer = client.get("/threads", params={"token": token})
    assert answer.status_code == 303, answer.text
    cookie = answer.headers["set-cookie"].partition(";")[0]
    client.headers["cookie"] = cookie
    return client


def test_a_second_call_prints_a_new_link_of_the_running_server(server: WebServer) -> None:
    document = server.project.uwf("web").document
    second = document["url"]
    assert document["pid"] == server.process.pid
    assert second.startswith(server.origin + "/?token=")
    assert second != server.link
    state = server.project.home / "web.json"
    assert state.stat().st_mode & 0o777 == 0o600
    assert json.loads(state.read_text())["pid"] == server.process.pid


def test_stop_ends_it_with_its_open_streams_and_nothing_is_left(server: WebServer) -> None:
    with closing(browser_of(server)) as client, client.stream("GET", "/stream") as stream:
        assert next(stream.iter_lines()) == ": open"
        began = time.monotonic()
        assert server.project.uwf("web", "stop").exit_code == 0
        assert server.process.wait(60) == 0
        assert time.monotonic() - began < 12
    assert not (server.project.home / "web.json").exists()
    again = server.project.uwf("web", "stop")
    assert (again.exit_code, again.error["message"]) == (2, "no `uwf web` is running")


def test_a_port_in_use_takes_the_next(server: WebServer, tmp_path: Path) -> None:
    port = int(server.origin.rpartition(":")[2])
    other = WebServer(tmp_path / "other", "--port", str(port))
    try:
        assert int(other.origin.rpartition(":")[2]) > port
    finally:
        other.stop()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "without https"),
        (["--tls-cert", "x.pem"], "belong together"),
        (["--tls-cert", "x.pem", "--tls-key", "y.pem"], "x.pem: No such file"),
        (["--tls-cert", __file__, "--tls-key", __file__], "cannot be used"),
        (["--port", "70000"], "70000"),
    ],
)
def test_an_unsafe_or_wrong_call_starts_nothing(
    tmp_path: Path, options: list[str], message: str
) -> None:
    from uwf_core.testing.project import Project

    project = Project(tmp_path)
    done = project.uwf("web", *options)
    assert done.exit_code == 2
    assert message in done.error["message"]
    assert not (project.home / "web.json").exists()


@pytest.fixture
def certificate(tmp_path: Path) -> list[str]:
    """The options of a certificate for this machine, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    files = [str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")]
    words = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=uwf", "-addext"]
    subprocess.run(
        ["openssl", "req", "-x509", *words, "subjectAltName=IP:127.0.0.1",
         "-out", files[0], "-keyout", files[1]],
        check=True, capture_output=True,
    )  # fmt: skip
    return ["--tls-cert", files[0], "--tls-key", files[1]]


def test_with_a_certificate_it_speaks_https_only(tmp_path: Path, certificate: list[str]) -> None:
    server = WebServer(tmp_path / "site", *certificate)
    try:
        assert server.origin.startswith("https://")
        origin = f"https://127.0.0.1:{server.origin.rpartition(':')[2]}"
        trust = ssl.create_default_context(cafile=certificate[1])
        with httpx.Client(base_url=origin, verify=trust) as client:
            answer = client.get(f"/?{server.link.partition('?')[2]}")
            assert "; Secure" in answer.headers["set-cookie"]
            assert client.get("/threads").status_code == 200
        with pytest.raises(httpx.TransportError):
            httpx.get(origin.replace("https", "http"))
    finally:
        server.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_only_this_machine_reaches_it(server: WebServer) -> None:
    port = int(server.origin.rpartition(":")[2])
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path("/proc/net", name).read_text().splitlines()[1:]
    ]
    listening = [row[1] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "0A"]
    local = {f"0100007F:{port:04X}", f"{'0' * 24}01000000:{port:04X}"}
    assert listening
    assert set(listening) <= local


def test_a_client_that_sends_its_request_slowly_is_closed_and_delays_nobody(
    server: WebServer,
) -> None:
    port = int(server.origin.rpartition(":")[2])
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
    for each in slow:
        each.sendall(b"GET / HTTP/1.1\r\nhost: ")
    with closing(browser_of(server)) as client:
        began = time.monotonic()
        assert client.get("/threads").status_code == 200
        assert time.monotonic() - began < 12
    slow[0].settimeout(60)
    assert slow[0].recv(1) == b""
    for each in slow:
        each.close()


LARGE_HEADS = {
    "a header that does not end": b"a: " + b"b" * 200_000,
    "one header": b"a: " + b"b" * 40_000 + b"\r\n\r\n",
    "many headers": b"".join(b"a%d: b\r\n" % number for number in range(5_000)) + b"\r\n",
}


def test_a_head_that_is_too_large_is_rejected(server: WebServer) -> None:
    port = int(server.origin.rpartition(":")[2])
    begins = [(name, b"GET / HTTP/1.1\r\n" + rest) for name, rest in LARGE_HEADS.items()]
    begins.append(("a path", b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n\r\n"))
    for name, head in begins:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.settimeout(60)
            connection.sendall(head)
            answer = _rest_of(connection)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400"), name


def test_a_head_that_is_too_large_is_rejected_behind_a_stream(server: WebServer) -> None:
    """A connection that waits for events is as bounded as another one."""
    port = int(server.origin.rpartition(":")[2])
    with closing(browser_of(server)) as client:
        head = f"host: {client.headers['host']}\r\ncookie: {client.headers['cookie']}"
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.settimeout(60)
            connection.sendall(f"GET /stream HTTP/1.1\r\n{head}\r\n\r\n".encode())
            assert connection.recv(12) == b"HTTP/1.1 200"
            connection.sendall(b"GET / HTTP/1.1\r\n" + LARGE_HEADS["a header that does not end"])
            _rest_of(connection)
        assert client.get("/threads").status_code == 200


def _rest_of(connection: socket.socket) -> bytes:
    """What is sent until the server closes the connection."""
    found = b""
    try:
        while part := connection.recv(65536):
            found += part
    except ConnectionError:  # the server did not read all of it
        pass
    return found


def test_more_streams_than_there_is_room_for_delay_no_page_and_print_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = WebServer(tmp_path)
    port = int(server.origin.rpartition(":")[2])
    with closing(browser_of(server)) as client:
        head = f"host: {client.headers['host']}\r\ncookie: {client.headers['cookie']}"
        ask = f"GET /stream HTTP/1.1\r\n{head}\r\n\r\n".encode()
        open_streams = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
        for each in open_streams:
            each.settimeout(60)
            each.sendall(ask)
        answers = [each.recv(12)[9:] for each in open_streams]
        assert answers.count(b"200") == 100
        assert set(answers) == {b"200", b"503"}
        for each, answer in zip(open_streams, answers, strict=True):
            if answer == b"503":
                each.close()
        began = time.monotonic()
        assert client.get("/threads").status_code == 200
        assert time.monotonic() - began < 12
        for each in open_streams:
            each.close()
    server.stop()
    assert capfd.readouterr().err == ""


def test_no_query_of_a_request_is_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A query may be a token, or what a person searched for."""
    server = WebServer(tmp_path)
    with closing(browser_of(server)) as client:
        assert client.get("/threads?text=my-secret").status_code == 200
        assert client.get("/threads?before=my-secret").status_code == 400
        assert client.get("/nowhere?text=my-secret").status_code == 404
    rest = server.stop()
    assert "my-secret" not in rest + capfd.readouterr().err


def test_a_change_reaches_the_stream_and_a_browser_that_comes_back(server: WebServer) -> None:
    with closing(browser_of(server)) as client:
        with client.stream("GET", "/stream") as stream:
            lines = stream.iter_lines()
            last = _event(lines)
            with server.project.client() as uwf:
                uwf.start("letter", "A change")
            began = time.monotonic()
            fresh = _event(lines)
            assert fresh != last
            assert time.monotonic() - began < 12
        with client.stream("GET", "/stream", headers={"last-event-id": last}) as stream:
            assert _event(stream.iter_lines()) is not None


def _event(lines: Iterator[str]) -> str:
    return next(line for line in lines if line.startswith("id: ")).removeprefix("id: ")


def test_a_server_that_is_killed_at_any_moment_loses_nothing(tmp_path: Path) -> None:
    """Every action that was confirmed is stored, none happened twice, and everybody stays logged
    in. `tests/web/README.md` has the results of the long form.
    """
    chance = random.Random(SEED)
    server = WebServer(tmp_path)
    client = browser_of(server)
    port = server.origin.rpartition(":")[2]
    server.stop(signal.SIGKILL)
    confirmed: set[str] = set()
    for number in range(KILLS):
        if number % 5 == 4:
            server.launch("--port", port)
            time.sleep(chance.random() * START_SECONDS)
        else:
            server.start("--port", port)
            killer = threading.Timer(chance.random() * ACTING_SECONDS, server.process.kill)
            killer.start()
            _start_threads(client, str(server.project.folder), f"Task {number}", confirmed)
            killer.join()
        server.stop(signal.SIGKILL)
    server.start("--port", port)
    with server.project.client() as uwf:
        known = {row["thread"] for row in uwf.list(ThreadFilter(all=True))}
        tasks = [uwf.thread(thread).task for thread in known]
        assert confirmed <= known
        assert len(set(tasks)) == len(tasks), "a form was acted on twice"
        assert client.get("/threads").status_code == 200
    assert server.project.uwf("cas", "verify").document["valid"]
    print(f"{KILLS} kills, seed {SEED}: {len(confirmed)} confirmed of {len(known)} threads")
    client.close()
    server.stop()


def _start_threads(client: httpx.Client, folder: str, task: str, confirmed: set[str]) -> None:
    """Start threads by the form until the server is killed; the confirmed ones are added."""
    try:
        page = client.get("/start/letter")
        csrf = page.text.partition('name="csrf" value="')[2].partition('"')[0]
        for count in itertools.count():
            fields = {"csrf": csrf, "prompt": f"{task}.{count}", "cwd": folder, "agent": "human"}
            answer = client.post("/start/letter", data=fields)
            assert answer.status_code == 303, answer.text
            confirmed.add(answer.headers["location"].rpartition("/")[2])
    except httpx.TransportError:
        return
