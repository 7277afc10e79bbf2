"""The pure parts: command lines, schemas, usage, limits of the service, and other traps."""

import json
import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_agent_claude_code.arguments import command_line, narrowed
from uwf_agent_claude_code.environment import bypass_problem, environment, temporary_folder
from uwf_agent_claude_code.lines import Result, Tokens, read_line
from uwf_agent_claude_code.options import ClaudeCodeOptions
from uwf_agent_claude_code.outcome import RunEvents, failure_of_result
from uwf_agent_claude_code.project_text import with_project_text
from uwf_agent_claude_code.schemas import unwrapped, wrapped
from uwf_agent_claude_code.sessions import Plan, Sessions
from uwf_agent_claude_code.stream import Stream
from uwf_agent_claude_code.transcripts import find_transcript
from uwf_agent_claude_code.usage import Ledger, usage_of
from uwf_core.api import BadRequest, RateLimited, SessionLost, read_options
from uwf_core.errors import ConfigError
from uwf_testing.harness import RecordingSink as Sink

ONE, TWO = "00000001-0000-4000-8000-000000000000", "00000002-0000-4000-8000-000000000000"


def result(**changes):
    line = {"type": "result", "subtype": "success", "is_error": False, "session_id": ONE, **changes}
    found = read_line(json.dumps(line).encode())
    assert isinstance(found, Result)
    return found


def system(subtype, **fields):
    return json.dumps({"type": "system", "subtype": subtype, **fields}).encode()


def write_transcript(folder, session, *lines, project="-work"):
    file = folder / "projects" / project / f"{session}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def said(number):
    return {"type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": "x"}}


def test_settings_of_a_folder_that_is_not_trusted_are_not_read():
    untrusted = command_line(ClaudeCodeOptions(), [], None, None, trusted=False)
    assert untrusted[untrusted.index("--setting-sources") + 1] == "user"
    assert "--setting-sources" not in command_line(
        ClaudeCodeOptions(), [], None, None, trusted=True
    )


def test_mentions_of_files_are_off_unless_the_user_says_otherwise():
    switches = ("CLAUDE_CODE_DISABLE_FILE_MENTIONS", "CLAUDE_CODE_DISABLE_ATTACHMENTS")
    made = environment(ClaudeCodeOptions(), {})
    assert [made[name] for name in switches] == ["1", "1"]
    options = ClaudeCodeOptions(environment={switches[1]: "0"})
    assert [environment(options, {})[name] for name in switches] == ["1", "0"]


@pytest.fixture
def folder(tmp_path):
    """A working folder beside a secret."""
    (tmp_path / "secret.md").write_text("of nobody else")
    made = tmp_path / "work"
    made.mkdir()
    return made


def test_the_text_of_a_project_comes_before_the_prompt(folder):
    (folder / "CLAUDE.md").write_text("Use tabs.\n")
    (folder / ".claude").mkdir()
    (folder / ".claude" / "CLAUDE.md").write_text("x" * 50_000)
    found = with_project_text("do it", str(folder))
    assert found.startswith("# CLAUDE.md of the working folder\n\nUse tabs.\n\n")
    assert found.endswith("x\n\n[cut after 40000 bytes]\n\ndo it")
    assert len(found) < 41_000


def test_a_text_of_a_project_that_is_a_link_within_it_is_read(folder):
    (folder / "AGENTS.md").write_text("Use tabs.")
    (folder / "CLAUDE.md").symlink_to("AGENTS.md")
    assert "Use tabs." in with_project_text("do it", str(folder))


@pytest.mark.parametrize(
    "target", ["../secret.md", ".env", "{absolute}", "CLAUDE.md", "out/secret.md"]
)
def test_a_text_of_a_project_leads_nowhere_else(folder, target):
    (folder / ".env").write_text("KEY=of nobody else")
    (folder / "out").symlink_to("..")
    absolute = folder.parent / "secret.md"
    (folder / "CLAUDE.md").symlink_to(target.format(absolute=absolute))
    assert with_project_text("do it", str(folder)) == "do it"


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_text_of_a_project_that_is_no_file_is_passed_over(folder, kind):
    (os.mkfifo if kind == "pipe" else os.mkdir)(folder / "CLAUDE.md")
    assert with_project_text("do it", str(folder)) == "do it"


