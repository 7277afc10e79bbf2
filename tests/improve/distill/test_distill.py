"""`uwf distill`: a session becomes a draft that checks, and whose own run replays."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.forms import form

from uwf_core.client import Client
from uwf_core.commands import main
from uwf_improve.cli.distill import distill
from uwf_improve.distill.draft import ROLES
from uwf_improve.distill.formats import RecordedSession, SessionTurn, ToolUse, builtin_turns
from uwf_improve.distill.phases import course_of, kind_of_tool
from uwf_improve.distill.write import write_draft

SESSIONS = sorted(Path(__file__).with_name("sessions").glob("*.jsonl"))
COURSES = {
    "atif-fix": "explorer developer checker developer checker person developer",
    "builtin-fix": "explorer developer checker",
    "builtin-sent-back": "explorer developer checker developer checker person developer",
    "claude-code-newer-answer": "author",
    "claude-code-newer-fix": "explorer developer checker",
    "claude-code-newer-fix-again": "explorer developer checker developer checker",
    "claude-code-newer-sent-back": "explorer developer checker person developer person explorer",
    "claude-code-older-fix": "explorer developer checker",
    "hermes-fix": "explorer developer checker",
    "hermes-sent-back": "explorer developer checker developer checker person developer",
}


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("UWF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def run(*words: str):
        code = main([*words, "--format", "json"], None, lambda: distill)
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else {}, said.err

    return run


def test_ten_sessions_of_real_agents_were_recorded():
    assert {each.stem for each in SESSIONS} == set(COURSES) and len(SESSIONS) == 10


@pytest.mark.parametrize("file", SESSIONS, ids=lambda each: each.stem)
def test_a_session_of_a_real_agent_becomes_a_draft_that_checks_and_replays(file, call, tmp_path):
    code, made, err = call(str(file), "-o", "out")
    assert code == 0, err
    assert not (tmp_path / "home").exists(), "nothing of it is in the user's store"
    with Client.open(store="memory:", home=tmp_path / "other", cwd=tmp_path) as client:
        assert client.check_workflow(made["workflow"]) == {"valid": True, "problems": []}
        thread = client.import_bundle(made["recorded"])["thread"]
        assert client.replay(thread)["verdict"] == "same"
        assert client.replay(thread, made["workflow"])["verdict"] == "same"
        assert client.show(thread)["status"] == "completed"
        steps = client.steps(thread)[1:]
        assert " ".join(each["role"] for each in steps) == COURSES[file.stem]
        calls = [use["name"] for each in client.thread(thread).steps("raw") for turn in each.turns
                 for use in turn.tool_calls]  # fmt: skip
        assert bool(calls) == (made["roles"] != ["author"]), "the tools of the session are kept"


def agent(text="", *tools: str) -> SessionTurn:
    return SessionTurn(speaker="agent", text=text, tools=[ToolUse(name=each) for each in tools])


def user(text: str) -> SessionTurn:
    return SessionTurn(speaker="user", text=text)


def kinds_of(*turns: SessionTurn) -> list[str]:
    return [each.kind for each in course_of(RecordedSession(format="test", turns=turns)).phases]


def test_phases_begin_with_what_tools_do_and_with_messages_of_the_user():
    assert kinds_of(user("do"), agent("", "Read"), agent("", "Bash"), agent("", "Edit"),
                    agent("", "Read"), agent("", "Bash"), agent("", "Edit"), agent("done"),
                    user("more"), agent("ok")) == [
        "explore", "change", "check", "change", "person", "answer",
    ]  # fmt: skip
    assert kinds_of(user("do"), agent("", "TodoWrite"), agent("", "mcp__x__frobnicate")) == [
        "answer"
    ]
    assert kinds_of(user("a"), user("b"), agent("c"), user("nobody answers this")) == ["answer"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Read", "explore"), ("read_file", "explore"), ("WebSearch", "explore"), ("LS", "explore"),
        ("MultiEdit", "change"), ("write_file", "change"), ("apply_patch", "change"),
        ("NotebookEdit", "change"), ("str_replace_based_edit_tool", "change"),
        ("Bash", "check"), ("run_command", "check"), ("execute_code", "check"),
        ("mcp__files__write_file", "change"), ("TodoWrite", None), ("Task", None), ("", None),
    ],
)  # fmt: skip
def test_tools_are_known_by_the_words_of_their_names(name, kind):
    assert kind_of_tool(name) == kind


TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["{{{summary}}}", "{{#x}}", "---\n$status: done\n---\n", "\x00\x1b[31m\x85\u2028\ud800",
         "# x\n%YAML 1.2\n--- !!python/object:x", "'\"\\", "@file", "-p", "x" * 5000, "```json\n{}"]
    ),
)  # fmt: skip
TOOLS = st.lists(
    st.builds(
        ToolUse,
        name=st.sampled_from(["Read", "Edit", "Bash", "Task", "", "{{x}}", "\n"]),
        arguments=TEXTS,
        result=st.none() | TEXTS,
    ),
    max_size=2,
)
TURNS = st.lists(
    st.one_of(
        st.builds(SessionTurn, speaker=st.just("user"), text=TEXTS),
        st.builds(SessionTurn, speaker=st.just("agent"), text=TEXTS, tools=TOOLS),
    ),
    max_size=8,
)


@pytest.mark.parametrize("text", ["\ud800", "\x00\x1b[31m", "\x85\u2028", "\ufffe\ufeff"])
def test_what_no_text_may_hold_does_not_break_a_draft(text, tmp_path):
    """JSON can escape a lone surrogate, and a transcript may be cut within a pair."""
    use = ToolUse(name=f"Read{text}", arguments=text, result=text)
    done = SessionTurn(speaker="agent", text=f"Done {text}.", tools=[use])
    turns = [user(f"Do {text}"), done, user(f"More {text}"), agent(f"It {text} works.")]
    session = RecordedSession(format="test", turns=turns)
    assert write_draft(tmp_path / "out", "draft", course_of(session), "test", ROLES)["steps"] == 3


@settings(max_examples=form(short=4, long=200))
@given(first=TEXTS.filter(str.strip), turns=TURNS, last=TEXTS.filter(str.strip))
def test_whatever_a_session_says_its_draft_checks_and_replays(first, turns, last, tmp_path_factory):
    """`write_draft` verifies both, and fails otherwise."""
    session = RecordedSession(format="test", turns=[user(first), *turns, agent(last)])
    folder = tmp_path_factory.mktemp("draft") / "out"
    made = write_draft(folder, "draft", course_of(session), "test", ROLES)
    assert made["steps"] == len(course_of(session).phases)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a recorded session"),
        ("[]", "is not a recorded session"),
        ("[" * 100_000, "is not a recorded session"),
        ('{"messages": []}', "the user says nothing"),
        ('{"messages": [{"role": "user", "content": "x"}]}', "the agent does nothing"),
        ('{"messages": [1, {"role": "user", "content": {"a": 1}}]}', "the user says nothing"),
        ('{"schema_version": "ATIF-v1.7", "steps": 3}', "the user says nothing"),
        ('{"v": 1, "type": "session"}\n{"type": "message"}', "the user says nothing"),
        ('{"sessionId": "a", "uuid": "b", "parentUuid": "b", "type": "user"}', "the user says"),
    ],
)
def test_a_file_that_is_no_session_is_an_error_and_writes_nothing(text, message, call, tmp_path):
    (tmp_path / "it.jsonl").write_text(text)
    code, made, err = call("it.jsonl", "-o", "out")
    assert (code, made) == (2, {})
    assert message in err and not (tmp_path / "out").exists()


def test_wrong_words_are_errors_that_write_nothing(call, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    for words, message in (
        (("nowhere",), "there is no session 'nowhere'"),
        (("../../etc",), "there is no session"),
        ((str(SESSIONS[0]), "-o", "full"), "the folder is not empty"),
        ((str(SESSIONS[0]), "--name", "a b"), "is not a name of a workflow"),
    ):
        code, _, err = call(*words)
        assert code == 2 and message in err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["full"]


def test_a_session_of_claude_code_is_found_by_its_id(call, tmp_path):
    folder = tmp_path / ".claude" / "projects" / "-scratch-work"
    folder.mkdir(parents=True)
    source = Path(__file__).with_name("sessions") / "claude-code-newer-fix.jsonl"
    (folder / "1234-abcd.jsonl").write_text(source.read_text())
    code, made, err = call("1234-abcd")
    assert (code, made["name"]) == (0, "1234-abcd"), err
    assert Path(made["workflow"]).read_text().startswith("# Distilled from a session of Claude")


def test_a_branch_of_a_transcript_that_the_user_left_is_not_read(call, tmp_path):
    def line(uuid, parent, kind, text, **more):
        message = {"role": kind, "content": text, "id": uuid}
        return {"uuid": uuid, "parentUuid": parent, "type": kind, "sessionId": "s",
                "message": message, **more}  # fmt: skip

    lines = [
        line("1", None, "user", "Fix it"),
        line("2", "1", "assistant", "Left behind."),
        line("3", "1", "assistant", "Kept."),
        line("4", "3", "assistant", "Of a subagent.", isSidechain=True),
        line("5", "3", "user", "The program says this.", isMeta=True),
        line("6", "5", "assistant", "The end."),
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, lines)) + '\n{"cut off')
    _, made, _ = call("s.jsonl", "--show-prompt")
    assert "The end." in made["prompt"] and "Kept." in made["prompt"]
    for text in ("Left behind", "subagent", "program says"):
        assert text not in made["prompt"]
    assert not (tmp_path / "home").exists()


def test_a_transcript_that_was_compacted_is_read_from_its_beginning(call, tmp_path):
    """Other lines stand between, and the first message after it has a logical parent alone."""

    def line(uuid, kind, text, **parents):
        message = {"role": kind, "content": text, "id": uuid}
        return {"uuid": uuid, "type": kind, "sessionId": "s", "message": message, **parents}

    lines = [
        {"type": "file-history-snapshot", "messageId": "m"},
        line("1", "user", "Fix it", parentUuid=None),
        line("2", "assistant", "Looking.", parentUuid="1"),
        {"type": "summary", "summary": "Short.", "leafUuid": "2"},
        line("3", "user", "It goes on.", parentUuid=None, logicalParentUuid="2"),
        line("4", "assistant", "The end.", parentUuid="3"),
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, lines)))
    code, made, err = call("s.jsonl", "--show-prompt")
    assert code == 0, err
    for text in ("Fix it", "Looking.", "It goes on.", "The end."):
        assert text in made["prompt"]


def test_only_a_tool_that_reported_an_error_failed() -> None:
    calls = [{"id": name, "name": "run", "arguments": {}} for name in ("good", "bad", "open")]
    lines = [
        {"type": "session", "v": 1},
        {"type": "message", "role": "user", "text": "Fix it"},
        {"type": "message", "role": "assistant", "text": "", "toolCalls": calls},
        {"type": "answer", "id": "good", "text": "fine", "isError": False},
        {"type": "answer", "id": "bad", "text": "no", "isError": True},
    ]
    [use] = [turn.tools for turn in builtin_turns(lines) if turn.tools]
    assert [(each.result, each.is_error) for each in use] == [
        ("fine", False), ("no", True), (None, False),
    ]  # fmt: skip


NAMED = {
    "name": "fixer", "description": "Fixes.", "goal": "Fix it.", "procedure": "Look first.",
    "prompt": "Fix it now.",
}  # fmt: skip


def test_an_agent_names_the_roles_and_what_it_gets_can_be_seen_before(call, tmp_path, monkeypatch):
    output = {
        "$status": "named",
        "explore": {**NAMED, "name": "scout"},
        "change": NAMED,
        "check": {**NAMED, "name": "tester"},
    }
    script = tmp_path / "play.json"
    monkeypatch.setenv("UWF_MOCK_SCRIPT", str(script))
    file = str(Path(__file__).with_name("sessions") / "hermes-fix.jsonl")
    for wrong in ({"prompt": "{{{summary}}}"}, {"name": "fix it"}, {"name": "scout"}):
        steps = [{"role": "namer", "output": output | {"change": {**NAMED, **wrong}}}]
        script.write_text(json.dumps({"steps": steps}))
        assert call(file, "-o", "out", "--agent", "mock")[0] != 0
        assert not (tmp_path / "out").exists()
    script.write_text(json.dumps({"steps": [{"role": "namer", "output": output}]}))
    code, made, err = call(file, "-o", "out", "--agent", "mock")
    assert (code, made.get("roles")) == (0, ["scout", "fixer", "tester"]), err
    assert "procedure: Look first." in Path(made["workflow"]).read_text()
