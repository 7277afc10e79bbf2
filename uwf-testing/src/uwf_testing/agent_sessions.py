"""The clauses about sessions: an agent never passes another one off as that of the role."""

import pytest

from uwf_core.errors import AgentFailure, FailureKind
from uwf_testing.agent_setting import AgentSetting
from uwf_testing.contract import needs
from uwf_testing.harness import Replied, Rig, described
from uwf_testing.peer import Act

_ONE = Act(do="say", text="the first answer")
_TWO = Act(do="say", text="the second answer")
_THREE = Act(do="say", text="the third answer")


class SessionClauses(AgentSetting):
    """Continuing, losing, forking and asking sessions."""

    @needs("say", capability="continue")
    def test_a_session_is_continued_and_proven(self, rig: Rig) -> None:
        """The agent that was closed and made anew continues the session it had, and says what it
        saw that shows it.
        """
        first = _started(rig)
        second = rig.reply(_TWO, session=first.session)
        assert second.session == first.session
        assert second.reply.continuation == "continued"
        assert second.reply.proof, "there is no proof"
        assert second.reply.text == _TWO.text

    @needs("say", "knows", capability="continue")
    def test_a_continued_session_knows_what_was_said(self, rig: Rig) -> None:
        """Both prompts have reached the peer in one and the same session."""
        first = rig.reply(_ONE, prompt="the first prompt")
        rig.reply(_TWO, session=first.session, prompt="the second prompt")
        known = "\n".join(rig.peer.knows(first.session))
        assert "the first prompt" in known
        assert "the second prompt" in known

    @needs("say", capability="continue")
    def test_a_new_session_is_a_new_one(self, rig: Rig) -> None:
        """Where none is to be continued, none is."""
        first, second = _started(rig), _started(rig)
        assert first.session != second.session
        assert {first.reply.continuation, second.reply.continuation} == {"new"}

    @needs("say", capability="continue")
    def test_a_session_is_told_as_soon_as_it_is_known(self, rig: Rig) -> None:
        """To the sink, so that it is kept if the process dies before the reply."""
        first = _started(rig)
        assert first.told.sessions, "the sink was told no session"
        assert first.told.sessions[-1] == first.session

    @needs("say", "lost", capability="continue")
    def test_a_session_that_is_gone_is_reported(self, rig: Rig) -> None:
        """`session_lost`; no new one is begun in its place."""
        first = _started(rig)
        rig.failure(Act(do="lost"), FailureKind.SESSION_LOST, session=first.session)

    @needs("say", "replaced", capability="continue")
    def test_a_session_that_was_replaced_is_never_accepted(self, rig: Rig) -> None:
        """The peer begins a new one without a word: the adapter notices, or shows no proof."""
        first = _started(rig)
        act = Act(do="replaced", text="as if nothing had happened")
        rig.failure(act, FailureKind.SESSION_LOST, session=first.session)

    @needs("usage", capability="continue")
    def test_usage_is_of_this_call_alone(self, rig: Rig) -> None:
        """Not of the whole session so far."""
        if "usage" not in rig.capabilities():
            pytest.skip(f"{rig.name} does not declare 'usage'")
        from uwf_testing.agent_answers import SOME_USAGE

        act = Act(do="usage", text="done", usage=SOME_USAGE)
        first = rig.reply(act)
        second = rig.reply(act, session=first.session).reply.usage
        assert second.input_tokens == SOME_USAGE.input_tokens
        assert second.output_tokens == SOME_USAGE.output_tokens

    @needs("say", capability="fork")
    def test_a_fork_is_another_session(self, rig: Rig) -> None:
        """Both it and its origin can be continued, each as itself."""
        first = _started(rig)
        forked = rig.fork(first.session, _TWO)
        assert forked != first.session
        in_fork = rig.reply(_TWO, session=forked)
        in_origin = rig.reply(_THREE, session=first.session)
        assert (in_fork.session, in_origin.session) == (forked, first.session)

    @needs("say", "knows", capability="fork")
    def test_a_fork_tells_its_origin_nothing(self, rig: Rig) -> None:
        """It knows what the origin knew, and the origin hears nothing of what follows."""
        first = rig.reply(_ONE, prompt="said before the fork")
        forked = rig.fork(first.session, _TWO)
        rig.reply(_TWO, session=forked, prompt="said in the fork")
        origin, fork = (list(rig.peer.knows(each)) for each in (first.session, forked))
        assert any("said before the fork" in text for text in fork), f"the fork knows {fork}"
        assert not any("said in the fork" in text for text in origin), f"the origin knows {origin}"

    @needs("say", "lost", capability="fork")
    def test_a_session_that_is_gone_cannot_be_forked(self, rig: Rig) -> None:
        """`session_lost`, as for continuing."""
        first = _started(rig)
        try:
            forked = rig.fork(first.session, Act(do="lost"))
        except AgentFailure as error:
            assert error.kind is FailureKind.SESSION_LOST, described(error)
        else:
            pytest.fail(f"it is forked to {forked!r}")

    @needs("say", capability="ask")
    def test_a_question_to_a_session_is_answered(self, rig: Rig) -> None:
        """By the text that the peer says, byte for byte."""
        session = _session_to_ask(rig)
        text = "  The answer: ä \U0001f680\n\n"
        reply = rig.answer(Act(do="say", text=text), "Why?", session=session).reply
        assert reply.text == text

    @needs("say", "knows", capability="ask")
    def test_a_question_to_a_fork_leaves_the_session_alone(self, rig: Rig) -> None:
        """What was asked is not part of the session that a later step continues."""
        if "fork" not in rig.capabilities():
            pytest.skip(f"{rig.name} does not declare 'fork'")
        first = _started(rig)
        before = list(rig.peer.knows(first.session))
        rig.answer(_TWO, "Why did you?", session=rig.fork(first.session, _TWO))
        assert list(rig.peer.knows(first.session)) == before

    @needs("say", capability="ask")
    def test_a_question_without_a_session_is_answered_from_the_record(self, rig: Rig) -> None:
        """The agent is told the record, and does not claim to remember."""
        record = "# What was done\n\nThe record of the step."
        reply = rig.answer(_TWO, "Why?", session=None, record=record).reply
        assert reply.continuation == "new", "it claims to have continued a session"
        if rig.peer.why_not("heard") is None:
            assert any(record in text for text in rig.peer.heard()), "the record was not sent"


def _started(rig: Rig) -> Replied:
    """A first call; its session."""
    first = rig.reply(_ONE)
    assert first.session, "an agent that can continue names its session"
    return first


def _session_to_ask(rig: Rig) -> str | None:
    """A session as `uwf step ask` asks one: a fork, or none where the agent cannot fork."""
    if "fork" not in rig.capabilities():
        return None
    return rig.fork(_started(rig).session, _TWO)