def test_everything_that_a_user_may_say_reaches_the_program():
    options = read_options(
        ClaudeCodeOptions,
        {
            "command": "/opt/claude",
            "model": "opus",
            "permissionMode": "plan",
            "allowedTools": ["Bash(git *)", "Edit"],
            "disallowedTools": ["WebFetch"],
            "addDir": ["/data"],
            "maxTurns": 7,
            "budget": 1.5,
            "settings": "s.json",
            "mcpConfig": ["m.json"],
            "extraArguments": ["--append-system-prompt", "Be brief."],
        },
        where="agents -> it",
    )
    found = command_line(options, ["--session-id", ONE], None, None, trusted=True)
    assert found == [
        *("/opt/claude", "-p", "--output-format", "stream-json", "--verbose"),
        *("--session-id", ONE, "--model", "opus", "--permission-mode", "plan"),
        *("--max-turns", "7", "--max-budget-usd", "1.5", "--settings", "s.json"),
        *("--mcp-config", "m.json", "--allowedTools", "Bash(git *)", "Edit"),
        *("--disallowedTools", "WebFetch", "--add-dir", "/data"),
        *("--append-system-prompt", "Be brief."),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"extraArguments": ["--output-format=json"]},
        {"extraArguments": ["--resume", ONE]},
        {"command": " "},
        {"maxTurns": 0},
        {"budget": -1.0},
        {"permisionMode": "plan"},
    ],
)
def test_options_that_would_break_it_are_refused(wrong):
    with pytest.raises(ConfigError):
        read_options(ClaudeCodeOptions, wrong, where="agents -> it")


def test_a_role_that_is_narrowed_gets_no_server_that_it_does_not_name():
    options = ClaudeCodeOptions(mcp_config=("m.json",))
    tools = narrowed(("read_file", "Edit", "run_command", "read_file"))
    assert tools == ("Read", "Edit", "Bash")
    found = command_line(options, [], tools, None, trusted=True)
    assert found[found.index("--tools") + 1] == "Read,Edit,Bash"
    assert "--strict-mcp-config" in found
    assert "m.json" not in found
    named = command_line(options, [], ("Read", "mcp__git__log"), None, trusted=True)
    assert "m.json" in named
    none = command_line(options, [], (), None, trusted=True)
    assert none[none.index("--tools") + 1] == ""


def test_a_tool_that_is_offered_in_spite_of_that_stops_the_run():
    stream = Stream(Plan(ONE), Sink(), ("Read", "Agent"))
    stream.feed(system("init", session_id=ONE, tools=["Read", "Task"]))
    with pytest.raises(BadRequest, match="mcp__mail__send"):
        stream.feed(system("init", session_id=ONE, tools=["Read", "mcp__mail__send"]))


def test_a_program_that_begins_another_session_is_stopped_at_its_first_line():
    stream = Stream(Plan(ONE, ONE), Sink(), None)
    with pytest.raises(SessionLost, match=TWO):
        stream.feed(system("init", session_id=TWO, tools=[]))


def test_a_schema_goes_out_as_services_take_it_and_the_object_comes_back():
    schema = {
        "oneOf": [
            {"properties": {"$status": {"const": "ok"}}, "required": ["$status"]},
            {
                "properties": {"$status": {"const": "no"}, "why": {"type": "string"}},
                "required": ["$status", "why"],
            },
        ]
    }
    sent = wrapped(schema)
    assert sent["type"] == "object"
    assert "$status" not in json.dumps(sent)
    assert "$SUSPEND" in json.dumps(sent)
    assert unwrapped({"output": {"_status": "no", "why": "x"}}) == {"$status": "no", "why": "x"}
    with_text = {"output": {"_status": "no"}, "text": "In short."}
    assert unwrapped(with_text) == {"$status": "no", "_body": "In short."}
    assert unwrapped({"other": 1}) is None


def test_cost_and_models_of_a_session_are_counted_once():
    """Newer versions count them on from run to run; `usage` is of the run alone."""
    before = Ledger(0.5, {"opus": Tokens(100, 10)})
    found = result(
        total_cost_usd=0.75,
        modelUsage={"opus": {"inputTokens": 130, "outputTokens": 12, "costUSD": 0.75}},
        usage={"input_tokens": 30, "output_tokens": 2},
    )
    usage = usage_of(found, before, 1, 5)
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (30, 2, 0.25)
    by_model = usage_of(found._replace(tokens=Tokens()), before, 1, 5)
    assert (by_model.input_tokens, by_model.output_tokens) == (30, 2)


def test_cost_of_this_run_alone_is_kept_where_a_version_tells_that():
    before = Ledger(0.5, {"opus": Tokens(100, 10)})
    found = result(total_cost_usd=0.25, modelUsage={"opus": {"inputTokens": 30, "outputTokens": 2}})
    usage = usage_of(found, before, 1, 5)
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (30, 2, 0.25)


