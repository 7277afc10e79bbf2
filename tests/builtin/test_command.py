"""`uwf-builtin` by the command protocol and by hand."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from builtin_kit import DONE, turn, use

from uwf_agent_builtin.command import main

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


def call_environment(desk, server, **document):
    """The variables of a call by the protocol, with the files that they name."""
    request = desk.state / "request.json"
    events = desk.state / "events.jsonl"
    desk.state.mkdir(exist_ok=True)
    model = {"alias": "m", "name": "m", "provider": "p", "baseUrl": server.openai_url}
    request.write_text(json.dumps({"protocol": 1, "model": model, **document}))
    events.write_text("")
    return {"UWF_REQUEST": str(request), "UWF_EVENTS": str(events)}


def call(desk, server, *arguments, **document):
    """A call by the protocol: exit code, reply, events."""
    env = call_environment(desk, server, **document)
    done = run(desk, "--thread", "T", "--role", "r", *arguments, env=env)
    told = [json.loads(line) for line in Path(env["UWF_EVENTS"]).read_text().splitlines()]
    return done.returncode, json.loads(done.stdout.splitlines()[-1]), told


@pytest.fixture
def call_here(desk, monkeypatch, capsys):
    """The same within this process, where it makes no difference: exit code and reply."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def answered(server, *arguments, **document):
        env = {"UWF_HOME": str(desk.state), **call_environment(desk, server, **document)}
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(desk.work)
        words = ["uwf-builtin", "--thread", "T", "--role", "r", *arguments]
        monkeypatch.setattr("sys.argv", words)
        code = main()
        return code, json.loads(capsys.readouterr().out.splitlines()[-1])

    yield answered
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_a_call_answers_with_one_line_and_tells_events(desk):
    server = desk.model(turn(use("list_files")), DONE)
    code, reply, told = call(desk, server, "--prompt", "short", prompt="The whole prompt.")
    assert (code, reply["output"]) == (0, DONE)
    assert server.requests[0].messages[1]["content"] == "The whole prompt."
    assert told[0] == {"session": reply["sessionId"]}
    assert any(each.get("turn", {}).get("toolCalls") for each in told)
    assert reply["usage"]["turns"] == 2


def test_run_continue_fork_and_ask(desk, call_here):
    server = desk.model(DONE, DONE, "An answer.")
    _, first = call_here(server, "--prompt", "one")
    _, again, _ = call(desk, server, "--prompt", "two", "--session", first["sessionId"])
    assert again["sessionId"] == first["sessionId"] and again["proof"]
    mode = ("--mode", "fork", "--session", first["sessionId"])
    session = call_here(server, "--prompt", "", *mode)[1]["sessionId"]
    assert session != first["sessionId"]
    asked = call_here(server, "--prompt", "Why?", "--mode", "ask", "--session", session)[1]
    assert asked["output"] == "An answer." and asked["continuation"] == "continued"


@pytest.mark.parametrize(
    ("document", "kind", "code"),
    [
        ({"model": None}, "unavailable", 6),
        ({"options": {"maxTurn": 3}}, "bad_request", 2),
        ({"limits": "x"}, "bad_request", 2),
    ],
)
def test_a_failure_is_the_error_of_the_reply(desk, call_here, document, kind, code):
    answered = call_here(desk.model(DONE), "--prompt", "x", **document)
    assert answered[0] == code
    assert answered[1]["error"]["kind"] == kind


def test_a_lost_session_is_said(desk, call_here):
    answered = call_here(desk.model(DONE), "--prompt", "x", "--session", "builtin-gone")
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
    out, _ = process.communicate(timeout=60)
    assert json.loads(out)["error"]["kind"] == "interrupted"


