"""The commands that the editor offers: `/continue`, while it does something."""

import pytest
from acp_editor import LETTER, WRITTEN, Desk, Rejected

FAILED = {"role": "writer", "fail": {"kind": "auth", "message": "no key"}}
SUSPENDED = {"role": "writer", "output": {"$status": "$SUSPEND", "reason": "Which Ada?"}}


def offered(editor) -> dict[str, str] | None:
    """The commands that were announced last since the prompt; None: nothing was."""
    found = [
        each["availableCommands"]
        for each in editor.updates
        if each["sessionUpdate"] == "available_commands_update"
    ]
    return {each["name"]: each["description"] for each in found[-1]} if found else None


def steps(desk: Desk, session: str) -> int:
    return desk.show(session)["steps"]


def test_a_new_session_offers_none_and_begins_no_thread_with_one(desk: Desk):
    editor = desk.editor()
    session = editor.new(desk.folder, "note")
    assert editor.prompt(session, " /continue\n")["stopReason"] == "end_turn"
    assert "your next message is the task" in editor.said()
    with desk.project.client() as client:
        assert client.list() == []
    assert offered(editor) is None


def test_it_runs_a_role_that_is_next_and_is_then_withdrawn(desk: Desk):
    with desk.project.client() as client:
        thread = client.start("letter", "To Ada")["thread"]
        client.exec(thread)
    editor = desk.editor()
    editor.load(thread, desk.folder)
    assert offered(editor) == {"continue": "Run reader, which is next"}
    editor.prompt(thread, "/continue")
    assert desk.show(thread)["suspendReason"] == "role"
    assert offered(editor) == {}, "a question has other answers"
    resumed = desk.editor()
    resumed.load(thread, desk.folder, "session/resume")
    assert offered(resumed) is None


def test_a_role_that_failed_runs_again(desk: Desk):
    desk.play(FAILED)
    editor = desk.editor()
    session = editor.new(desk.folder, "note")
    with pytest.raises(Rejected):
        editor.prompt(session, "A note")
    assert offered(editor) == {"continue": "Run writer again"}
    desk.play(WRITTEN)
    assert editor.prompt(session, "/continue")["stopReason"] == "end_turn"
    assert offered(editor) == {}
    with desk.project.client() as client:
        assert client.step(client.steps(session)[1]["step"])["attempt"]["said"] is None


def test_a_completed_thread_is_not_resumed_by_it(desk: Desk):
    editor = desk.editor()
    session = editor.new(desk.folder, "note")
    editor.prompt(session, "A note")
    before = steps(desk, session)
    editor.prompt(session, "/continue")
    assert "The thread is completed. Your next message resumes it." in editor.said()
    assert (steps(desk, session), offered(editor)) == (before, None)


def test_a_role_that_waits_for_a_text_gets_no_command_for_it(desk: Desk):
    desk.play(SUSPENDED)
    editor = desk.editor()
    session = editor.new(desk.folder, "note")
    editor.prompt(session, "A note")
    assert "Which Ada?" in editor.said() and offered(editor) is None
    editor.prompt(session, "/continue")
    assert "Which Ada?" in editor.said()
    desk.play(WRITTEN)
    editor.prompt(session, "Lovelace")
    assert desk.show(session)["status"] == "completed"


def test_a_limit_is_granted_again(desk: Desk):
    desk.project.workflow("letter", LETTER.replace("roles:", "limits: {maxSteps: 1}\nroles:", 1))
    editor = desk.editor("letter")
    session = editor.new(desk.folder)
    assert editor.prompt(session, "To Ada")["stopReason"] == "max_turn_requests"
    assert offered(editor) == {"continue": "Grant the same allowance and continue"}
    editor.prompt(session, "/continue")
    assert desk.show(session)["suspendedRole"] == "reader"
    assert offered(editor) == {}


def test_a_cancelled_prompt_offers_to_run_the_role_again(desk: Desk):
    desk.play({**WRITTEN, "delayMs": 600_000})
    editor = desk.editor()
    session = editor.new(desk.folder, "note")
    id_ = editor.start_prompt(session, "A note")
    while not editor.titles():
        editor.step()
    editor.send("session/cancel", False, sessionId=session)
    assert editor.result(id_)["stopReason"] == "cancelled"
    assert offered(editor) == {"continue": "Run writer again"}