def test_a_limit_of_the_service_says_until_when():
    stream = Stream(Plan(ONE), Sink(), None)
    info = {"status": "rejected", "resetsAt": 1795399999}
    stream.feed(json.dumps({"type": "rate_limit_event", "rate_limit_info": info}).encode())
    failure = failure_of_result(result(is_error=True, api_error_status=429), stream.events())
    assert isinstance(failure, RateLimited)
    assert failure.until_ms == 1795399999000


def test_a_wait_of_an_hour_is_told_and_not_waited_for():
    stream = Stream(Plan(ONE), Sink(), None)
    retry = {"error": "rate_limit", "error_status": 429, "attempt": 1, "max_retries": 3}
    stream.feed(system("api_retry", retry_delay_ms=2000, **retry))
    with pytest.raises(RateLimited) as caught:
        stream.feed(system("api_retry", retry_delay_ms=3_600_000, **retry))
    assert caught.value.until_ms == pytest.approx(time.time() * 1000 + 3_600_000, abs=60_000)


def test_a_result_without_is_error_is_no_success():
    line = {"type": "result", "subtype": "success", "session_id": ONE, "result": "said"}
    found = read_line(json.dumps(line).encode())
    assert isinstance(found, Result)
    assert failure_of_result(found, RunEvents(ONE, is_resumed=False)) is not None


SUCCESS = {"type": "result", "subtype": "success", "is_error": False, "result": "first"}
LATER = st.sampled_from(
    [
        {**SUCCESS, "result": "second"},
        {**SUCCESS, "result": ""},
        {"type": "result", "subtype": "error_during_execution", "is_error": True, "num_turns": 0},
        {"type": "result", "subtype": "success", "is_error": True, "result": "API Error: 500"},
        {"type": "system", "subtype": "init", "session_id": "another", "tools": ["Bash"]},
        {"type": "system", "subtype": "api_retry", "error": "rate_limit", "retry_delay_ms": 10**7},
        {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}},
        {"type": "assistant", "message": {"id": "w", "content": [{"type": "text", "text": "up"}]}},
        {"type": "user", "message": {"content": "a background task has finished"}},
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["", " \n"]) | st.none(), st.lists(LATER, max_size=6))
def test_whatever_follows_the_first_success_with_a_reply_changes_nothing(empty, later):
    stream = Stream(Plan(ONE), Sink(), ["Read"])
    before = [] if empty is None else [{**SUCCESS, "result": empty}]
    for line in (*before, SUCCESS, *later):
        stream.feed(json.dumps(line).encode())
    assert stream.result.text == "first"
    assert (stream.later is not None) == any(line.get("is_error") for line in later)


def test_a_result_without_a_reply_may_be_continued():
    stream = Stream(Plan(ONE), Sink(), None)
    failed = {**SUCCESS, "is_error": True}
    for line in ({**SUCCESS, "result": ""}, failed, {**SUCCESS, "result": "second"}):
        stream.feed(json.dumps(line).encode())
    assert stream.result.text == "second"


def test_a_continuation_is_proven_by_what_the_transcript_held_and_holds(tmp_path):
    sessions = Sessions(tmp_path / "state", tmp_path)
    file = write_transcript(tmp_path, ONE, said(1), said(2))
    plan = sessions.plan(ONE)
    assert plan.arguments() == ["--resume", ONE]
    write_transcript(tmp_path, ONE, said(1), said(2), said(3))
    after = find_transcript(tmp_path, ONE)
    assert "2 entries" in plan.proof(after, ONE)
    with pytest.raises(SessionLost):
        plan.proof(after, TWO)
    write_transcript(tmp_path, ONE, said(7), said(8), said(9))
    with pytest.raises(SessionLost):
        plan.proof(find_transcript(tmp_path, ONE), ONE)
    file.unlink()
    with pytest.raises(SessionLost):
        plan.proof(find_transcript(tmp_path, ONE), ONE)


@pytest.mark.parametrize("session", [TWO, "", "*", "../../etc/passwd", "a/b"])
def test_a_session_without_a_transcript_is_lost_before_anything_runs(tmp_path, session):
    write_transcript(tmp_path, ONE, said(1))
    with pytest.raises(SessionLost):
        Sessions(tmp_path / "state", tmp_path).plan(session)


def test_a_session_in_which_nothing_was_said_is_no_session(tmp_path):
    write_transcript(tmp_path, ONE, {"type": "mode"})
    assert find_transcript(tmp_path, ONE) is None