def test_chat_with_a_prompt_prints_the_answer_and_ends(desk):
    (desk.work / "a.txt").write_text("hello from a")
    server = desk.model(turn(use("read_file", path="a.txt")), "It says hello.")
    done = run(desk, "chat", "--base-url", server.openai_url, "--model", "m", "-p", "Read a.txt")
    assert done.returncode == 0
    assert done.stdout == "It says hello.\n"
    assert "read_file" in done.stderr and "hello from a" in done.stderr


def chat_here(monkeypatch, desk, *arguments, lines=""):
    monkeypatch.setenv("UWF_HOME", str(desk.state))
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    monkeypatch.setattr("sys.argv", ["uwf-builtin", "chat", "--dir", str(desk.work), *arguments])
    return main()


def test_chat_goes_on_in_one_session(desk, monkeypatch, capsys):
    server = desk.model("One.", "Two.")
    words = ("--base-url", server.openai_url, "--model", "m")
    assert chat_here(monkeypatch, desk, *words, lines="a\nb\n\n") == 0
    assert capsys.readouterr().out == "One.\nTwo.\n"
    assert [each["content"] for each in server.requests[1].messages][1:] == ["a", "One.", "b"]


def test_chat_says_what_is_wrong(desk, monkeypatch, capsys):
    words = ("--base-url", "http://127.0.0.1:9/v1", "--model", "m", "-p", "x")
    assert chat_here(monkeypatch, desk, *words) == 6
    assert "connection refused" in capsys.readouterr().err


@pytest.mark.parametrize("protocol", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_chat_uses_a_model_of_the_configuration_by_the_protocol_of_its_service(
    desk, monkeypatch, capsys, protocol
):
    server = desk.model(turn(use("list_files")), "Nothing.")
    url = {"anthropic": server.anthropic_url, "gemini": server.gemini_url}
    desk.state.mkdir(mode=0o700)
    (desk.state / "config.yaml").write_text(
        f"providers: {{mine: {{baseUrl: {url.get(protocol, server.openai_url)}, "
        f"protocol: {protocol}, apiKeyEnv: MINE}}}}\n"
        "models: {fast: {provider: mine, name: fast-1}}\ndefaultModel: fast\n"
    )
    monkeypatch.setenv("MINE", "sk-of-mine-123")
    assert chat_here(monkeypatch, desk, "-p", "What is here?") == 0
    assert capsys.readouterr().out == "Nothing.\n"
    forms = {"openai-responses": "responses", "openai-chat": "openai"}
    assert {each.dialect for each in server.requests} == {forms.get(protocol, protocol)}
    assert "sk-of-mine-123" in str(server.requests[0].headers)
    assert "fast-1" in f"{server.requests[0].path} {server.requests[0].body}"


def test_chat_with_an_address_speaks_the_protocol_that_it_is_told(desk, monkeypatch, capsys):
    server = desk.model("Hello.")
    words = ("--base-url", server.anthropic_url, "--protocol", "anthropic", "--model", "m")
    assert chat_here(monkeypatch, desk, *words, "-p", "x") == 0
    assert server.requests[0].dialect == "anthropic"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--model", "fsat"], 2, "unknown model 'fsat'"),
        ([], 2, "no model is configured"),
        (["--base-url", "http://127.0.0.1:9"], 2, "--base-url needs --model"),
        (["--base-url", "http://127.0.0.1:9", "--model", "m", "--protocol", "acme"], 2, "'acme'"),
    ],
)
def test_chat_without_a_usable_model_asks_nobody(desk, monkeypatch, capsys, words, code, says):
    try:
        found = chat_here(monkeypatch, desk, *words, "-p", "x")
    except SystemExit as ended:
        found = ended.code
    told = capsys.readouterr()
    assert (found, told.out) == (code, "")
    assert says in told.err


@pytest.mark.parametrize(("words", "code"), [([], 2), (["--help"], 0)])
def test_alone_it_says_what_it_can_do(monkeypatch, capsys, words, code):
    monkeypatch.setattr("sys.argv", ["uwf-builtin", *words])
    assert main() == code
    assert "uwf-builtin chat" in capsys.readouterr().out
