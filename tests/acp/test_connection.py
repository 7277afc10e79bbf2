"""Both sides of the protocol use one connection."""

import json
import os
import threading
from collections.abc import Iterator

import pytest

from uwf_agent_acp.protocol.connection import Connection, Later
from uwf_agent_acp.protocol.errors import METHOD_NOT_FOUND, Abandoned, ConnectionClosed, RpcError


class Pipe:
    """One side of a connection."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write

    def write(self, data: bytes) -> None:
        os.write(self._write, data)

    def lines(self) -> Iterator[bytes]:
        with os.fdopen(self._read, "rb") as file:
            yield from file

    def leave(self) -> None:
        os.close(self._write)


@pytest.fixture
def sides():
    """Two connected channels."""
    (one, two), (three, four) = os.pipe(), os.pipe()
    return Pipe(one, four), Pipe(three, two)


def served(connection: Connection) -> threading.Thread:
    thread = threading.Thread(target=connection.serve, daemon=True)
    thread.start()
    return thread


def later(service):
    """The same service, which works in a thread of its own."""

    def begun(params):
        def begin(answer):
            threading.Thread(target=lambda: answer(service(params)), daemon=True).start()

        return Later(begin)

    return begun


def test_a_server_asks_its_client_while_it_answers(sides):
    here, there = sides

    def prompt(_params):
        return {"said": server.request("session/request_permission", {"q": 1})["answer"]}

    server = Connection(there, {"session/prompt": later(prompt)}, lambda *_: None)
    thread = served(server)
    services = {"session/request_permission": lambda params: {"answer": params["q"] + 1}}
    client = Connection(here, services, lambda *_: None)
    assert client.request("session/prompt", {}) == {"said": 2}
    here.leave()
    thread.join(10)
    assert not thread.is_alive()
    there.leave()


def test_a_notification_arrives_while_a_slow_service_works(sides):
    here, there = sides
    cancelled = threading.Event()
    server = Connection(
        there,
        {"session/prompt": later(lambda _params: {"cancelled": cancelled.wait(10)})},
        lambda _method, _params: cancelled.set(),
    )
    served(server)
    client = Connection(here, {}, lambda *_: None)
    threading.Timer(0.05, client.notify, ("session/cancel", {})).start()
    assert client.request("session/prompt", {}) == {"cancelled": True}
    here.leave()


def test_a_request_to_a_peer_that_left_ends(sides):
    here, there = sides
    server = Connection(there, {}, lambda *_: None)
    thread = served(server)
    waiting: list[str] = []

    def ask():
        with pytest.raises(ConnectionClosed):
            server.request("session/request_permission", {})
        waiting.append("over")

    asking = threading.Thread(target=ask)
    asking.start()
    here.leave()
    thread.join(10)
    asking.join(10)
    assert waiting == ["over"]
    with pytest.raises(ConnectionClosed):
        server.request("session/request_permission", {})


def test_a_request_that_is_given_up_ends_and_its_late_answer_is_dropped(sides):
    here, there = sides
    server = Connection(there, {}, lambda *_: None)
    thread = served(server)
    pending = server.begin("session/request_permission", {})
    threading.Timer(0.05, pending.abandon).start()
    with pytest.raises(Abandoned):
        server.finish(pending, "session/request_permission")
    here.write(b'{"id": 1, "result": {}}\n')
    here.leave()
    thread.join(10)
    assert not thread.is_alive()


def test_a_server_answers_what_is_no_message_and_reads_on(sides):
    here, there = sides
    served(Connection(there, {"ping": lambda _params: {"pong": 1}}, lambda *_: None))
    said = []
    for line in (b"garbage", b"[]", b'{"id": 1, "method": "ping"}'):
        here.write(line + b"\n")
    lines = here.lines()
    said = [json.loads(next(lines)) for _ in range(3)]
    assert [each.get("error", {}).get("code") for each in said] == [-32700, -32700, None]
    assert said[2] == {"jsonrpc": "2.0", "id": 1, "result": {"pong": 1}}
    here.leave()


def test_an_unknown_method_and_an_error_are_answered(sides):
    here, there = sides

    def fail(_params):
        raise RpcError(-32000, "sign in", {"why": "no key"})

    served(Connection(there, {"fail": fail}, lambda *_: None))
    client = Connection(here, {}, lambda *_: None)
    with pytest.raises(RpcError) as unknown:
        client.request("session/else", {})
    assert unknown.value.code == METHOD_NOT_FOUND
    with pytest.raises(RpcError) as failed:
        client.request("fail", {})
    assert (failed.value.code, failed.value.data) == (-32000, {"why": "no key"})
    here.leave()
