"""Sessions: continued, forked and asked, from another process and after a crash."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builtin_kit import DONE, turn, use

from uwf_agent_builtin.sessions.transcript import CRASHED, Sessions
from uwf_agent_builtin.window import LEFT_OUT
from uwf_core.api import SessionLost, ToolCall
from uwf_llm.chat import Message

PROGRAM = Path(__file__).parent / "programs" / "call.py"


def contents(server, index=-1):
    return [each["content"] for each in server.requests[index].messages]


def start_process(desk, server, **request):
    """Call the agent in a process of its own; its reply is the last line."""
    document = {
        "state": str(desk.state),
        "url": server.openai_url,
        "cwd": str(desk.work),
        **request,
    }
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), json.dumps(document)], stdout=subprocess.PIPE, text=True
    )


def in_a_process(desk, server, **request):
    process = start_process(desk, server, **request)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    return json.loads(out.splitlines()[-1])


def test_another_process_continues_the_session(desk):
    server = desk.model(turn(use("list_files")), DONE, "---\n$status: done\n---\nMore.")
    first = in_a_process(desk, server, prompt="Begin.")
    second = in_a_process(desk, server, prompt="Go on.", session=first["session"])
    assert second["session"] == first["session"]
    assert (first["continuation"], second["continuation"]) == ("new", "continued")
    assert second["proof"]
    assert second["usage"]["turns"] == 1  # of this call alone
    said = contents(server)
    assert said[1] == "Begin." and said[-2:] == [DONE, "Go on."]


def test_thought_signatures_and_reasoning_outlast_the_process(desk):
    """Gemini rejects a conversation without its signatures, DeepSeek one without its reasoning."""
    signature = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    call = {**use("list_files"), "extra": signature}
    server = desk.model(turn(call, reasoning="Look first."), DONE, DONE, DONE)
    first = in_a_process(desk, server, prompt="Begin.")
    in_a_process(desk, server, prompt="Go on.", session=first["session"])
    forked = in_a_process(desk, server, mode="fork", session=first["session"])["session"]
    in_a_process(desk, server, prompt="In the fork.", session=forked)
    for request in server.requests[1:]:
        back = request.messages[2]
        assert back["tool_calls"][0]["extra_content"] == signature["extra_content"]
        assert back["reasoning_content"] == "Look first."


def test_a_fork_knows_the_same_and_leaves_the_original_alone(desk):
    """The fork is made by another process."""
    server = desk.model(DONE, "---\n$status: done\n---\nForked.", "---\n$status: done\n---\nOwn.")
    first = desk.agent().run(desk.request(server, prompt="Begin."), desk.sink)
    file = desk.state / "sessions" / f"{first.session}.jsonl"
    before = file.read_bytes()
    forked = in_a_process(desk, server, mode="fork", session=first.session)["session"]
    assert forked != first.session
    desk.agent().run(desk.request(server, prompt="In the fork.", session=forked), desk.sink)
    assert contents(server)[1:] == ["Begin.", DONE, "In the fork."]
    assert file.read_bytes() == before
    original = desk.request(server, prompt="In the original.", session=first.session)
    desk.agent().run(original, desk.sink)
    assert "In the fork." not in contents(server)


def test_a_fork_at_a_mark_knows_what_was_said_up_to_that_reply(desk):
    server = desk.model(turn(use("list_files")), DONE, "---\n$status: done\n---\nLate.", DONE)
    first = desk.agent().run(desk.request(server, prompt="Begin."), desk.sink)
    desk.agent().run(desk.request(server, prompt="Go on.", session=first.session), desk.sink)
    forked = desk.agent().fork(first.session, desk.request(server), at=first.mark)
    reply = desk.agent().run(desk.request(server, prompt="Again.", session=forked), desk.sink)
    said = contents(server)
    assert said[1] == "Begin." and said[-2:] == [DONE, "Again."]
    assert "Go on." not in said
    assert reply.mark == str(int(first.mark) + 2)


@pytest.mark.parametrize("at", ["99", "-1", "x", ""])
def test_a_mark_that_is_not_in_the_session_is_lost(desk, at):
    server = desk.model(DONE)
    first = desk.agent().run(desk.request(server), desk.sink)
    with pytest.raises(SessionLost):
        desk.agent().fork(first.session, desk.request(server), at=at)


def test_a_question_is_answered_from_the_session(desk):
    server = desk.model(DONE, "Because of the test.")
    first = desk.agent().run(desk.request(server), desk.sink)
    answer = desk.agent().ask(desk.question(server, session=first.session), desk.sink)
    assert answer.text == "Because of the test."
    assert (answer.continuation, answer.session) == ("continued", first.session)
    assert contents(server)[-2:] == [DONE, "Why?"]
    # A question changes nothing.
    assert set(server.requests[-1].tool_names) == {"read_file", "list_files", "grep"}


def test_a_question_without_a_session_gets_the_record(desk):
    server = desk.model("It says so.")
    desk.agent().ask(desk.question(server, record="# Step 1\nrejected"), desk.sink)
    assert "# Step 1" in contents(server)[-1] and "Why?" in contents(server)[-1]


@pytest.mark.parametrize("session", ["builtin-0", "", "../x", "a/b", "a\0b", "x" * 200])
def test_a_session_that_is_not_there_is_lost(desk, session):
    server = desk.model(DONE)
    with pytest.raises(SessionLost):
        desk.agent().run(desk.request(server, session=session), desk.sink)
    with pytest.raises(SessionLost):
        desk.agent().fork(session, desk.request(server))
    assert server.requests == []


@pytest.mark.parametrize("content", ["", "\n", "{", "[]\n", '{"type": "message"}\n', "\x00\x01\n"])
def test_a_damaged_session_is_lost_and_not_half_read(desk, content):
    server = desk.model(DONE)
    reply = desk.agent().run(desk.request(server), desk.sink)
    (desk.state / "sessions" / f"{reply.session}.jsonl").write_text(content)
    with pytest.raises(SessionLost):
        desk.agent().run(desk.request(server, session=reply.session), desk.sink)


def test_a_session_written_by_a_newer_version_is_lost(desk):
    server = desk.model(DONE)
    reply = desk.agent().run(desk.request(server), desk.sink)
    file = desk.state / "sessions" / f"{reply.session}.jsonl"
    file.write_text(file.read_text().replace('"v": 1', '"v": 2', 1))
    with pytest.raises(SessionLost, match="version 2"):
        desk.agent().run(desk.request(server, session=reply.session), desk.sink)


def test_a_process_killed_in_the_middle_of_a_tool_call_loses_nothing_else(desk):
    server = desk.model(
        turn(
            use("write_file", path="a", content="1"),
            use("run_command", command="touch b; sleep 600"),
        ),
        DONE,
    )
    process = start_process(desk, server, prompt="Begin.", allow_shell="workspace")
    assert server.wait_for_requests(1)
    deadline = time.monotonic() + 60
    while not (desk.work / "b").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    (session,) = [file.stem for file in (desk.state / "sessions").iterdir()]
    request = desk.request(server, prompt="You were interrupted.", session=session)
    assert desk.agent().run(request, desk.sink).continuation == "continued"
    said = contents(server)
    assert said[1] == "Begin." and "a new file" in said[3]
    assert said[4] == CRASHED and said[5] == "You were interrupted."


def test_a_half_written_line_is_cut_off(desk):
    server = desk.model(DONE, DONE, DONE)
    first = desk.agent().run(desk.request(server), desk.sink)
    file = desk.state / "sessions" / f"{first.session}.jsonl"
    with file.open("a") as stream:
        stream.write('{"type": "message", "role": "user", "te')
    for _ in range(2):
        desk.agent().run(desk.request(server, session=first.session, prompt="on"), desk.sink)
    assert contents(server)[1:] == ["Do it.", DONE, "on", DONE, "on"]
    assert all(json.loads(line) for line in file.read_text().splitlines())


def test_two_processes_cannot_add_to_one_session(desk):
    sessions = Sessions(str(desk.state))
    held = sessions.new()
    with pytest.raises(SessionLost, match="in use"):
        sessions.open(held.id)
    held.close()
    sessions.open(held.id).close()


def test_transcripts_are_for_their_owner_alone(desk):
    server = desk.model(DONE)
    os.umask(os.umask(0))
    reply = desk.agent().run(desk.request(server), desk.sink)
    folder = desk.state / "sessions"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / f"{reply.session}.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_was_left_out_stays_left_out(desk):
    sessions = Sessions(str(desk.state))
    made = sessions.new()
    made.add(Message(role="user", text="task"))
    call = ToolCall(id="1", name="read_file", arguments='{"path": "a"}')
    made.add(Message(role="assistant", tool_calls=(call,)))
    made.answer("1", "long " * 1000)
    made.leave_out(["1"])
    made.close()
    again = sessions.open(made.id)
    again.close()
    assert again.messages == made.messages
    assert again.messages[-1].text == LEFT_OUT
    assert "long long" in made.file.read_text()


def test_text_that_no_file_could_hold_is_kept(desk):
    sessions = Sessions(str(desk.state))
    made = sessions.new()
    made.add(Message(role="user", text="lone \ud800 and \0 and \u2028"))
    made.close()
    again = sessions.open(made.id)
    again.close()
    assert again.messages == made.messages


def test_a_correction_is_said_in_the_same_session(desk):
    server = desk.model(turn(use("resolve", **{"$status": "done"})), DONE)
    first = desk.agent().run(desk.request(server), desk.sink)
    request = desk.request(
        server, purpose="correction", prompt="note: is missing", session=first.session
    )
    second = desk.agent().run(request, desk.sink)
    assert second.session == first.session and second.text == DONE
    roles = [each["role"] for each in server.requests[-1].messages]
    assert roles == ["system", "user", "assistant", "tool", "user"]
