"""What the real program said, played again: every end of a turn is an answer or its own failure."""

import json

import pytest
from hermes_kit import TRANSCRIPTS, VERSIONS, heard, session_of, transcript

from uwf_agent_hermes.diagnosis import read_log
from uwf_agent_hermes.failures import failure_of_end
from uwf_core.api import AgentFailure, NeedsAnswer, RunLimits

FAILURES = {
    "auth": "auth",
    "forbidden": "auth",
    "no-credit": "auth",
    "no-model": "bad_request",
    "rate-limited": "rate_limited",
    "bad-request": "bad_request",
    "unavailable": "unavailable",
    "context-too-long": "context_too_long",
    "cut": "truncated",
    "cut-quietly": "truncated",
    "output-limit": "truncated",
    "filtered": "refused",
    "refused": "empty",
    "empty": "empty",
    "garbage": "truncated",
    "auth-after-tool": "auth",
    "max-turns": "max_turns",
    "dead-port": "unavailable",
}
SHORT = RunLimits(seconds=5.0, grace_seconds=0.4)


def recorded_failures():
    """Each case in each version, but one: Hermes 0.18 takes a stream that ends early, without an
    error, for a whole answer, and says nothing by which to tell.
    """
    return [
        (name, version)
        for version in VERSIONS
        for name in FAILURES
        if (name, version) != ("cut-quietly", "0.18.2")
    ]


@pytest.mark.parametrize(("name", "version"), recorded_failures())
def test_a_turn_that_failed_is_the_failure_that_it_is(name, version):
    """Though Hermes ends it like one that went well. The session is known, so it can go on."""
    found = heard(name, version)
    text = found.teller.final_text
    failure = failure_of_end(found.end, text, read_log(found.log), found.session)
    assert failure is not None
    assert (failure.kind.word, failure.session) == (FAILURES[name], session_of(name, version))


@pytest.mark.parametrize("name", ["auth-after-tool", "cut", "empty", "max-turns"])
def test_a_failure_comes_out_of_the_adapter(desk, name):
    """The log, which tells what the protocol does not, is that of the process."""
    with pytest.raises(AgentFailure) as failure:
        desk.played(name).run(desk.request(), desk.sink)
    assert failure.value.kind.word == FAILURES[name]
    assert failure.value.session == session_of(name) == desk.sink.sessions[0]


def test_hermes_without_a_model_is_unavailable(desk):
    with pytest.raises(AgentFailure, match="No LLM provider configured") as failure:
        desk.played("unconfigured").run(desk.request(), desk.sink)
    assert failure.value.kind.word == "unavailable"


@pytest.mark.parametrize("version", VERSIONS)
def test_answers_and_turns_are_read_in_every_version(version):
    found = heard("tools", version)
    assert failure_of_end(found.end, "Done.", read_log(found.log), found.session) is None
    assert found.teller.final_text == "Done."
    assert (found.teller.turns, found.end.usage.input) == (3, 300)


def test_an_answer_is_the_text_with_usage_model_and_version(desk):
    reply = desk.played("say").run(desk.request(), desk.sink)
    assert (reply.text, reply.continuation, reply.proof) == ("The answer.", "new", None)
    assert reply.session == session_of("say")
    assert (reply.agent_version, reply.model) == (VERSIONS[-1], "custom:scripted")
    counts = (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cache_read_tokens)
    assert counts == (20, 5, 80)
    assert reply.usage.turns == 1


def test_interim_texts_stay_apart_from_the_final_one(desk):
    """Each turn has its text and its tools; the reply is what was said after the last tool."""
    reply = desk.played("tools").run(desk.request(), desk.sink)
    turns = desk.sink.last_turns()
    assert reply.text == "Done."
    assert [turn.text for turn in turns] == ["I write.", "I look.", "Done."]
    assert [turn.index for turn in turns] == [0, 1, 2]
    assert turns[1].reasoning == "Is it there?"
    assert [call.name for turn in turns for call in turn.tool_calls] == ["write", "terminal"]
    assert "hi" in turns[1].tool_calls[0].result


def test_usage_is_the_sum_over_the_turns_of_the_call(desk):
    usage = desk.played("tools").run(desk.request(), desk.sink).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (60, 15, 240)
    assert usage.turns == 3


def test_tokens_that_nobody_counted_are_unknown(desk):
    usage = desk.played("no-usage").run(desk.request(), desk.sink).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (None, None, None)


def test_a_replayed_transcript_is_proof_and_never_an_answer(desk):
    session = session_of("continued")
    reply = desk.played("continued").run(desk.request(session=session), desk.sink)
    assert reply.text == "The second answer."
    assert [turn.text for turn in desk.sink.last_turns()] == ["The second answer."]
    assert (reply.session, reply.continuation) == (session, "continued")
    assert "replayed 2 messages" in reply.proof


def test_a_session_goes_on_after_it_was_cancelled_in_a_tool(desk):
    session = session_of("timeout-in-tool")
    agent = desk.played("continued-after-timeout")
    reply = agent.run(desk.request(session=session), desk.sink)
    assert (reply.text, reply.session) == ("I go on.", session)


def test_a_session_that_hermes_does_not_know_is_lost(desk):
    with pytest.raises(AgentFailure) as failure:
        desk.played("lost").run(desk.request(session=session_of("lost")), desk.sink)
    assert failure.value.kind.word == "session_lost"


