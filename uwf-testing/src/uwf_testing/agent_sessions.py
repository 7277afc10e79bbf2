"""The clauses about sessions: an agent continues only the session of the role."""

import pytest

from uwf_core.agents.supervise import speaks_from
from uwf_core.errors import AgentFailure, FailureKind
from uwf_testing.agent_answers import SOME_USAGE
from uwf_testing.agent_fixtures import AgentFixtures
from uwf_testing.contract import needs
from uwf_testing.harness import PREAMBLE, Harness, Replied, described
from uwf_testing.peer import Act

_ONE = Act(do="say", text="the first answer")
_TWO = Act(do="say", text="the second answer")
_THREE = Act(do="say", text="the third answer")


class SessionClauses(AgentFixtures):
    """Sessions that are continued, lost, forked and asked."""

    @needs("say", capability="continue")
    def test_a_session_is_continued_and_proven(self, harness: Harness) -> None:
        """An agent that was closed and opened again continues its session and returns a proof."""
        first = _started(harness)
        second = harness.reply(_TWO, session=first.session)
        assert second.session == first.session
        assert second.reply.continuation == "continued"
        assert second.reply.proof, "there is no proof"
        assert second.reply.text == _TWO.text

    @needs("say", "knows", capability="continue")
    def test_a_continued_session_knows_what_was_said(self, harness: Harness) -> None:
        """The peer gets both prompts in the same session."""
        first = harness.reply(_ONE, prompt="the first prompt")
        harness.reply(_TWO, session=first.session, prompt="the second prompt")
        known = "\n".join(harness.peer.knows(first.session))
        assert "the first prompt" in known
        assert "the second prompt" in known

    @needs("say", "heard", capability="continue")
    def test_a_prompt_to_a_session_arrives_whole(self, harness: Harness) -> None:
        """A continued session gets the whole prompt, too, not only its instruction."""
        first = _started(harness)
        harness.reply(_TWO, session=first.session, prompt="the second prompt")
        sent = f"{PREAMBLE}the second prompt"
        assert any(sent in text for text in harness.peer.heard()), "the whole prompt was not sent"

    @needs("say", "knows", capability="continue")
    def test_a_session_keeps_every_message(self, harness: Harness) -> None:
        """The third call of a session continues the second one, not the first one again."""
        first = harness.reply(_ONE, prompt="the first prompt")
        harness.reply(_TWO, session=first.session, prompt="the second prompt")
        harness.reply(_THREE, session=first.session, prompt="the third prompt")
        known = "\n".join(harness.peer.knows(first.session))
        missing = [each for each in ("first", "second", "third") if f"the {each} p" not in known]
        assert not missing, f"the session lost its {' and '.join(missing)} prompt"

    @needs("say", capability="continue")
    def test_a_new_session_is_a_new_one(self, harness: Harness) -> None:
        """A call without a session starts a new one."""
        first, second = _started(harness), _started(harness)
        assert first.session != second.session
        assert {first.reply.continuation, second.reply.continuation} == {"new"}

    @needs("say", capability="continue")
    def test_a_session_is_reported_as_soon_as_it_is_known(self, harness: Harness) -> None:
        """The sink gets the session before the reply, so that it survives a crash."""
        first = _started(harness)
        assert first.sink.sessions, "no session was reported to the sink"
        assert first.sink.sessions[-1] == first.session

    @needs("say", "lost", capability="continue")
    def test_a_session_that_is_gone_is_reported(self, harness: Harness) -> None:
        """A missing session is `session_lost`; the agent starts no other one instead."""
        first = _started(harness)
        harness.failure(Act(do="lost"), FailureKind.SESSION_LOST, session=first.session)

    @needs("say", "replaced", capability="continue")
    def test_a_session_that_was_replaced_is_never_accepted(self, harness: Harness) -> None:
        """If the peer silently starts a new session, the adapter detects it or returns no proof."""
        first = _started(harness)
        act = Act(do="replaced", text="as if nothing had happened")
        harness.failure(act, FailureKind.SESSION_LOST, session=first.session)

    @needs("usage", capability="continue", also=("usage",))
    def test_usage_is_of_this_call_alone(self, harness: Harness) -> None:
        """The usage is that of the call, not of the whole session so far."""
        act = Act(do="usage", text="done", usage=SOME_USAGE)
        first = harness.reply(act)
        second = harness.reply(act, session=first.session).reply.usage
        assert second.input_tokens == SOME_USAGE.input_tokens
        assert second.output_tokens == SOME_USAGE.output_tokens

    @needs("say", capability="fork")
    def test_a_fork_is_another_session(self, harness: Harness) -> None:
        """The fork and its origin can both be continued, each under its own id."""
        first = _started(harness)
        forked = harness.fork(first.session, _TWO)
        assert forked != first.session
        in_fork = harness.reply(_TWO, session=forked)
        in_origin = harness.reply(_THREE, session=first.session)
        assert (in_fork.session, in_origin.session) == (forked, first.session)

    @needs("say", "knows", capability="fork")
    def test_a_fork_tells_its_origin_nothing(self, harness: Harness) -> None:
        """The fork has the origin's history; the origin gets nothing of the fork's."""
        first = harness.reply(_ONE, prompt="said before the fork")
        before = list(harness.peer.knows(first.session))
        forked = harness.fork(first.session, _TWO)
        harness.reply(_TWO, session=forked, prompt="said in the fork")
        origin, fork = (list(harness.peer.knows(each)) for each in (first.session, forked))
        assert any("said before the fork" in text for text in fork), f"the fork knows {fork}"
        assert origin == before, f"the origin knows {origin}"

    @needs("say", "knows", capability="fork")
    def test_a_fork_at_a_mark_ends_there(self, harness: Harness) -> None:
        """If a reply has a mark, a fork at it knows nothing that was said later in the session."""
        first = harness.reply(_ONE, prompt="said before the mark")
        mark = first.reply.mark
        if mark is None:
            pytest.skip(f"{harness.name} returns no marks")
        harness.reply(_TWO, session=first.session, prompt="said after the mark")
        forked = harness.fork(first.session, _THREE, at=mark)
        harness.reply(_THREE, session=forked, prompt="said in the fork")
        known = "\n".join(harness.peer.knows(forked))
        assert "said before the mark" in known, f"the fork knows {known!r}"
        assert "said after the mark" not in known, f"the fork knows {known!r}"

    @needs("say", "lost", capability="fork")
    def test_a_session_that_is_gone_cannot_be_forked(self, harness: Harness) -> None:
        """Forking a missing session is `session_lost`."""
        first = _started(harness)
        try:
            forked = harness.fork(first.session, Act(do="lost"))
        except AgentFailure as error:
            assert error.kind is FailureKind.SESSION_LOST, described(error)
        else:
            pytest.fail(f"it is forked to {forked!r}")

    @needs("say", capability="ask")
    def test_a_question_to_a_session_is_answered(self, harness: Harness) -> None:
        """The answer to a question is the peer's text, byte for byte."""
        session = _session_to_ask(harness)
        text = "  The answer: ä \U0001f680\n\n"
        reply = harness.answer(Act(do="say", text=text), "Why?", session=session).reply
        assert reply.text == text

    @needs("say", "knows", capability="ask", also=("fork",))
    def test_a_question_is_asked_in_its_session(self, harness: Harness) -> None:
        """The question goes to the session that it is for, with all that was said there."""
        first = harness.reply(_ONE, prompt="said before the question")
        session = harness.fork(first.session, _TWO)
        reply = harness.answer(_TWO, "Why did you?", session=session).reply
        assert speaks_from(reply, session), "it does not prove that the session answers"
        known = "\n".join(harness.peer.knows(reply.session or session))
        assert "said before the question" in known, "another session was asked"
        assert "Why did you?" in known, "the session was not asked"

    @needs("say", "offered", capability="ask", also=("tools",))
    def test_a_question_narrows_the_tools_as_well(self, harness: Harness) -> None:
        """With `tools`, a question offers the model no others."""
        harness.reply(_ONE)
        offered = sorted(harness.peer.offered())
        for tools in (tuple(offered[:1]), ()):
            session = _session_to_ask(harness)
            harness.answer(_TWO, "Why?", session=session, tools=tools)
            others = sorted(set(harness.peer.offered()) - set(tools))
            assert not others, f"the question offers {', '.join(others)} as well"

    @needs("say", "knows", capability="ask", also=("fork",))
    def test_a_question_to_a_fork_leaves_the_session_alone(self, harness: Harness) -> None:
        """The question and its answer do not enter the session that a later step continues."""
        first = _started(harness)
        before = list(harness.peer.knows(first.session))
        harness.answer(_TWO, "Why did you?", session=harness.fork(first.session, _TWO))
        assert list(harness.peer.knows(first.session)) == before

    @needs("say", capability="ask")
    def test_a_question_without_a_session_is_answered_from_the_record(
        self, harness: Harness
    ) -> None:
        """The agent gets the record and does not claim to remember the session."""
        record = "# What was done\n\nThe record of the step."
        reply = harness.answer(_TWO, "Why?", session=None, record=record).reply
        assert reply.continuation == "new", "it claims to have continued a session"
        if harness.peer.why_not("heard") is None:
            assert any(record in text for text in harness.peer.heard()), "the record was not sent"


def _started(harness: Harness) -> Replied:
    """A first call; its session."""
    first = harness.reply(_ONE)
    assert first.session, "an agent that can continue names its session"
    return first


def _session_to_ask(harness: Harness) -> str | None:
    """The session for a question, as in `uwf step ask`: a fork, or none without forks."""
    if "fork" not in harness.capabilities():
        return None
    return harness.fork(_started(harness).session, _TWO)
