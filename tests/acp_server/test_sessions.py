"""An editor runs a workflow as if it were one agent."""

import pytest
from acp_editor import FAN, LETTER, NOTE, WRITTEN, Desk, Rejected

from uwf_core.ids import ThreadId

FORMS = {"elicitation": {"form": {}}}


def test_the_capabilities_are_those_that_uwf_has(desk: Desk):
    found = desk.editor().initialize()
    assert found["protocolVersion"] == 1
    assert found["agentInfo"]["name"] == "uwf"
    assert found["agentCapabilities"] == {
        "loadSession": True,
        "promptCapabilities": {"image": False, "audio": False, "embeddedContext": True},
        "mcpCapabilities": {"http": False, "sse": False},
        "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
    }


def test_each_workflow_is_a_mode_of_a_new_session(desk: Desk):
    editor = desk.editor()
    modes = editor.call("session/new", cwd=str(desk.folder), mcpServers=[])["modes"]
    assert modes["currentModeId"] == "letter"
    assert [each["id"] for each in modes["availableModes"]] == ["letter", "note"]
    assert modes["availableModes"][1]["description"] == "A note that one agent writes."


def test_the_chosen_mode_is_the_workflow_of_the_thread(desk: Desk):
    editor = desk.editor()
    session = editor.new(desk.folder, "note")
    assert editor.prompt(session, "A note")["stopReason"] == "end_turn"
    assert desk.show(session)["workflowName"] == "note"
    with pytest.raises(Rejected, match="runs the workflow note"):
        editor.call("session/set_mode", sessionId=session, modeId="letter")


def test_with_one_workflow_there_are_no_modes(desk: Desk):
    editor = desk.editor("note")
    opened = editor.call("session/new", cwd=str(desk.folder), mcpServers=[])
    assert "modes" not in opened
    assert editor.prompt(opened["sessionId"], "A note")["stopReason"] == "end_turn"
    assert desk.show(opened["sessionId"])["workflowName"] == "note"
    assert "modes" not in editor.load(opened["sessionId"], desk.folder)


def test_a_session_is_a_thread_in_the_folder_of_the_editor(desk: Desk):
    editor = desk.editor()
    session = editor.new(desk.folder, "note")
    assert ThreadId.matches(session)
    editor.prompt(session, "A note for Ada")
    shown = desk.show(session)
    assert (shown["task"], shown["cwd"]) == ("A note for Ada", str(desk.folder))
    assert shown["status"] == "completed"


def test_a_session_without_a_prompt_leaves_no_thread_behind(desk: Desk):
    desk.editor().new(desk.folder)
    with desk.project.client() as client:
        assert list(client.list()) == []


def test_roles_are_a_plan_and_turns_stream(desk: Desk):
    editor = desk.editor()
    session = editor.new(desk.folder)
    end = editor.prompt(session, "To Ada")
    assert editor.plans() == [
        ["writer in_progress", "reader pending"],
        ["writer completed", "reader in_progress"],
    ]
    assert editor.said("agent_thought_chunk") == "What is it?"
    assert editor.said().startswith("\n\nReading the task.\n\nNow the letter.")
    assert editor.titles() == [
        "writer (step 1, mock): written → reader completed",
        'bash {"c": 1} in_progress',
        "reader (step 2, human): asks completed",
    ]
    assert end == {
        "stopReason": "end_turn",
        "usage": {
            "totalTokens": 77, "inputTokens": 50, "outputTokens": 20, "cachedReadTokens": 7,
            "cachedWriteTokens": 0,
        },
    }  # fmt: skip


def test_a_turn_that_grows_is_sent_piece_by_piece(desk: Desk):
    from uwf_agent_acp.server.plan import Plan
    from uwf_agent_acp.server.updates import RunUpdates, Spoken

    shown = RunUpdates("T", Plan({"graph": {"$START": {}}, "roles": {}}))
    shown.begin(("T", 1), "card", "writer")
    texts = ["Dear", "Dear Ada", "Dear Ada", "Dear Bob"]
    sent = [
        each["content"]["text"]
        for text in texts
        for each in shown.spoken(("T", 1), Spoken(0, "assistant", text, None, ()))
    ]
    assert sent == ["Dear", " Ada", "\n\nDear Bob"]


def test_the_last_message_is_what_the_last_role_delivered(desk: Desk):
    editor = desk.editor()
    session = editor.new(desk.folder, "note")
    editor.prompt(session, "A note")
    assert editor.said().endswith('letter.---\n$status: "written"\ntext: "Dear Ada"\n---\n')
    assert editor.titles()[-1] == "note: written completed"
    spoken = "---\n$status: written\n---\nDear Ada"
    desk.play({"role": "writer", "output": spoken, "turns": [{"text": spoken}]})
    editor.prompt(session, "Once more")
    assert editor.said() == spoken  # and not twice


def test_a_prompt_after_completion_resumes_the_thread(desk: Desk):
    editor = desk.editor()
    session = editor.new(desk.folder, "note")
    editor.prompt(session, "A note")
    assert editor.prompt(session, "Make it shorter")["stopReason"] == "end_turn"
    with desk.project.client() as client:
        step = client.step(client.steps(session)[2]["step"])
    assert step["attempt"]["said"] == "Make it shorter"
    assert step["attempt"]["by"]["via"] == "acp"


