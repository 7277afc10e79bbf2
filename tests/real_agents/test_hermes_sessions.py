"""Sessions, limits, permissions and usage with the real Hermes, called as the engine calls it."""

import os
import subprocess
from dataclasses import replace

import pytest
from hermes_warm import Warm
from hermes_world import World, text_of, tool

from uwf_core.api import AgentFailure, NeedsAnswer, RunLimits
from uwf_testing.harness import RecordingSink

pytestmark = pytest.mark.timeout(300)  # a start takes seconds, and more on a busy machine

RM = tool("terminal", command="rm -rf ./build")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("hermes"), os.environ["UWF_REAL_HERMES"])
    warm = Warm(world.root, world.program, {**world.env, "HERMES_HOME": str(world.home)})
    try:
        warm.wait()
        world.options["command"] = str(warm.program)
        yield world
    finally:
        warm.close()
        world.close()


def used(text, fresh, output, cached, *calls):
    usage = {"inputTokens": fresh, "outputTokens": output, "cacheReadTokens": cached}
    return {"text": text, "usage": usage, "toolCalls": list(calls)}


def counts(reply):
    usage = reply.usage
    return usage.input_tokens, usage.output_tokens, usage.cache_read_tokens


def test_usage_is_of_each_call_alone_and_without_the_cached_tokens(world):
    look = tool("terminal", command="true")
    first = world.agent().run(
        world.request(used("I look.", 10, 2, 70, look), used("One.", 20, 3, 80)), RecordingSink()
    )
    second = world.agent().run(
        world.request(used("Two.", 5, 1, 100), session=first.session), RecordingSink()
    )
    assert counts(first) == (30, 5, 150)
    assert counts(second) == (5, 1, 100)


def test_an_answer_after_an_edit_of_code_is_the_last_word(world, tmp_path):
    """Hermes itself would ask its model for a verification, and add its answers to the reply."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    edit = tool("write_file", path=str(tmp_path / "sum.py"), content="total = 1 + 1\n")
    request = world.request({"text": "I edit.", "toolCalls": [edit]}, "Done.", "More words.")
    reply = world.agent(permission="allow").run(
        replace(request, cwd=str(tmp_path), trusted=True), RecordingSink()
    )
    assert (tmp_path / "sum.py").exists()
    assert reply.text == "Done."
    assert len(world.heard(request.prompt)) == 2


def test_a_call_that_timed_out_in_a_tool_goes_on_in_its_session(world):
    """A cancel leaves the session of that process wedged; the next call has another one."""
    sink = RecordingSink()
    slow = {"text": "I wait.", "toolCalls": [tool("terminal", command="sleep 600")]}
    request = world.request(slow, prompt="Wait for it.", limits=limits_of(world))
    with pytest.raises(AgentFailure) as failure:
        world.agent().run(request, sink)
    assert (failure.value.kind.word, failure.value.session) == ("timeout", sink.sessions[0])
    again = world.request("I went on.", session=failure.value.session)
    reply = world.agent().run(again, RecordingSink())
    assert (reply.text, reply.session) == ("I went on.", sink.sessions[0])
    earlier = [text_of(message) for message in world.heard(again.prompt)[0].messages]
    assert any("Wait for it." in text for text in earlier)


def limits_of(world):
    """Enough to start Hermes and come to the tool on this machine, busy as it is."""
    import time

    started = time.monotonic()
    world.agent().run(world.request("Ready."), RecordingSink())
    return RunLimits(seconds=3 * (time.monotonic() - started) + 3, grace_seconds=2.0)


def test_a_session_that_hermes_does_not_know_is_lost(world):
    request = world.request("No.", session="00000000-dead-4000-8000-000000000000")
    with pytest.raises(AgentFailure) as failure:
        world.agent().run(request, RecordingSink())
    assert failure.value.kind.word == "session_lost"
    assert world.heard(request.prompt) == []


def test_the_limit_of_the_user_on_turns_ends_the_call(world):
    look = {"text": "Once more.", "toolCalls": [tool("terminal", command="true")]}
    with pytest.raises(AgentFailure) as failure:
        world.agent(max_turns=2).run(world.request(look), RecordingSink())
    assert failure.value.kind.word == "max_turns"


def test_a_person_is_asked_and_the_answer_holds_for_that_alone(world):
    build = world.work / "build"
    build.mkdir()
    sink = RecordingSink()
    with pytest.raises(NeedsAnswer, match="rm -rf"):
        world.agent().run(world.request({"toolCalls": [RM]}, "Done."), sink)
    assert build.exists()
    answered = world.request(
        {"toolCalls": [RM]},
        "Done.",
        session=sink.sessions[0],
        answer={"decision": "allow"},
        purpose="resume",
    )
    assert world.agent().run(answered, RecordingSink()).text == "Done."
    assert not build.exists()


def test_a_prompt_that_begins_with_a_slash_reaches_the_model(world):
    request = world.request("It stands.", prompt="/reset the counter, please")
    assert world.agent().run(request, RecordingSink()).text == "It stands."
