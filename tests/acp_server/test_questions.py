"""A question to the person: by a message, a form, or a request for permission."""

import json

import pytest
from acp_editor import FAN, SILENCE, WRITTEN, Desk, Rejected

from uwf_core.api import permission_form

FORMS = {"elicitation": {"form": {}}}
FORM = permission_form("once", "step", "never", about="execute: make test")
QUESTION = {"message": "May I run `make test`?", "form": FORM}


def asked(desk: Desk, **can):
    """An editor whose session waits for the reader."""
    editor = desk.editor("letter", **can)
    session = editor.new(desk.folder)
    editor.prompt(session, "To Ada")
    return editor, session


def newest(desk: Desk, session: str, back: int = 1):
    with desk.project.client() as client:
        return client.step(client.steps(session)[-back]["step"])


def test_without_forms_the_question_is_a_message_that_says_how_to_answer(desk: Desk):
    editor, session = asked(desk)
    assert editor.asked == []
    assert editor.said().endswith(
        "**reader asks:** May this go out? Dear Ada\n\nAnswer with:\n- `approved`\n"
        "- `changes: <comments>` (What must change. text, at least 3 characters); optional, in "
        "lines with all fields named: `places=…`, `words=…`\n"
    )
    assert desk.show(session)["suspendReason"] == "role"


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("approved", {"$status": "approved"}),
        ("  Approved. ", {"$status": "approved"}),
        ("changes: too long", {"$status": "changes", "comments": "too long"}),
        ("changes\ntoo long\nand dull", {"$status": "changes", "comments": "too long\nand dull"}),
        ("$status=changes\ncomments=too long\nwords=5",
         {"$status": "changes", "comments": "too long", "words": 5}),
        ("status=approved", {"$status": "approved"}),
        ('{"$status": "changes", "comments": "long", "places": [{"line": 3}]}',
         {"$status": "changes", "comments": "long", "places": [{"line": 3}]}),
    ],
)  # fmt: skip
def test_a_message_is_the_answer_typed_by_the_schema(desk: Desk, text, output):
    editor, session = asked(desk)
    assert editor.prompt(session, text)["stopReason"] == "end_turn"
    with desk.project.client() as client:
        step = client.step(client.steps(session)[2]["step"])
    assert step["output"] == output
    assert step["attempt"]["by"]["via"] == "acp"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("well, I like it", "does not begin with one of: `approved`, `changes`"),
        ("approved but shorter", "Nothing follows the answer of `approved`"),
        ("changes: ab", "comments"),
        ("changes", "comments"),
        ("$status=changes\ncomments=long\nwords=many", "words"),
        ("$status=maybe", "maybe"),
        ('{"$status": "approved", "extra": 1}', "extra"),
        ("{not json", "not JSON"),
        ("@/etc/passwd", "does not begin with"),
        ("[" * 5000, "does not begin with"),
        ("{" * 5000, "not JSON"),
    ],
)
def test_a_wrong_answer_is_corrected_and_changes_nothing(desk: Desk, text, says):
    editor, session = asked(desk)
    before = desk.show(session)
    assert editor.prompt(session, text)["stopReason"] == "end_turn"
    assert says in editor.said()
    assert "Answer with:" in editor.said()
    assert desk.show(session) == before


# -- forms -----------------------------------------------------------------------------------------


