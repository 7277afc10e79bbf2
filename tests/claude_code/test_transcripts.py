"""Recorded runs of the real program, in every version that was seen: what each has to become."""

import json
from pathlib import Path

import pytest
from claude_code_rows import RESETS_AT, ROWS, WHOLE

from uwf_agent_claude_code.reply import Run, reply_of, used
from uwf_agent_claude_code.sessions import Plan
from uwf_agent_claude_code.stream import Stream
from uwf_core.api import AgentFailure, End, ProgramResult, RateLimited, Usage
from uwf_testing.harness import RecordingSink

FILES = sorted((Path(__file__).parent / "transcripts").glob("*/*.json"))
VERSIONS = sorted({file.parent.name for file in FILES})
SESSION = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
BY_NAME = {f"{file.parent.name}/{file.stem}": json.loads(file.read_text("utf-8")) for file in FILES}


class Played:
    """A recorded run, heard again."""

    def __init__(self, name, change=lambda line: line):
        document = BY_NAME[name]
        row = ROWS[name.rpartition("/")[2]]
        resumed = "--resume" in row.arguments
        session = row.arguments[1] if resumed else SESSION
        self.plan = Plan(session, session if resumed else None)
        self.told = RecordingSink()
        stream = Stream(self.plan, self.told, None)
        data = [json.dumps(change(line)).encode() + b"\n" for line in document["lines"]]
        for line in data:
            stream.feed(line.rstrip(b"\n"))
        ended = ProgramResult(
            exit_code=document["exitCode"],
            end=End.EXITED,
            stdout=b"".join(data),
            stderr=document["stderr"].encode(),
            duration_ms=1234,
            left_behind=False,
        )
        self.run = Run(stream, ended)
        self.usage = used(self.run, self.plan)
        self.is_typed = bool(row.options.get("structured"))

    def reply(self):
        usage = self.usage or Usage()
        return reply_of(self.run, self.plan, usage, Path("/nowhere"), is_typed=self.is_typed)

    def kind(self):
        try:
            self.reply()
        except AgentFailure as failure:
            assert failure.message.strip()
            assert failure.session == self.plan.session
            return failure.kind.word
        return None


def test_every_row_is_recorded_in_two_versions():
    assert len(VERSIONS) >= 2
    for version in VERSIONS:
        assert {name for name in ROWS if f"{version}/{name}" not in BY_NAME} == set()


@pytest.mark.parametrize("name", BY_NAME)
def test_each_ending_is_the_success_or_the_failure_that_it_is(name):
    assert Played(name).kind() == ROWS[name.rpartition("/")[2]].kind


@pytest.mark.parametrize("name", BY_NAME)
def test_the_order_of_keys_and_unknown_lines_change_nothing(name):
    def other(line):
        return {"of_the_future": {"deep": [1]}, **dict(reversed(line.items()))}

    played = Played(name, other)
    for noise in (b"", b"no JSON", b"[]", b'{"type": 7}', b'{"type": "of_the_future"}', b"\xff"):
        played.run.stream.feed(noise)
    assert played.kind() == Played(name).kind()
    assert played.usage == Played(name).usage


@pytest.mark.parametrize("version", VERSIONS)
def test_turns_tell_what_was_said_and_what_the_tools_answered(version):
    played = Played(f"{version}/success")
    last = {turn.index: turn for turn in played.told.turns}
    assert list(last) == list(range(len(last)))
    (call,) = last[0].tool_calls
    assert (call.name, call.is_error) == ("Write", False)
    assert json.loads(call.arguments) == {"file_path": "written.txt", "content": "x"}
    assert call.result.startswith("File created")
    assert call.started_ms <= call.ended_ms
    assert last[1].text == "said"
    reply = played.reply()
    assert (reply.text, reply.session, reply.continuation) == ("said", SESSION, "new")
    assert reply.agent_version == version
    assert reply.model.startswith("claude-")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_denied_tool_is_shown_beside_a_success(version):
    (denial,) = Played(f"{version}/denied").reply().denials
    assert denial.startswith("Write")
    assert "/outside.txt" in denial


@pytest.mark.parametrize("version", VERSIONS)
def test_an_object_is_taken_where_there_is_one_and_text_where_not(version):
    satisfied = Played(f"{version}/schema_satisfied").reply()
    assert (satisfied.structured, satisfied.text) == ({"$status": "done"}, None)
    never = Played(f"{version}/schema_never_satisfied")
    assert (never.reply().structured, never.reply().text) == (None, "said")
    assert any("delivered no object" in turn.text for turn in never.told.turns)


@pytest.mark.parametrize("version", VERSIONS)
def test_usage_is_found_where_the_answer_was_fetched_without_streaming(version):
    """There `usage` can be zero, and the numbers are by model."""
    played = Played(f"{version}/stream_cut_once")
    assert played.reply().text == WHOLE
    assert played.usage.input_tokens > 1000
    assert played.usage.output_tokens > 0
    assert played.usage.cost_usd > 0
    assert Played(f"{version}/budget").usage.input_tokens == 10**6


@pytest.mark.parametrize("version", VERSIONS)
def test_the_limit_of_a_subscription_says_until_when(version):
    with pytest.raises(RateLimited) as caught:
        Played(f"{version}/limit_of_a_subscription").reply()
    assert caught.value.until_ms == RESETS_AT * 1000


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_not_used_is_not_told_as_nothing(version):
    usage = Played(f"{version}/auth").usage
    assert (usage.input_tokens, usage.cost_usd) == (None, None)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_run_without_a_result_is_never_a_success(version):
    """Whatever its exit code: it is 0 for a signal while it waits."""
    for name in (name for name in BY_NAME if name.startswith(version)):
        played = Played(name)
        played.run.stream.result = None
        assert played.kind() is not None
