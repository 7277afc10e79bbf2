"""A cancelled call ends at once, whatever it waits for."""

import contextlib
import socket
import threading
import time

import pytest

from uwf_core.client import Cancel
from uwf_core.errors import AgentInterrupted
from uwf_llm.limits import Clock

AT_ONCE = 5.0
"""Seconds that a busy machine may take, and far less than anything here waits."""


@pytest.fixture
def soon():
    """A token that is set after a moment; `late()` says how long ago that was."""
    cancel = Cancel()
    set_at = []

    def set_it():
        set_at.append(time.monotonic())
        cancel.set("the user went")

    def late():
        return time.monotonic() - set_at[0]

    timer = threading.Timer(0.08, set_it)
    timer.start()
    yield cancel, late
    timer.cancel()
    timer.join()


def workers():
    return [thread for thread in threading.enumerate() if thread.name == "uwf-llm"]


def all_workers_end(seconds=30.0):
    deadline = time.monotonic() + seconds
    while workers():
        assert time.monotonic() < deadline, "a thread was left"
        time.sleep(0.01)


@pytest.mark.parametrize("place", ["start", "headers", "middle"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kept_alive", [False, True])
def test_while_it_waits_for_bytes(serve, question, soon, place, stream, kept_alive):
    turns = (["first"] if kept_alive else []) + [{"text": "x" * 400, "hang": place}]
    _, client = serve(*turns)
    if kept_alive:
        client.chat(question)
    cancel, late = soon
    with pytest.raises(AgentInterrupted, match="the user went"):
        client.chat(question, cancel=cancel, on_delta=(lambda _: None) if stream else None)
    assert late() < AT_ONCE
    all_workers_end()


def test_while_it_waits_to_try_again(serve, question, soon):
    _, client = serve({"error": {"status": 429, "retryAfter": "30"}}, "never", clock=Clock())
    cancel, late = soon
    with pytest.raises(AgentInterrupted):
        client.chat(question, cancel=cancel)
    assert late() < AT_ONCE


def test_while_the_connection_does_not_come_up(connect, question, soon):
    """A full backlog: the system neither refuses nor accepts."""
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        client = connect(f"http://127.0.0.1:{full.getsockname()[1]}/v1")
        cancel, late = soon
        with pytest.raises(AgentInterrupted):
            client.chat(question, cancel=cancel)
        assert late() < AT_ONCE
    all_workers_end()


def test_between_the_pieces_of_a_stream(serve, question):
    turn = {"text": "x" * 5000, "pieceBytes": 50, "pieceDelayMs": 2}
    _, client = serve(turn, "next")
    cancel = Cancel()
    with pytest.raises(AgentInterrupted):
        client.chat(question, cancel=cancel, on_delta=lambda _: cancel.set("enough"))
    assert client.chat(question).text == "next"
    all_workers_end()


def test_a_token_that_is_set_already_starts_nothing(serve, question):
    server, client = serve("never")
    cancel = Cancel()
    cancel.set("before")
    with pytest.raises(AgentInterrupted):
        client.chat(question, cancel=cancel)
    assert server.requests == []


def test_another_call_of_the_same_client_goes_on(serve, question, soon):
    slow = {"text": "slow", "delayMs": 300}
    server, client = serve(slow, {"hang": "start"})
    said = []
    other = threading.Thread(target=lambda: said.append(client.chat(question).text))
    other.start()
    assert server.wait_for_requests(1)
    cancel, _ = soon
    with pytest.raises(AgentInterrupted):
        client.chat(question, cancel=cancel)
    other.join()
    assert said == ["slow"]


def test_no_thread_is_left_after_a_call(serve, question):
    _, client = serve("one", "two", {"error": {"status": 400}})
    client.chat(question)
    client.chat(question, on_delta=lambda _: None)
    all_workers_end()