def test_a_fork_remembers_its_origin_until_it_is_made(tmp_path):
    write_transcript(tmp_path, ONE, said(1), {"type": "cost-state", "totalCostUSD": 0.25})
    forked = Sessions(tmp_path / "state", tmp_path).fork(ONE, None)
    write_transcript(tmp_path, ONE, said(1), {"type": "cost-state", "totalCostUSD": 0.25}, said(2))
    again = Sessions(tmp_path / "state", tmp_path)
    plan = again.plan(forked)
    place = ["--resume", ONE, "--resume-session-at", said(1)["uuid"]]
    assert plan.arguments() == [*place, "--fork-session", "--session-id", forked]
    assert plan.ledger.cost_usd == 0.25
    unmade = again.plan(again.fork(forked, None))  # a fork of one that is not made yet
    assert (unmade.resumes, unmade.at) == (ONE, said(1)["uuid"])
    write_transcript(tmp_path, forked, said(1), said(3))
    assert ONE in plan.proof(find_transcript(tmp_path, forked), forked)
    again.made(plan)
    assert again.plan(forked).arguments() == ["--resume", forked]
    with pytest.raises(SessionLost):
        again.fork(TWO, None)


def test_a_fork_that_knows_what_was_said_later_is_not_accepted(tmp_path):
    sessions = Sessions(tmp_path / "state", tmp_path)
    write_transcript(tmp_path, ONE, said(1), said(2))
    plan = sessions.plan(sessions.fork(ONE, said(1)["uuid"]))
    write_transcript(tmp_path, plan.session, said(1), said(2), said(3))
    with pytest.raises(SessionLost, match="after"):
        plan.proof(find_transcript(tmp_path, plan.session), plan.session)
    with pytest.raises(SessionLost, match="no entry"):
        sessions.fork(ONE, said(9)["uuid"])


def test_a_fork_needs_only_what_leads_to_its_place(tmp_path):
    """A branch that the program has left, and an agent that the model started, are not copied."""
    inner = {**said(3), "isSidechain": True}
    lines = [said(1), {**said(2), "parentUuid": said(1)["uuid"]}, inner]
    lines.append({**said(4), "parentUuid": said(1)["uuid"]})
    write_transcript(tmp_path, ONE, *lines)
    found = find_transcript(tmp_path, ONE)
    assert found.last == said(4)["uuid"]
    assert found.until(found.last) == {said(1)["uuid"], said(4)["uuid"]}
    assert found.after(said(2)["uuid"]) == {said(3)["uuid"], said(4)["uuid"]}


def test_the_memory_that_all_sessions_share_is_off_unless_the_option_allows_it():
    name = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
    assert environment(ClaudeCodeOptions(), {name: "0"})[name] == "1"
    assert name not in environment(ClaudeCodeOptions(memory=True), {})


def test_the_environment_is_that_of_the_call_without_an_outer_session():
    options = ClaudeCodeOptions(config_folder="~/c", environment={"B": "of the options"})
    given = {"A": "1", "B": "2", "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": ONE, "HOME": "/h"}
    found = environment(options, given)
    assert found["A"] == "1"
    assert found["B"] == "of the options"
    assert found["CLAUDE_CONFIG_DIR"] == "/h/c"
    assert "CLAUDECODE" not in found
    assert "CLAUDE_CODE_SESSION_ID" not in found
    assert found["CLAUDE_CODE_MAX_RETRIES"] == "3"
    assert environment(options, {"CLAUDE_CODE_MAX_RETRIES": "9"})["CLAUDE_CODE_MAX_RETRIES"] == "9"


def test_as_root_a_bypass_of_permissions_is_refused_with_what_to_do(monkeypatch):
    options = ClaudeCodeOptions(permission_mode="bypassPermissions")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    problem = bypass_problem(options, {})
    assert "IS_SANDBOX" in problem.hint
    assert "acceptEdits" in problem.hint
    assert bypass_problem(options, {"IS_SANDBOX": "1"}) is None
    assert bypass_problem(ClaudeCodeOptions(), {}) is None
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert bypass_problem(options, {}) is None


def test_what_a_killed_run_left_is_removed_and_what_is_in_use_is_not(tmp_path):
    import os

    old = tmp_path / "t" / "left"
    old.mkdir(parents=True)
    os.utime(old, (0, 0))
    with temporary_folder(tmp_path, {"TMPDIR": str(tmp_path)}) as first:
        assert not old.exists()
        os.utime(first, (0, 0))
        with temporary_folder(tmp_path, {"TMPDIR": str(tmp_path)}) as second:
            assert first.exists()
            assert second != first
    assert list((tmp_path / "t").iterdir()) == []