def test_a_failure_is_an_error_and_the_next_prompt_continues(desk: Desk):
    desk.play({"role": "writer", "fail": {"kind": "rate_limited", "message": "slow down"}})
    editor = desk.editor()
    session = editor.new(desk.folder, "note")
    with pytest.raises(Rejected, match="slow down") as caught:
        editor.prompt(session, "A note")
    assert caught.value.data["kind"] == "rate_limited"
    assert editor.plans()[-1] == ["writer pending"]
    assert editor.titles() == ["writer (step 1, mock): rate_limited failed"]
    desk.play(WRITTEN)
    assert editor.prompt(session, "Try again")["stopReason"] == "end_turn"
    assert desk.show(session)["status"] == "completed"


def test_a_limit_ends_the_turn_and_the_next_prompt_grants_it_again(desk: Desk):
    desk.project.workflow("letter", LETTER.replace("roles:", "limits: {maxSteps: 1}\nroles:", 1))
    editor = desk.editor("letter", **FORMS)
    session = editor.new(desk.folder)
    assert editor.prompt(session, "To Ada")["stopReason"] == "max_turn_requests"
    assert "`/continue` to grant the same allowance" in editor.said()
    assert editor.prompt(session, "Go on")["stopReason"] == "end_turn"
    assert desk.show(session)["suspendReason"] == "role"


def test_a_workflow_with_an_error_is_reported_and_hides_no_other(desk: Desk):
    desk.project.workflow("broken", "version: 1\nname: broken\n")
    editor = desk.editor()
    opened = editor.call("session/new", cwd=str(desk.folder), mcpServers=[])
    assert opened["modes"]["currentModeId"] == "letter"
    with pytest.raises(Rejected, match="broken"):
        editor.call("session/set_mode", sessionId=opened["sessionId"], modeId="broken")
    assert editor.prompt(opened["sessionId"], "To Ada")["stopReason"] == "end_turn"


def test_a_folder_without_workflows_is_an_error_that_says_what_to_do(desk: Desk, tmp_path):
    with pytest.raises(Rejected, match="uwf workflow new"):
        desk.editor().new(tmp_path)


def test_several_sessions_run_at_once(desk: Desk):
    desk.play({**WRITTEN, "delayMs": 300})
    editor = desk.editor("note")
    sessions = [editor.new(desk.folder) for _ in range(4)]
    ids = [editor.start_prompt(session, f"Note {session}") for session in sessions]
    assert {editor.result(each)["stopReason"] for each in ids} == {"end_turn"}
    assert {desk.show(each)["status"] for each in sessions} == {"completed"}


def test_a_typed_input_is_asked_for_before_the_thread_exists(desk: Desk):
    schema = "input: {properties: {tone: {enum: [warm, short]}}, required: [tone]}\nroles:"
    desk.project.workflow("note", NOTE.replace("roles:", schema, 1))
    editor = desk.editor("note")
    session = editor.new(desk.folder)
    editor.prompt(session, "A note for Ada")
    assert "tone" in editor.said()
    editor.prompt(session, "loud")
    assert "tone" in editor.said()
    editor.prompt(session, "warm")
    shown = desk.show(session)
    assert (shown["task"], shown["input"]) == ("A note for Ada", {"tone": "warm"})
    with_forms = desk.editor("note", **FORMS)
    with_forms.answers["elicitation/create"] = {"action": "accept", "content": {"tone": "short"}}
    session = with_forms.new(desk.folder)
    with_forms.prompt(session, "A note for Bob")
    assert desk.show(session)["input"] == {"tone": "short"}


def test_links_and_embedded_files_of_a_prompt_reach_the_task(desk: Desk):
    editor = desk.editor("note")
    session = editor.new(desk.folder)
    blocks = [
        {"type": "text", "text": "See "},
        {"type": "resource_link", "uri": "file:///a.py", "name": "a.py"},
        {"type": "resource", "resource": {"uri": "file:///b.md", "text": "```\ncode\n```"}},
    ]
    editor.call("session/prompt", sessionId=session, prompt=blocks)
    task = "See [a.py](file:///a.py)\n\nfile:///b.md\n````\n```\ncode\n```\n````\n"
    assert desk.show(session)["task"] == task
    image = [{"type": "image", "data": "", "mimeType": "image/png"}]
    with pytest.raises(Rejected, match="image"):
        editor.call("session/prompt", sessionId=session, prompt=image)


def test_what_branches_say_is_in_their_cards(desk: Desk):
    desk.project.workflow("fan", FAN)
    turns = [{"text": "A branch speaks."}]
    desk.play(
        {"role": "planner", "output": {"$status": "planned", "tasks": ["a", "b"]}},
        {"role": "worker", "output": {"$status": "done"}, "turns": turns, "delayMs": 700},
    )
    editor = desk.editor("fan")
    session = editor.new(desk.folder)
    editor.prompt(session, "Go")
    assert editor.plans()[-1] == ["planner completed", "planner/planned (branches) completed"]
    assert "A branch speaks." not in editor.said()
    cards = [each for each in editor.titles() if each.startswith("worker")]
    assert sorted(cards) == [
        "worker (step 2.0, mock): done → $END completed",
        "worker (step 2.1, mock): done → $END completed",
    ]
