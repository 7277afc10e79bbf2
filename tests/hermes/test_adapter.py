"""What no recording shows: programs that break, stop, forget or never were there."""

import json
import threading
import time
from pathlib import Path

import pytest
from hermes_kit import transcript

from uwf_agent_acp.agent.permissions import Questions
from uwf_core.api import AgentFailure, Cancel, RunLimits


def until(lines, text):
    """The recording up to the first line that has the text, that line included."""
    at = next(index for index, line in enumerate(lines) if text in line)
    return lines[: at + 1]


def failure_of(desk, agent, **more):
    with pytest.raises(AgentFailure) as failure:
        agent.run(desk.request(**more), desk.sink)
    return failure.value


def test_a_program_that_is_not_there_is_unavailable(desk):
    agent = desk.played("say")
    (desk.root / "hermes").unlink()
    assert failure_of(desk, agent).kind.word == "unavailable"
    assert list(desk.temporary.iterdir()) == []


def test_an_answer_that_is_cut_off_with_its_process_is_truncated(desk):
    lines = until(transcript("say"), "agent_message_chunk")
    failure = failure_of(desk, desk.agent(lines, "--then-exit"))
    assert (failure.kind.word, failure.session) == ("truncated", desk.sink.sessions[0])


def test_a_crash_names_the_code_and_what_was_said(desk):
    agent = desk.agent([])
    (desk.root / "hermes").write_text("#!/bin/sh\necho no module acp\necho why >&2\nexit 3\n")
    failure = failure_of(desk, agent)
    assert failure.kind.word == "crashed"
    assert all(word in failure.message for word in ("3", "why", "no module acp"))


def test_garbage_and_silence_end_at_the_idle_limit(desk):
    limits = RunLimits(seconds=60, idle_seconds=0.5, grace_seconds=0.4)
    agent = desk.agent(["< this is no ACP"], "--then-hang")
    assert failure_of(desk, agent, limits=limits).kind.word == "stalled"


def test_more_than_is_taken_is_too_large(desk):
    agent = desk.agent([])
    (desk.root / "hermes").write_text("#!/bin/sh\nexec cat /dev/zero\n")
    limits = RunLimits(seconds=60, reply_bytes=1000, grace_seconds=0.4)
    assert failure_of(desk, agent, limits=limits).kind.word == "too_large"


def test_a_cancel_ends_the_call_and_keeps_the_session(desk):
    cancel, session = Cancel(), desk.sink.session

    def say_and_cancel_soon(named):
        session(named)
        threading.Timer(0.3, cancel.set, ("Ctrl-C",)).start()

    desk.sink.session = say_and_cancel_soon
    started = time.monotonic()
    failure = failure_of(desk, desk.played("timeout"), cancel=cancel)
    assert (failure.kind.word, failure.session) == ("interrupted", desk.sink.sessions[0])
    assert "Ctrl-C" in failure.message
    assert time.monotonic() - started < 30


def test_a_program_that_hears_nothing_is_ended_all_the_same(desk):
    lines = until(transcript("say"), "session/prompt")
    limits = RunLimits(seconds=0.8, grace_seconds=0.4)
    agent = desk.agent(lines, "--then-hang")
    assert failure_of(desk, agent, limits=limits).kind.word == "timeout"


def test_a_program_that_does_not_end_does_not_hold_up_its_answer(desk):
    reply = desk.played("say", "--then-hang").run(desk.request(), desk.sink)
    assert reply.text == "The answer."


def test_nothing_is_left_in_the_temporary_folder(desk):
    """What Hermes' tools leave there goes with it; files of others stay."""
    (desk.temporary / "mine").touch()
    desk.played("say").run(desk.request(), desk.sink)
    assert [path.name for path in desk.temporary.iterdir()] == ["mine"]


def test_a_prompt_that_begins_with_a_slash_is_no_command_of_hermes(desk):
    """`/reset` would clear the session."""
    agent, heard = desk.played("say"), desk.root / "heard"
    script = desk.root / "hermes"
    script.write_text(script.read_text().replace("exec ", f"tee {heard} | "))
    agent.run(desk.request(prompt=" /reset"), desk.sink)
    said = [json.loads(line) for line in heard.read_text().splitlines()]
    (text,) = (each["params"]["prompt"][0]["text"] for each in said if "prompt" in each["method"])
    assert not text.lstrip().startswith("/")
    assert text.endswith(" /reset")


def test_hermes_gets_its_home_and_variables_from_the_options(desk):
    agent = desk.agent([], home="~/other", environment={"COLOUR": "blue"})
    script = '#!/bin/sh\necho "$HERMES_HOME $COLOUR" >&2\nexit 3\n'
    (desk.root / "hermes").write_text(script)
    message = failure_of(desk, agent).message
    assert f"{Path('~/other').expanduser()} blue" in message


def test_what_was_asked_is_kept_in_private(desk):
    questions = Questions(desk.state / "questions")
    questions.keep("../s", "0" * 64)
    (file,) = (desk.state / "questions").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    questions.forget("../s")
    assert questions.asked("../s") is None
