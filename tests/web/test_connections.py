"""Invalid requests, what comes behind a request, and what ends early, on real connections."""

import asyncio
import re
from urllib.parse import urlencode

import pytest
import uvicorn
from uvicorn.server import ServerState
from web_site import WebSite

from uwf_web.connections import HEAD_BYTES, MOST_WAITING, BoundedConnection

FORM = "content-type: application/x-www-form-urlencoded\r\n"


class Raw:
    """A site on connections of this process, and the head of a browser that is logged in."""

    def __init__(self, web: WebSite) -> None:
        self.web = web
        self.host = web.origin.partition("//")[2]
        cookie = "; ".join(f"{name}={value}" for name, value in web.visitor.cookies.items())
        self.head = f"host: {self.host}\r\ncookie: {cookie}\r\norigin: {web.origin}\r\n"

    def get(self, path: str, more: str = "", method: str = "GET") -> bytes:
        return f"{method} {path} HTTP/1.1\r\n{self.head}{more}\r\n".encode()

    async def serve(self) -> asyncio.Server:
        config = uvicorn.Config(
            self.web.app, http=BoundedConnection, ws="none", lifespan="off", interface="asgi3",
            log_config=None, access_log=False, timeout_keep_alive=1_000,
        )  # fmt: skip
        config.load()
        self.state = ServerState()
        return await asyncio.get_running_loop().create_server(
            lambda: BoundedConnection(config, self.state, {}), "127.0.0.1", 0
        )

    def answer(self, sent: bytes, *, leave: bool = False) -> bytes:
        """What is answered until the server closes the connection; `leave`: we end first."""

        async def ask() -> bytes:
            server = await self.serve()
            async with server:
                reader, writer = await _connect(server)
                writer.write(sent)
                if leave:
                    writer.write_eof()
                try:
                    return await asyncio.wait_for(reader.read(), 30)
                except ConnectionError:  # the server did not read all of it
                    return b""
                finally:
                    writer.close()
                    await asyncio.gather(*self.state.tasks, return_exceptions=True)

        return asyncio.run(ask())


async def _connect(server: asyncio.Server) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(*server.sockets[0].getsockname(), limit=2**20)


@pytest.fixture
def raw(web: WebSite) -> Raw:
    return Raw(web)


def statuses(answer: bytes) -> list[str]:
    return re.findall(r"^HTTP/1\.1 (\d+)", answer.decode(), re.MULTILINE)


@pytest.mark.parametrize("how", ["length", "chunks", "no chunk"])
def test_a_form_that_ends_early_does_nothing(raw: Raw, how: str) -> None:
    page = raw.web.visitor.get("/start/letter").text
    csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
    folder = str(raw.web.project.folder)
    fields = {"csrf": csrf, "cwd": folder, "agent": "human", "prompt": "Write to"}
    body = urlencode(fields).encode()
    if how == "length":
        head, sent = f"content-length: {len(body) + 9}\r\n", body
    else:
        head, sent = "transfer-encoding: chunked\r\n", b"%x\r\n%s\r\n" % (len(body), body)
        sent += b"what\r\n" if how == "no chunk" else b""
    answer = raw.answer(raw.get("/start/letter", FORM + head, "POST") + sent, leave=True)
    assert statuses(answer) in ([], ["400"])
    with raw.web.project.client() as uwf:
        assert uwf.list() == []


def test_a_complete_request_is_answered_before_what_is_none(raw: Raw) -> None:
    answer = raw.answer(raw.get("/threads.json") + b"\0 is no request\r\n\r\n")
    assert statuses(answer) == ["200"]
    assert b"connection: close" in answer


def test_what_follows_a_body_changes_no_header_and_is_bounded(
    raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uwf_web.connections.HEAD_SECONDS", 1_000)
    begin = raw.get("/threads.json", "transfer-encoding: chunked\r\nconnection: close\r\n")
    answer = raw.answer(begin + b"0\r\nhost: other\r\norigin: other\r\n\r\n")
    assert statuses(answer) == ["200"]
    for flood in (b"0\r\na: " + b"b" * 9 * HEAD_BYTES, b"1;" + b"a" * 9 * HEAD_BYTES):
        raw.answer(begin.replace(b"connection: close\r\n", b"") + flood)  # it is closed


def test_a_form_in_chunks_may_be_as_large_as_another_one(raw: Raw) -> None:
    part = b"2000\r\n" + b"a" * 0x2000 + b"\r\n"
    more = FORM + "transfer-encoding: chunked\r\nconnection: close\r\n"
    answer = raw.answer(raw.get("/editor/check", more, "POST") + part * 120 + b"0\r\n\r\n")
    assert b"not made for this login" in answer


@pytest.mark.parametrize("target", ["http://evil.example/threads", "*", "evil.example:80"])
def test_a_target_that_is_not_a_path_is_rejected(raw: Raw, target: str) -> None:
    assert statuses(raw.answer(raw.get(target))) == ["400"]


def test_a_body_in_another_coding_is_rejected(raw: Raw) -> None:
    encoded = raw.get("/threads", "transfer-encoding: gzip, chunked\r\n") + b"0\r\n\r\n"
    assert statuses(raw.answer(encoded)) == ["400"]


def test_spaces_around_a_header_are_not_part_of_it(raw: Raw) -> None:
    sent = raw.get("/threads.json", "connection: close\r\n")
    spaced = sent.replace(raw.host.encode() + b"\r\n", raw.host.encode() + b" \t\r\n", 1)
    assert statuses(raw.answer(spaced)) == ["200"]


def test_an_upgrade_is_answered_as_if_nobody_had_asked_for_it(raw: Raw) -> None:
    asked = raw.get("/threads.json", "connection: upgrade\r\nupgrade: h2c\r\n")
    answer = raw.answer(asked + raw.get("/threads.json"))
    assert statuses(answer) == ["200"]
    assert b"connection: close" in answer, "the browser must ask for the second one again"


def test_only_some_requests_of_a_connection_wait(raw: Raw) -> None:
    answer = raw.answer(b"GET / HTTP/1.1\r\n\r\n" * 2_000)
    assert statuses(answer) == ["421"] * (MOST_WAITING + 1)


def test_a_browser_that_goes_frees_its_stream_with_a_request_behind_it(
    raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uwf_web.stream.MOST_STREAMS", 1)
    monkeypatch.setattr("uwf_web.stream.ALIVE_SECONDS", 0.05)

    async def status(server: asyncio.Server, sent: bytes) -> bytes:
        reader, writer = await _connect(server)
        writer.write(sent)
        line = await reader.readline()
        writer.close()
        return line[9:12]

    async def go() -> None:
        server = await raw.serve()
        async with server, asyncio.timeout(60):
            assert await status(server, raw.get("/stream") + raw.get("/threads.json")) == b"200"
            while await status(server, raw.get("/stream")) != b"200":
                await asyncio.sleep(0.05)

    asyncio.run(go())