def test_a_session_of_which_nothing_is_recorded_is_lost(desk):
    """`modes` alone is not believed: a session that holds nothing cannot know anything."""
    lines = [line for line in transcript("continued") if "_message_chunk" not in line]
    with pytest.raises(AgentFailure) as failure:
        desk.agent(lines).run(desk.request(session=session_of("continued")), desk.sink)
    assert failure.value.kind.word == "session_lost"


def test_a_fork_is_a_session_of_its_own(desk):
    session = session_of("fork")
    forked = desk.played("fork").fork(session, desk.request())
    assert forked != session


def test_a_fork_of_a_session_that_is_not_known_is_lost(desk):
    with pytest.raises(AgentFailure) as failure:
        desk.played("fork-lost").fork(session_of("fork-lost"), desk.request())
    assert failure.value.kind.word == "session_lost"


def test_a_tool_that_is_denied_by_policy_is_shown_and_no_failure(desk):
    reply = desk.played("denied", permission="deny").run(desk.request(), desk.sink)
    assert reply.text == "Not done."
    assert reply.denials == ("recursive delete: rm -rf ./build",)


def test_a_tool_that_is_allowed_by_policy_is_no_denial(desk):
    reply = desk.played("allowed", permission="allow").run(desk.request(), desk.sink)
    assert (reply.text, reply.denials) == ("Done.", ())


def test_a_person_is_asked_where_the_policy_says_so(desk):
    with pytest.raises(NeedsAnswer) as question:
        desk.played("asked").run(desk.request(), desk.sink)
    assert "rm -rf ./build" in question.value.message
    assert question.value.form["properties"]["decision"]["enum"] == ["allow", "deny"]


@pytest.mark.parametrize(("case", "decision"), [("allowed", "allow"), ("denied", "deny")])
def test_the_answer_of_a_person_holds_for_what_was_asked(desk, case, decision):
    session = session_of("asked")
    with pytest.raises(NeedsAnswer):
        desk.played("asked").run(desk.request(), desk.sink)
    lines = _loaded(transcript(case), session)
    request = desk.request(session=session, answer={"decision": decision}, purpose="resume")
    reply = desk.agent(lines, mode="accept_edits").run(request, desk.sink)
    assert bool(reply.denials) == (decision == "deny")


def test_the_answer_of_a_person_holds_for_nothing_else(desk):
    session = session_of("asked")
    with pytest.raises(NeedsAnswer):
        desk.played("asked").run(desk.request(), desk.sink)
    other = [line.replace("./build", "./everything") for line in transcript("asked")]
    request = desk.request(session=session, answer={"decision": "allow"})
    with pytest.raises(NeedsAnswer, match="everything"):
        desk.agent(_loaded(other, session)).run(request, desk.sink)


def _loaded(lines, session):
    """A recording that began a session, as if it had loaded one that holds a message."""
    message = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "x"}}
    update = {"method": "session/update", "params": {"sessionId": session, "update": message}}
    of_new = next(line for line in lines if '"session/new"' in line)
    at, id_ = lines.index(of_new), json.loads(of_new[2:])["id"]
    began = next(line for line in lines[at:] if line.startswith("<") and "modes" in line)
    first = json.loads(began[2:])["result"]["sessionId"]
    load = json.dumps({"id": id_, "method": "session/load", "params": {"sessionId": session}})
    whole = [*lines[:at], f"> {load}", f"< {json.dumps(update)}", *lines[at + 1 :]]
    return [line.replace(first, session) for line in whole]


def test_the_limit_of_the_user_on_turns_ends_the_call(desk):
    with pytest.raises(AgentFailure) as failure:
        desk.played("own-max-turns", max_turns=2).run(desk.request(), desk.sink)
    assert failure.value.kind.word == "max_turns"
    assert failure.value.session == session_of("own-max-turns")


@pytest.mark.parametrize("name", ["timeout", "timeout-in-tool"])
def test_at_the_time_limit_hermes_is_asked_to_stop_and_the_session_is_kept(desk, name):
    """In the recording a cancel follows: the peer fails where none comes."""
    with pytest.raises(AgentFailure) as failure:
        desk.played(name).run(desk.request(limits=SHORT), desk.sink)
    assert failure.value.kind.word == "timeout"
    assert failure.value.session == session_of(name)


def test_model_and_mode_are_those_of_the_options(desk):
    """The recording has `session/set_mode` and `session/set_model`, and waits for them."""
    options = {"model": "other", "provider": "custom", "mode": "dont_ask"}
    reply = desk.played("model", **options).run(desk.request(), desk.sink)
    assert reply.model == "custom:other"


def test_a_mode_that_hermes_does_not_have_is_refused(desk):
    """Hermes would take it without a word, and ask for every edit."""
    with pytest.raises(AgentFailure, match="no mode 'yolo'") as failure:
        desk.played("say", mode="yolo").run(desk.request(), desk.sink)
    assert failure.value.kind.word == "bad_request"
    assert "accept_edits" in failure.value.hint


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_recorded_has_every_case(version):
    names = {path.stem for path in (TRANSCRIPTS / version).iterdir()}
    assert set(FAILURES) <= names
