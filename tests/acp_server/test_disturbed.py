"""What goes wrong between an editor and uwf: cancels, crashes, disconnects, hostile messages."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from acp_editor import WRITTEN, Desk, Rejected
from tests.forms import form

from uwf_agent_acp.server import stdio
from uwf_agent_acp.server.service import Setting

KILLS, CANCELS = form(short=3, long=60), form(short=5, long=100)
SEED = int(os.environ.get("UWF_ACP_SEED", "7"))
SLOW = {**WRITTEN, "delayMs": 600_000}


def started(desk: Desk, editor, *, mode: str | None = "note"):
    """A session whose first step is under way, and its prompt."""
    session = editor.new(desk.folder, mode)
    id_ = editor.start_prompt(session, "A note")
    while not any(each["sessionUpdate"] == "tool_call" for each in editor.updates):
        editor.step()
    return session, id_


# -- cancel ----------------------------------------------------------------------------------------


def test_cancel_stops_the_run_and_the_next_prompt_continues_it(desk: Desk):
    desk.play(SLOW)
    editor = desk.editor()
    session, id_ = started(desk, editor)
    begin = time.monotonic()
    editor.send("session/cancel", False, sessionId=session)
    assert editor.result(id_)["stopReason"] == "cancelled"
    assert time.monotonic() - begin < 60
    assert editor.plans()[-1] == ["writer pending"]
    shown = desk.show(session)
    assert (shown["status"], shown["suspendReason"]) == ("suspended", "interrupted")
    desk.play(WRITTEN)
    assert editor.prompt(session, "Go on, shorter")["stopReason"] == "end_turn"
    with desk.project.client() as client:
        assert client.step(client.steps(session)[1]["step"])["attempt"]["said"] == "Go on, shorter"


def test_cancel_at_any_moment_leaves_a_thread_that_continues(desk: Desk):
    desk.play({**WRITTEN, "delayMs": 30})
    editor, chance = desk.editor("letter"), random.Random(SEED)
    for _ in range(CANCELS):
        session = editor.new(desk.folder)
        left = chance.randrange(8)
        id_ = editor.start_prompt(session, "To Ada")
        if left == 0:
            editor.send("session/cancel", False, sessionId=session)
        editor.updates.clear()

        def count(_, session=session, left=left):
            if len(editor.updates) == left:
                editor.send("session/cancel", False, sessionId=session)

        editor.on_update = count
        assert editor.result(id_)["stopReason"] in ("cancelled", "end_turn")
        editor.on_update = lambda _: None
        for text in ("/continue", "/continue", "approved"):
            if desk_status(desk, session) != "completed":
                editor.prompt(session, text)
        assert desk_status(desk, session) == "completed", left
        editor.call("session/close", sessionId=session)


def desk_status(desk: Desk, session: str) -> str:
    with desk.project.client() as client:
        known = {row["thread"]: row["status"] for row in client.list()}
    return known.get(session, "none")


def test_between_two_roles_a_message_is_not_lost_but_rejected(desk: Desk):
    with desk.project.client() as client:
        thread = client.start("letter", "To Ada")["thread"]
        client.exec(thread)
    editor = desk.editor()
    editor.load(thread, desk.folder)
    assert "reader is next. Write `/continue`" in editor.said()
    editor.prompt(thread, "No, wait")
    assert "would reach no role" in editor.said()
    assert desk.show(thread)["status"] == "idle"
    editor.prompt(thread, "/continue")
    assert desk.show(thread)["suspendReason"] == "role"


def test_cancel_of_nothing_is_ignored(desk: Desk):
    editor = desk.editor()
    session = editor.new(desk.folder, "note")
    editor.send("session/cancel", False, sessionId=session)
    editor.send("session/cancel", False, sessionId="unknown")
    editor.send("session/cancel", False, sessionId=["x"])
    editor.send("$/cancel_request", False, requestId=99)  # and anything else
    assert editor.prompt(session, "A note")["stopReason"] == "end_turn"


# -- several at once -------------------------------------------------------------------------------


def test_a_session_takes_one_prompt_at_a_time(desk: Desk):
    desk.play(SLOW)
    editor = desk.editor()
    session, id_ = started(desk, editor)
    for method, more in (
        ("session/prompt", {"prompt": [{"type": "text", "text": "And?"}]}),
        ("session/load", {"cwd": str(desk.folder)}),
        ("session/set_mode", {"modeId": "letter"}),
    ):
        with pytest.raises(Rejected, match="is running"):
            editor.call(method, sessionId=session, **more)
    editor.send("session/cancel", False, sessionId=session)
    assert editor.result(id_)["stopReason"] == "cancelled"
    with desk.project.client() as client:
        assert len(client.list()) == 1


def test_of_two_editors_on_one_thread_one_runs_and_the_other_is_told_who(desk: Desk):
    desk.play(SLOW)
    one, other = desk.editor(), desk.editor()
    session, id_ = started(desk, one)
    other.load(session, desk.folder)
    assert "runs in another process" in other.said()
    with pytest.raises(Rejected, match="already running"):
        other.prompt(session, "And?")
    one.send("session/cancel", False, sessionId=session)
    assert one.result(id_)["stopReason"] == "cancelled"
    desk.play(WRITTEN)
    assert other.prompt(session, "Now")["stopReason"] == "end_turn"


def test_of_two_answers_the_first_wins(desk: Desk):
    one, other = desk.editor("letter"), desk.editor("letter")
    session = one.new(desk.folder)
    one.prompt(session, "To Ada")
    other.load(session, desk.folder)
    assert "Answer with:" in other.said()
    one.prompt(session, "approved")
    assert desk.show(session)["status"] == "completed"
    other.prompt(session, "approved")  # is a message to the completed thread, not an answer
    with desk.project.client() as client:
        assert client.step(client.steps(session)[3]["step"])["attempt"]["said"] == "approved"


def test_a_closed_session_is_stopped_and_can_be_loaded_again(desk: Desk):
    desk.play(SLOW)
    editor = desk.editor()
    session, id_ = started(desk, editor)
    assert editor.call("session/close", sessionId=session) == {}
    assert editor.result(id_)["stopReason"] == "cancelled"
    with pytest.raises(Rejected, match="not an open session"):
        editor.prompt(session, "And?")
    editor.load(session, desk.folder)
    assert "Your next message continues it" in editor.said()


def test_the_number_of_open_sessions_is_bounded(desk: Desk):
    editor = desk.editor("note")
    sessions = [editor.new(desk.folder) for _ in range(50)]
    with pytest.raises(Rejected, match="close one"):
        editor.new(desk.folder)
    editor.call("session/close", sessionId=sessions[0])
    editor.new(desk.folder)


# -- hostile messages ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b"garbage", b"{", b"[]", b"1", b"null", b'"x"', b"{}", b'{"id": 1}', b"\xff\xfe\x00",
        b'{"jsonrpc": "2.0", "id": 1.5, "method": "initialize"}', b"[" * 100_000,
        b'{"jsonrpc": "2.0", "id": true, "method": "initialize"}',
        b'{"jsonrpc": "2.0", "method": 1, "id": 1}',
    ],
)  # fmt: skip
def test_what_is_no_message_is_answered_with_an_error_and_nothing_else(desk: Desk, line):
    editor = desk.editor()
    editor.raw(line)
    with pytest.raises(Rejected, match="not a message") as caught:
        editor.result(None)
    assert caught.value.code == -32700
    assert editor.initialize()["protocolVersion"] == 1


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("session/explode", {}, -32601),
        ("fs/read_text_file", {"path": "/etc/passwd"}, -32601),
        ("session/new", [], -32602),
        ("session/new", None, -32602),
        ("session/new", {}, -32602),
        ("session/new", {"cwd": "."}, -32602),
        ("session/new", {"cwd": "/no/such/folder"}, -32602),
        ("session/new", {"cwd": "/\0"}, -32602),
        ("session/new", {"cwd": 5}, -32602),
        ("session/prompt", {}, -32002),
        ("session/prompt", {"sessionId": {}, "prompt": []}, -32002),
        ("session/load", {"sessionId": "@last", "cwd": "/"}, -32002),
        ("session/load", {"sessionId": "01M8", "cwd": "/"}, -32002),
        ("session/load", {"sessionId": "0" * 26, "cwd": "/"}, -32002),
        ("session/load", {"sessionId": 7, "cwd": "/"}, -32002),
        ("session/load", {"sessionId": "0" * 26}, -32602),
        ("session/list", {"cursor": "../x"}, -32602),
        ("session/list", {"cursor": 5}, -32602),
        ("session/set_mode", {"modeId": "x"}, -32002),
        ("session/close", {"sessionId": None}, -32002),
    ],
)
def test_a_wrong_request_is_rejected_and_stores_nothing(desk: Desk, method, params, code):
    editor = desk.editor()
    message = {"jsonrpc": "2.0", "id": "a", "method": method, "params": params}
    editor.raw(json.dumps(message).encode())
    with pytest.raises(Rejected) as caught:
        editor.result("a")
    assert caught.value.code == code
    with desk.project.client() as client:
        assert list(client.list()) == []


@pytest.mark.parametrize(
    "prompt",
    [None, {}, [], ["x"], [{"type": "text"}], [{"type": "text", "text": 5}], [{"type": "audio"}],
     [{"type": "text", "text": "  \n"}], [{"type": "resource", "resource": {"blob": "AA"}}]],
)  # fmt: skip
def test_a_wrong_prompt_is_rejected_and_starts_nothing(desk: Desk, prompt):
    editor = desk.editor()
    session = editor.new(desk.folder)
    with pytest.raises(Rejected) as caught:
        editor.call("session/prompt", sessionId=session, prompt=prompt)
    assert caught.value.code == -32602
    with desk.project.client() as client:
        assert list(client.list()) == []
    assert editor.prompt(session, "To Ada")["stopReason"] == "end_turn"


def test_a_method_before_initialize_is_rejected(desk: Desk):
    setting = Setting("1.0", None, lambda *_: desk.project.client(), print)
    editor = desk.connected(setting)
    with pytest.raises(Rejected, match="initialize"):
        editor.new(desk.folder)


def test_answers_that_nobody_waits_for_are_ignored(desk: Desk):
    editor = desk.editor("note")
    for id_ in (0, 7, -1, None, "x"):
        editor.raw(json.dumps({"jsonrpc": "2.0", "id": id_, "result": {}}).encode())
        editor.raw(json.dumps({"jsonrpc": "2.0", "id": id_, "error": {"code": 1}}).encode())
    assert editor.prompt(editor.new(desk.folder), "A note")["stopReason"] == "end_turn"


def test_a_thread_that_exists_cannot_be_taken_over_by_a_new_session(desk: Desk):
    from uwf_core.errors import WrongStateError

    editor = desk.editor("note")
    session = editor.new(desk.folder)
    editor.prompt(session, "A note")
    before = desk.show(session)
    with desk.project.client() as client, pytest.raises(WrongStateError, match="exists"):
        client.start("note", "Another", thread=session)
    assert desk.show(session) == before


# -- the process -----------------------------------------------------------------------------------


def test_the_thread_stops_when_the_editor_disconnects_and_can_be_loaded(desk: Desk):
    desk.play(SLOW)
    program = desk.program()
    session, _ = started(desk, program)
    assert program.leave() == 0
    shown = desk.show(session)
    assert (shown["status"], shown["suspendReason"]) == ("suspended", "interrupted")
    desk.play(WRITTEN)
    again = desk.program()
    again.load(session, desk.folder)
    assert again.updates[0]["content"]["text"] == "A note"
    assert again.prompt(session, "Go on")["stopReason"] == "end_turn"
    assert again.leave() == 0


def test_a_killed_server_loses_nothing_that_was_done(desk: Desk):
    desk.play(WRITTEN, {**WRITTEN, "delayMs": 600_000})
    program = desk.program("--workflow", "letter")
    session = program.new(desk.folder)
    program.prompt(session, "To Ada")
    program.start_prompt(session, "changes: shorter")
    while "writer (step 3, mock) in_progress" not in program.titles():
        program.step()
    program.process.kill()
    program.process.wait()
    desk.play(WRITTEN)
    again = desk.editor("letter")
    again.load(session, desk.folder)
    assert again.said("user_message_chunk").startswith('To Ada$status: "changes"')
    assert [each.partition(":")[0] for each in again.titles()][:3] == [
        "writer (step 1, mock)", 'bash {"c"', "reader (step 2, human)",
    ]  # fmt: skip
    assert again.prompt(session, "Go on")["stopReason"] == "end_turn"
    assert again.prompt(session, "approved")["stopReason"] == "end_turn"
    assert desk.show(session)["status"] == "completed"


@pytest.mark.timeout(3600)
def test_a_server_killed_at_any_moment_leaves_a_thread_that_continues(desk: Desk):
    """README.md has the results of many rounds."""
    desk.play({**WRITTEN, "delayMs": 50})
    chance = random.Random(SEED)
    for _ in range(KILLS):
        program = desk.program("--workflow", "letter")
        session = program.new(desk.folder)
        program.start_prompt(session, "To Ada")
        time.sleep(chance.random() * 0.4)
        program.process.kill()
        program.process.wait()
        again = desk.editor("letter")
        if desk_status(desk, session) == "none":
            with pytest.raises(Rejected, match="unknown thread"):
                again.load(session, desk.folder)
            continue
        again.load(session, desk.folder)
        for text in ("/continue", "/continue", "approved"):
            if desk_status(desk, session) != "completed":
                again.prompt(session, text)
        shown = desk.show(session)
        assert (shown["status"], shown["steps"]) == ("completed", 2)
        again.call("session/close", sessionId=session)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run_and_the_server(desk: Desk, number):
    desk.play(SLOW)
    program = desk.program()
    session, id_ = started(desk, program)
    program.process.send_signal(number)
    assert program.result(id_)["stopReason"] == "cancelled"
    assert program.leave() == 130
    assert desk.show(session)["suspendReason"] == "interrupted"


def test_an_unknown_workflow_is_refused_at_once_with_where_it_was_looked_for(desk: Desk):
    for name, cure in (("leter", "did you mean letter?"), ("./x.yaml", "uwf workflow new")):
        refused = desk.project.uwf("acp", "--workflow", name)
        assert (refused.exit_code, refused.stdout) == (2, "")
        error = refused.error
        assert name.removeprefix("./") in error["message"] and cure in error["hint"]
        assert str(desk.folder) in f"{error['message']} {error['where']}"


def test_stdout_has_the_protocol_alone_and_notes_go_to_stderr(desk: Desk):
    desk.project.workflow("broken", "version: 1\nname: broken\n")
    program = desk.program()
    session = program.new(desk.folder, "note")  # each line of stdout is checked as it comes
    program.prompt(session, "A note")
    assert program.leave() == 0
    errors = program.errors.read_text("utf-8")
    assert "uwf acp: workflow note from" in errors


def test_a_line_that_is_too_long_is_rejected_and_the_next_one_is_read(monkeypatch, desk: Desk):
    read, write = os.pipe()
    monkeypatch.setattr(stdio, "LINE_BYTES", 1000)
    streams = stdio.Stdio.__new__(stdio.Stdio)
    streams._read_end = read
    for part in (b"a" * 999 + b"\n", b"b" * 5000, b"b" * 5000 + b"\nnext\n\n \nlast"):
        os.write(write, part)
    os.close(write)
    lines = ["long" if each == stdio.TOO_LONG else each for each in streams.lines()]
    os.close(read)
    assert lines == [b"a" * 999, "long", b"next", b"last"]
    editor = desk.editor()
    editor.raw(b"x")
    with pytest.raises(Rejected):
        editor.result(None)


def test_the_folder_of_the_editor_follows_the_rules_of_trust(desk: Desk, tmp_path: Path):
    """A cloned repository can neither replace a registered workflow nor configure agents."""
    with desk.project.client() as client:
        client.add_workflow(desk.folder / ".workflow" / "note.yaml")
    cloned = tmp_path / "cloned"
    (cloned / ".workflow").mkdir(parents=True)
    (cloned / ".git").mkdir()
    evil = (desk.folder / ".workflow" / "note.yaml").read_text().replace("Write a note", "Evil")
    (cloned / ".workflow" / "note.yaml").write_text(evil)
    editor = desk.editor("note")
    session = editor.new(cloned)
    editor.prompt(session, "A note")
    with desk.project.client() as client:
        assert "Evil" not in client.prompt(client.steps(session)[1]["step"])
    (cloned / ".uwf").mkdir()
    (cloned / ".uwf" / "config.yaml").write_text("agents: {mock: {command: /no/such}}\n")
    editor.prompt(editor.new(cloned), "A note")
    assert any("is not trusted" in each for each in desk.notes)


def test_the_server_loads_no_plugin_and_no_store_before_the_first_session(desk: Desk):
    """An editor starts it with each window: it must cost little until somebody uses it."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
    command = desk.project.command("acp")
    done = subprocess.run(
        [command[0], "-X", "importtime", *command[1:]], cwd=desk.folder, env=desk.project.env,
        input=json.dumps(request), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["result"]["protocolVersion"] == 1
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    packages = {each.partition(".")[0] for each in loaded}
    assert "uwf_agent_acp" in packages
    heavy = {"asyncio", "pydantic", "pluggy", "rich", "httpx", "jsonschema", "jsonschema_rs"}
    assert not packages & (heavy | {"sqlite3", "http", "ssl", "multiprocessing"})
