"""The clauses about failures and time limits."""

import threading
import time

import pytest

from uwf_core.api.agent import Turn
from uwf_core.cas.schemas import schema_problems
from uwf_core.errors import AgentFailure, FailureKind, NeedsAnswer
from uwf_core.process.cancel import Cancel
from uwf_testing.agent_fixtures import AgentFixtures
from uwf_testing.contract import needs
from uwf_testing.harness import Harness, Outcome, described, failed
from uwf_testing.peer import Act
from uwf_testing.surroundings import threads_left

UNTIL_MS = int(time.time()) * 1000 + 3_600_000


class FailureClauses(AgentFixtures):
    """An agent reports each failure with its kind from the closed table."""

    @needs("missing")
    def test_a_missing_program_is_unavailable(self, harness: Harness) -> None:
        """A missing program or service is `unavailable`."""
        harness.failure(Act(do="missing"), FailureKind.UNAVAILABLE)

    @needs("crash")
    def test_a_nonzero_exit_is_a_crash(self, harness: Harness) -> None:
        """A nonzero exit code is `crashed`; the agent invents no answer."""
        harness.failure(Act(do="crash", code=3), FailureKind.CRASHED)

    @needs("garbage")
    def test_garbage_is_a_failure(self, harness: Harness) -> None:
        """Output in a wrong format is a failure of its kind, not an exception of the adapter."""
        harness.failure(Act(do="garbage"))

    @needs("cut")
    def test_a_cut_answer_is_a_failure(self, harness: Harness) -> None:
        """Half an answer does not count as an answer."""
        text = "the first half of the answer, and the second half of it"
        harness.failure(Act(do="cut", text=text), FailureKind.TRUNCATED, FailureKind.CRASHED)

    @needs("silence")
    def test_silence_is_empty(self, harness: Harness) -> None:
        """A peer that ends well without an answer is `empty`; the agent invents no answer."""
        harness.failure(Act(do="silence"), FailureKind.EMPTY)

    @needs("fail")
    def test_each_failure_has_its_kind(self, harness: Harness) -> None:
        """Every kind of failure that the peer can cause arrives as that kind."""
        wrong = []
        for word in harness.peer.kinds:
            outcome = harness.call(harness.request(Act(do="fail", kind=word)))
            error = outcome.error
            if not isinstance(error, AgentFailure) or error.kind is not FailureKind.of(word):
                wrong.append(f"{word} arrives as {_described(outcome)}")
        assert harness.peer.kinds, "the peer can fail, and its `kinds` are empty"
        assert not wrong, "; ".join(wrong)

    @needs("fail")
    def test_the_end_of_a_limit_is_in_ms_since_1970(self, harness: Harness) -> None:
        """`until_ms` of a failure is None or milliseconds since 1970, not seconds or a duration."""
        if "rate_limited" not in harness.peer.kinds:
            pytest.skip("the peer's `kinds` have no 'rate_limited'")
        act = Act(do="fail", kind="rate_limited", until_ms=UNTIL_MS)
        until = harness.failure(act, FailureKind.of("rate_limited")).until_ms
        assert until is None or 10**11 < until < 10**14, f"it is {until}, not ms since 1970"

    @needs("say_bytes")
    def test_bytes_that_are_not_text_break_nothing(self, harness: Harness) -> None:
        """NUL and invalid UTF-8 in an answer are replaced, or are a failure of its kind."""
        data = b"before \xff\xfe\x00\xed\xa0\x80\xc3 after"
        outcome = harness.call(harness.request(Act(do="say_bytes", data=data)))
        if outcome.reply is None:
            error = outcome.error
            right = isinstance(error, AgentFailure) and error.kind is not FailureKind.INTERNAL
            assert right, f"it breaks the adapter: {described(error)}"
        else:
            text = outcome.reply.text or ""
            assert "before " in text, f"what was text is lost: {text!r}"
            assert " after" in text, f"what was text is lost: {text!r}"

    @needs("say")
    def test_a_reply_over_the_limit_is_too_large(self, harness: Harness) -> None:
        """A reply over the limit is rejected as `too_large`, not cut."""
        limits = harness.run_limits(
            harness.limits.call_seconds, reply_bytes=harness.limits.reply_bytes
        )
        text = "too much " * (harness.limits.reply_bytes // 4)
        harness.failure(Act(do="say", text=text), FailureKind.TOO_LARGE, limits=limits)

    @needs("question")
    def test_a_question_to_a_person_has_a_form(self, harness: Harness) -> None:
        """An agent that needs a person raises `NeedsAnswer` with a JSON Schema of the answer."""
        outcome = harness.call(harness.request(Act(do="question", text="May I?")))
        error = outcome.error
        assert isinstance(error, NeedsAnswer), f"it gave {_described(outcome)}"
        assert "May I?" in error.message
        assert error.form, "the form is empty"
        assert not schema_problems(error.form), "the form is not a JSON Schema"

    @needs("say_answer")
    def test_the_answer_of_a_person_arrives(self, harness: Harness) -> None:
        """After a question, the peer gets the answer of the person (`request.answer`)."""
        answer = {"reason": "ä person permits it"}
        act = Act(do="say_answer", name="reason")
        reply = harness.reply(act, answer=answer, purpose="resume").reply
        assert reply.text == answer["reason"]


class TimeClauses(AgentFixtures):
    """An agent stops at its time limit and on cancel, and so does everything that it started."""

    @needs("hang")
    def test_a_hang_ends_at_the_time_limit(self, harness: Harness) -> None:
        """A call that hangs before any answer ends on time with `timeout`."""
        outcome = harness.call(harness.request(Act(do="hang"), limits=harness.hanging()))
        _check_stopped(harness, outcome)

    @needs("hang_after")
    def test_a_hang_after_the_answer_ends_at_the_time_limit(self, harness: Harness) -> None:
        """A call that hangs after its answer ends on time: with the whole answer, or with
        `timeout`.
        """
        text = "the whole answer"
        outcome = harness.call(
            harness.request(Act(do="hang_after", text=text), limits=harness.hanging())
        )
        if outcome.reply is None:
            _check_stopped(harness, outcome)
        else:
            assert outcome.reply.text == text
            assert outcome.seconds <= harness.latest_end(harness.limits.hang_seconds)

    @needs("hang")
    def test_cancel_ends_the_call(self, harness: Harness) -> None:
        """Cancel ends the call with `interrupted`, long before its time limit."""
        cancel = Cancel()
        timer = threading.Timer(harness.limits.cancel_seconds, cancel.set, ("the kit",))
        timer.start()
        outcome = harness.call(harness.request(Act(do="hang"), cancel=cancel))
        timer.join()
        failed(outcome, Act(do="hang"), FailureKind.INTERRUPTED)
        assert outcome.seconds <= harness.latest_end(harness.limits.cancel_seconds)

    @needs("spawn")
    def test_a_timeout_leaves_no_process(self, harness: Harness) -> None:
        """A time-out ends every process of the call, even one that has left its session."""
        outcome = harness.call(harness.request(Act(do="spawn"), limits=harness.hanging()))
        left = harness.processes_left()
        assert outcome.reply is None
        assert left == 0, f"{left} processes were left behind"

    @needs("spawn_and_say")
    def test_a_finished_call_leaves_no_process(self, harness: Harness) -> None:
        """A process that a program left in the background ends with the call."""
        outcome = harness.call(harness.request(Act(do="spawn_and_say", text="done")))
        left = harness.processes_left()
        assert outcome.reply is not None, f"it gave {_described(outcome)}"
        assert left == 0, f"{left} processes were left behind"

    @needs("say")
    def test_a_finished_call_leaves_no_thread(self, harness: Harness) -> None:
        """A closed agent leaves no thread running."""
        before = set(threading.enumerate())
        harness.reply(Act(do="say", text="done"))
        left = threads_left(before, harness.limits.gone_seconds)
        assert not left, f"still running: {', '.join(left)}"

    @needs("read_stdin")
    def test_standard_input_has_an_end(self, harness: Harness) -> None:
        """A program that reads standard input to the end does not hang."""
        reply = harness.reply(Act(do="read_stdin", text="I have read it")).reply
        assert reply.text == "I have read it"

    @needs("close_stdin")
    def test_a_program_need_not_read_its_input(self, harness: Harness) -> None:
        """A program that closes its standard input unread can still answer."""
        prompt = "more than fits into a pipe\n" * (harness.limits.prompt_bytes // 20)
        reply = harness.reply(Act(do="close_stdin", text="I need no input"), prompt=prompt).reply
        assert reply.text == "I need no input"


def _check_stopped(harness: Harness, outcome: Outcome) -> None:
    failed(outcome, Act(do="hang"), FailureKind.TIMEOUT, FailureKind.STALLED)
    assert outcome.seconds <= harness.latest_end(harness.limits.hang_seconds), "it is late"


def _described(outcome: Outcome) -> str:
    """Describe how a call ended."""
    if outcome.reply is not None:
        return f"the reply {outcome.reply.text or outcome.reply.structured!r:.200}"
    return described(outcome.error)


def texts_of(turn: Turn) -> list[str]:
    """Every text of a turn."""
    calls = [text for call in turn.tool_calls for text in (call.arguments, call.result or "")]
    return [turn.text, turn.reasoning or "", *calls]
