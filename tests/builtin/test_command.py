"""`uwf-builtin` by the command protocol and by hand."""

import json
import os
import signal
import subprocess
import sys

import pytest
from builtin_kit import DONE, turn, use

COMMAND = [sys.executable, "-m", "uwf_agent_builtin.command"]


def run(desk, *arguments, env=None, stdin=""):
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=desk.work,
        env={**desk.env, "UWF_HOME": str(desk.state), "HOME": str(desk.state), **(env or {})},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=30,
    )


def call(desk, server, *arguments, **document):
    """A call by the protocol: exit code, reply, events."""
    request = desk.state / "request.json"
    events = desk.state / "events.jsonl"
    desk.state.mkdir(exist_ok=True)
    model = {"alias": "m", "name": "m", "provider": "p", "baseUrl": server.openai_url}
    request.write_text(json.dumps({"protocol": 1, "model": model, **document}))
    events.write_text("")
    env = {"UWF_REQUEST": str(request), "UWF_EVENTS": str(events)}
    done = run(desk, "--thread", "T", "--role", "r", *arguments, env=env)
    told = [json.loads(line) for line in events.read_text().splitlines()]
    return done.returncode, json.loads(done.stdout.splitlines()[-1]), told


def test_a_call_answers_with_one_line_and_tells_events(desk):
    server = desk.model(turn(use("list_dir")), DONE)
    code, reply, told = call(desk, server, "--prompt", "short", prompt="The whole prompt.")
    assert (code, reply["output"]) == (0, DONE)
    assert server.requests[0].messages[1]["content"] == "The whole prompt."
    assert told[0] == {"session": reply["sessionId"]}
    assert any(each.get("turn", {}).get("toolCalls") for each in told)
    assert reply["usage"]["turns"] == 2


def test_run_continue_fork_and_ask(desk):
    server = desk.model(DONE, DONE, "An answer.")
    first = call(desk, server, "--prompt", "one")[1]
    again = call(desk, server, "--prompt", "two", "--session", first["sessionId"])[1]
    assert again["sessionId"] == first["sessionId"] and again["proof"]
    forked = call(desk, server, "--prompt", "", "--mode", "fork", "--session", first["sessionId"])
    assert forked[1]["sessionId"] != first["sessionId"]
    session = forked[1]["sessionId"]
    asked = call(desk, server, "--prompt", "Why?", "--mode", "ask", "--session", session)[1]
    assert asked["output"] == "An answer." and asked["continuation"] == "continued"


@pytest.mark.parametrize(
    ("document", "kind", "code"),
    [
        ({"model": None}, "unavailable", 6),
        ({"options": {"maxTurn": 3}}, "bad_request", 2),
        ({"limits": "x"}, "bad_request", 2),
    ],
)
def test_a_failure_is_the_error_of_the_reply(desk, document, kind, code):
    server = desk.model(DONE)
    answered = call(desk, server, "--prompt", "x", **document)
    assert answered[0] == code
    assert answered[1]["error"]["kind"] == kind


def test_a_lost_session_is_said(desk):
    server = desk.model(DONE)
    answered = call(desk, server, "--prompt", "x", "--session", "builtin-gone")
    assert answered[1]["error"]["kind"] == "session_lost"


def test_a_signal_ends_it_with_a_reply(desk):
    server = desk.model({"text": DONE, "hang": "start"})
    desk.state.mkdir()
    request = desk.state / "request.json"
    model = {"alias": "m", "name": "m", "provider": "p", "baseUrl": server.openai_url}
    request.write_text(json.dumps({"model": model}))
    process = subprocess.Popen(
        [*COMMAND, "--thread", "T", "--role", "r", "--prompt", "x"],
        cwd=desk.work,
        env={**desk.env, "UWF_HOME": str(desk.state), "UWF_REQUEST": str(request)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.wait_for_requests(1)
    os.kill(process.pid, signal.SIGTERM)
    out, _ = process.communicate(timeout=10)
    assert json.loads(out)["error"]["kind"] == "interrupted"


def test_chat_with_a_prompt_prints_the_answer_and_ends(desk):
    (desk.work / "a.txt").write_text("hello from a")
    server = desk.model(turn(use("read_file", path="a.txt")), "It says hello.")
    done = run(desk, "chat", "--base-url", server.openai_url, "--model", "m", "-p", "Read a.txt")
    assert done.returncode == 0
    assert done.stdout == "It says hello.\n"
    assert "read_file" in done.stderr and "hello from a" in done.stderr


def test_chat_goes_on_in_one_session(desk):
    server = desk.model("One.", "Two.")
    done = run(desk, "chat", "--base-url", server.openai_url, "--model", "m", stdin="a\nb\n\n")
    assert done.stdout == "One.\nTwo.\n"
    assert [each["content"] for each in server.requests[1].messages][1:] == ["a", "One.", "b"]


def test_chat_says_what_is_wrong(desk):
    url = "http://127.0.0.1:9/v1"
    done = run(desk, "chat", "--base-url", url, "--model", "m", "-p", "x")
    assert done.returncode == 6 and "nobody listens" in done.stderr
    assert "Traceback" not in done.stderr