def test_a_form_asks_for_the_status_and_then_for_its_fields(desk: Desk):
    contents = [
        {"$status": "changes"},
        {"comments": "too long", "words": 5, "places": '[{"line": 3}]'},
        {"$status": "approved"},
    ]
    editor = desk.editor("letter", **FORMS)
    editor.answers["elicitation/create"] = lambda _: {
        "action": "accept", "content": contents.pop(0)
    }  # fmt: skip
    session = editor.new(desk.folder)
    assert editor.prompt(session, "To Ada")["stopReason"] == "end_turn"
    assert desk.show(session)["status"] == "completed"
    assert newest(desk, session, 3)["output"] == {
        "$status": "changes", "comments": "too long", "words": 5, "places": [{"line": 3}],
    }  # fmt: skip
    first, second = (each["params"] for each in editor.asked[:2])
    assert first["mode"] == "form" and first["sessionId"] == session
    assert first["message"] == "reader: May this go out? Dear Ada"
    assert first["requestedSchema"] == {
        "type": "object",
        "properties": {
            "$status": {"type": "string", "title": "Decision", "enum": ["approved", "changes"]}
        },
        "required": ["$status"],
    }
    fields = second["requestedSchema"]
    assert fields["required"] == ["comments"]
    types = {name: each["type"] for name, each in fields["properties"].items()}
    assert types == {"comments": "string", "words": "integer", "places": "string"}


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"elicitation": {}},
        {"elicitation": {"url": {}}},
        {"elicitation": {"form": None}},
        {"elicitation": 3},
    ],
)
def test_a_form_is_only_sent_to_an_editor_that_announces_it(desk: Desk, capabilities):
    editor, _ = asked(desk, **capabilities)
    assert editor.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        {"action": "decline"}, {"action": "cancel"}, {"action": "accept"}, {}, None,
        {"action": "accept", "content": {"$status": "other"}},
        {"action": "accept", "content": ["approved"]},
    ],
)  # fmt: skip
def test_a_form_without_an_answer_becomes_a_message(desk: Desk, answer):
    editor = desk.editor("letter", **FORMS)
    editor.answers["elicitation/create"] = answer
    session = editor.new(desk.folder)
    assert editor.prompt(session, "To Ada")["stopReason"] == "end_turn"
    assert len(editor.asked) == 1
    assert "Answer with:" in editor.said()
    editor.answers.clear()
    editor.prompt(session, "approved")
    assert desk.show(session)["status"] == "completed"


def test_an_invalid_form_is_asked_again_with_the_error_a_few_times(desk: Desk):
    wrong = {"$status": "changes", "comments": "ab", "words": "many"}
    editor = desk.editor("letter", **FORMS)
    editor.answers["elicitation/create"] = {"action": "accept", "content": wrong}
    session = editor.new(desk.folder)
    assert editor.prompt(session, "To Ada")["stopReason"] == "end_turn"
    assert len(editor.asked) == 10
    assert "does not satisfy" in editor.asked[2]["params"]["message"]
    assert desk.show(session)["form"] is not None


# -- permission ------------------------------------------------------------------------------------


