"""Recorded runs of the real program, in every version that was seen: what each has to become."""

import json
from pathlib import Path

import pytest
from claude_code_rows import RESETS_AT, ROWS, WHOLE

from uwf_agent_claude_code.reply import Run, reply_of, used
from uwf_agent_claude_code.sessions import Plan
from uwf_agent_claude_code.stream import Stream
from uwf_core.api import AgentFailure, BadRequest, End, ProgramResult, RateLimited
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
        return reply_of(self.run, self.plan, self.usage, Path("/nowhere"), is_typed=self.is_typed)

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
def test_a_rejected_request_used_nothing_and_a_broken_one_nobody_knows(version):
    rejected = Played(f"{version}/auth").usage
    assert (rejected.turns, rejected.input_tokens, rejected.cost_usd) == (0, 0, 0)
    broken = Played(f"{version}/stream_always_cut").usage
    assert (broken.turns, broken.input_tokens, broken.cost_usd) == (0, None, None)


@pytest.mark.parametrize("version", VERSIONS)
def test_turns_are_the_answers_of_the_model(version):
    """The program counts the turn that its limit prevented as well."""
    assert Played(f"{version}/max_turns").usage.turns == 1
    assert Played(f"{version}/success").usage.turns == 2
    assert Played(f"{version}/empty").usage.turns == 2


@pytest.mark.parametrize("version", VERSIONS)
def test_agents_that_the_model_started_are_counted(version):
    """`usage` of the result lacks them."""
    played = Played(f"{version}/subagent")
    of_the_loop = played.run.stream.result.tokens
    assert played.usage.input_tokens == 10 * played.usage.output_tokens >= 1500
    assert played.usage.input_tokens > of_the_loop.input
    assert played.usage.cost_usd > 0


@pytest.mark.parametrize("version", VERSIONS)
def test_a_run_that_was_ended_used_at_least_what_its_messages_report(version):
    played = Played(f"{version}/success")
    played.run.stream.result = played.run.stream.counted = None
    usage = used(played.run, played.plan)
    assert (usage.turns, usage.is_exact("turns")) == (2, True)
    assert usage.input_tokens == Played(f"{version}/success").usage.input_tokens
    assert not usage.is_exact("inputTokens")
    assert usage.cost_usd is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_hook_of_the_user_that_blocks_is_reported_as_such(version):
    with pytest.raises(BadRequest) as prompt:
        Played(f"{version}/hook_blocks_prompt").reply()
    assert "hook in your settings of Claude Code blocked the prompt" in prompt.value.message
    assert "not this one" in prompt.value.message
    assert "do it" not in prompt.value.message, "the prompt is not repeated"
    with pytest.raises(BadRequest, match=r"blocked the end of the turn: .*not yet"):
        Played(f"{version}/hook_blocks_end").reply()
    once = Played(f"{version}/hook_blocks_end_once")
    assert once.reply().text == "said"
    assert any("not yet" in turn.text for turn in once.told.turns)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_run_without_a_result_is_never_a_success(version):
    """Whatever its exit code: it is 0 for a signal while it waits."""
    for name in (name for name in BY_NAME if name.startswith(version)):
        played = Played(name)
        played.run.stream.result = None
        assert played.kind() is not None