def test_the_permission_of_an_agent_is_asked_of_the_editor(desk: Desk):
    desk.play({**WRITTEN, "question": QUESTION})
    editor = desk.editor("note", **FORMS)
    editor.answers["session/request_permission"] = {
        "outcome": {"outcome": "selected", "optionId": "step"}
    }
    session = editor.new(desk.folder)
    assert editor.prompt(session, "A note")["stopReason"] == "end_turn"
    assert desk.show(session)["status"] == "completed"
    assert newest(desk, session)["attempt"]["answer"] == {"decision": "step"}
    (request,) = editor.asked
    params = request["params"]
    assert params["sessionId"] == session
    assert params["toolCall"]["title"] == "writer: May I run `make test`?"
    about = {"type": "text", "text": "execute: make test"}
    assert params["toolCall"]["content"] == [{"type": "content", "content": about}]
    assert params["options"] == [
        {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
        {"optionId": "step", "name": "Allow in this step", "kind": "allow_always"},
        {"optionId": "never", "name": "Never allow", "kind": "reject_always"},
    ]


@pytest.mark.parametrize(
    "answer",
    [
        None, {}, {"outcome": {"outcome": "cancelled"}}, {"outcome": None},
        {"outcome": {"outcome": "selected", "optionId": "everything"}},
        {"outcome": {"outcome": "selected", "optionId": ["once"]}},
    ],
)  # fmt: skip
def test_no_decision_is_no_permission_and_the_question_stays(desk: Desk, answer):
    desk.play({**WRITTEN, "question": QUESTION})
    editor = desk.editor("note")
    editor.answers["session/request_permission"] = answer
    session = editor.new(desk.folder)
    assert editor.prompt(session, "A note")["stopReason"] == "end_turn"
    assert desk.show(session)["form"] is not None
    editor.answers["session/request_permission"] = {
        "outcome": {"outcome": "selected", "optionId": "once"}
    }
    editor.prompt(session, "and now?")  # not a decision: asked again
    assert newest(desk, session)["attempt"]["answer"] == {"decision": "once"}


def test_a_decision_can_be_written(desk: Desk):
    desk.play({**WRITTEN, "question": QUESTION})
    editor = desk.editor("note")
    session = editor.new(desk.folder)
    editor.prompt(session, "A note")
    assert editor.prompt(session, "never")["stopReason"] == "end_turn"
    assert newest(desk, session)["attempt"]["answer"] == {"decision": "never"}


def test_other_questions_of_agents_are_forms(desk: Desk):
    form = {"properties": {"port": {"type": "integer"}}, "required": ["port"]}
    desk.play({**WRITTEN, "question": {"message": "Which port?", "form": form}})
    editor = desk.editor("note")
    session = editor.new(desk.folder)
    editor.prompt(session, "A note")
    assert "`<port>`" in editor.said()
    editor.prompt(session, "many")
    assert "port" in editor.said()
    editor.prompt(session, "8080")
    assert newest(desk, session)["attempt"]["answer"] == {"port": 8080}


def test_questions_of_branches_are_asked_one_after_the_other(desk: Desk):
    desk.project.workflow("fan", FAN)
    desk.play(
        {"role": "planner", "output": {"$status": "planned", "tasks": ["a", "b"]}},
        {"role": "worker", "output": {"$status": "done"}, "question": QUESTION},
    )
    editor = desk.editor("fan")
    editor.answers["session/request_permission"] = {
        "outcome": {"outcome": "selected", "optionId": "once"}
    }
    session = editor.new(desk.folder)
    assert editor.prompt(session, "Go")["stopReason"] == "end_turn"
    assert len(editor.asked) == 2
    assert desk.show(session)["status"] == "completed"


def test_a_role_that_suspends_gets_the_message_as_text(desk: Desk):
    desk.play({"role": "writer", "suspend": {"reason": "Who is Ada?"}})
    editor = desk.editor("note")
    session = editor.new(desk.folder)
    assert editor.prompt(session, "A note")["stopReason"] == "end_turn"
    assert editor.said().endswith("**writer asks:** Who is Ada?\n")
    desk.play(WRITTEN)
    editor.prompt(session, "My sister")
    assert newest(desk, session)["attempt"]["said"] == "My sister"
    assert desk.show(session)["status"] == "completed"


def test_an_agent_cannot_answer_the_question_to_a_person(desk: Desk):
    editor = desk.editor("letter", env={"UWF_ATTEMPT": "01M8AKYFJ9YJCK9BSSD451JSXM/1.1"})
    session = editor.new(desk.folder)
    editor.prompt(session, "To Ada")
    with pytest.raises(Rejected, match="below an agent"):
        editor.prompt(session, "approved")
    assert desk.show(session)["form"] is not None


def test_what_agents_write_cannot_control_the_editor(desk: Desk):
    bad = "\x1b]0;title\x07\u202eevil\ud800"
    desk.play(
        {
            **WRITTEN,
            "output": {"$status": "written", "text": "x"},
            "turns": [
                {
                    "text": "\x1b[2Jhi\u202e",
                    "reasoning": "\x07",
                    "toolCalls": [{"id": "\x1b", "name": "\x1bsh", "arguments": "\x9b"}],
                }
            ],
            "question": {"message": "\x1b[31mrun \u202e?", "form": permission_form("once")},
        }
    )
    editor = desk.editor("note")
    session = editor.new(desk.folder)
    editor.prompt(session, f"A note {bad}")
    editor.prompt(session, "once")
    editor.load(session, desk.folder)
    whole = json.dumps([editor.updates, editor.asked], ensure_ascii=False)
    assert not set(whole) & set("\x1b\x07\x9b\u202e\ud800")
    assert "\\\\u202e" in whole


def test_a_pending_question_to_the_editor_ends_with_cancel(desk: Desk):
    editor = desk.editor("letter", **FORMS)
    editor.answers["elicitation/create"] = SILENCE
    session = editor.new(desk.folder)
    id_ = editor.start_prompt(session, "To Ada")
    while not editor.asked:
        editor.step()
    editor.send("session/cancel", False, sessionId=session)
    assert editor.result(id_)["stopReason"] == "cancelled"
    late = {"jsonrpc": "2.0", "id": editor.asked[0]["id"], "result": {"action": "accept"}}
    editor.raw(json.dumps(late).encode())
    assert desk.show(session)["form"] is not None
    editor.answers.clear()
    editor.prompt(session, "approved")
    assert desk.show(session)["status"] == "completed"
