"""The clauses about what goes wrong: each failure has its kind, and none looks like success."""

import threading
import time

import pytest

from uwf_core.api.agent import Turn
from uwf_core.errors import AgentFailure, FailureKind, NeedsAnswer
from uwf_core.process.cancel import Cancel
from uwf_testing.agent_setting import AgentSetting
from uwf_testing.contract import needs
from uwf_testing.harness import Outcome, Rig, described
from uwf_testing.peer import Act

_STOPPED = (FailureKind.TIMEOUT, FailureKind.STALLED)


class FailureClauses(AgentSetting):
    """An agent that fails says so by the failure of the closed table that it is."""

    @needs("missing")
    def test_a_missing_program_is_unavailable(self, rig: Rig) -> None:
        """Or a missing service: `unavailable`, with what is missing."""
        rig.failure(Act(do="missing"), FailureKind.UNAVAILABLE)

    @needs("crash")
    def test_a_nonzero_exit_is_a_crash(self, rig: Rig) -> None:
        """No answer is made up for it."""
        rig.failure(Act(do="crash", code=3), FailureKind.CRASHED)

    @needs("garbage")
    def test_garbage_is_a_failure(self, rig: Rig) -> None:
        """And no fault of the adapter's."""
        rig.failure(Act(do="garbage"))

    @needs("cut")
    def test_a_cut_answer_is_a_failure(self, rig: Rig) -> None:
        """Half an answer is none."""
        text = "the first half of the answer, and the second half of it"
        rig.failure(Act(do="cut", text=text), FailureKind.TRUNCATED, FailureKind.CRASHED)

    @needs("silence")
    def test_silence_is_empty(self, rig: Rig) -> None:
        """Nothing is made up where nothing was said."""
        rig.failure(Act(do="silence"), FailureKind.EMPTY)

    @needs("fail")
    def test_each_failure_has_its_kind(self, rig: Rig) -> None:
        """Every kind that the peer can bring about arrives as that kind."""
        wrong = []
        for word in rig.peer.kinds:
            outcome = rig.call(rig.request(Act(do="fail", kind=word)))
            error = outcome.error
            if not isinstance(error, AgentFailure) or error.kind is not FailureKind.of(word):
                wrong.append(f"{word} arrives as {_described(outcome)}")
        assert rig.peer.kinds, "the peer can fail, and its `kinds` are empty"
        assert not wrong, "; ".join(wrong)

    @needs("say_bytes")
    def test_bytes_that_are_no_text_break_nothing(self, rig: Rig) -> None:
        """NUL and invalid UTF-8 are replaced within the answer, or are a failure of its kind."""
        data = b"before \xff\xfe\x00\xed\xa0\x80\xc3 after"
        outcome = rig.call(rig.request(Act(do="say_bytes", data=data)))
        if outcome.reply is None:
            error = outcome.error
            right = isinstance(error, AgentFailure) and error.kind is not FailureKind.INTERNAL
            assert right, f"it breaks the adapter: {described(error)}"
        else:
            text = outcome.reply.text or ""
            assert "before " in text, f"what was text is lost: {text!r}"
            assert " after" in text, f"what was text is lost: {text!r}"

    @needs("say")
    def test_a_reply_over_the_limit_is_too_large(self, rig: Rig) -> None:
        """It is refused, not cut."""
        limits = rig.run_limits(rig.limits.call_seconds, reply_bytes=rig.limits.reply_bytes)
        text = "too much " * (rig.limits.reply_bytes // 4)
        rig.failure(Act(do="say", text=text), FailureKind.TOO_LARGE, limits=limits)

    @needs("question")
    def test_a_question_to_a_person_has_a_form(self, rig: Rig) -> None:
        """An agent that needs a person asks by `NeedsAnswer`, with a JSON Schema of the answer."""
        outcome = rig.call(rig.request(Act(do="question", text="May I?")))
        error = outcome.error
        assert isinstance(error, NeedsAnswer), f"it gave {_described(outcome)}"
        assert "May I?" in error.message
        from uwf_core.cas.schemas import schema_problems

        assert error.form, "the form is empty"
        assert not schema_problems(error.form), "the form is no JSON Schema"


class TimeClauses(AgentSetting):
    """An agent ends when it is told to, and everything that it started ends with it."""

    @needs("hang")
    def test_a_hang_ends_at_the_time_limit(self, rig: Rig) -> None:
        """Before any answer: a timeout, on time."""
        outcome = rig.call(rig.request(Act(do="hang"), limits=rig.hanging()))
        _check_stopped(rig, outcome)

    @needs("hang_after")
    def test_a_hang_after_the_answer_ends_at_the_time_limit(self, rig: Rig) -> None:
        """Either the whole answer counts, or it is a timeout; on time in both cases."""
        text = "the whole answer"
        outcome = rig.call(rig.request(Act(do="hang_after", text=text), limits=rig.hanging()))
        if outcome.reply is None:
            _check_stopped(rig, outcome)
        else:
            assert outcome.reply.text == text
            assert outcome.seconds <= rig.latest_end(rig.limits.hang_seconds)

    @needs("hang")
    def test_cancel_ends_the_call(self, rig: Rig) -> None:
        """Long before its time limit: interrupted, on time."""
        cancel = Cancel()
        timer = threading.Timer(rig.limits.cancel_seconds, cancel.set, ("the kit",))
        timer.start()
        outcome = rig.call(rig.request(Act(do="hang"), cancel=cancel))
        timer.join()
        error = outcome.error
        right = isinstance(error, AgentFailure) and error.kind is FailureKind.INTERRUPTED
        assert right, f"wanted interrupted, and got {_described(outcome)}"
        assert outcome.seconds <= rig.latest_end(rig.limits.cancel_seconds)

    @needs("spawn")
    def test_a_timeout_leaves_no_process(self, rig: Rig) -> None:
        """Not even one that has left its session."""
        outcome = rig.call(rig.request(Act(do="spawn"), limits=rig.hanging()))
        left = rig.processes_left()
        assert outcome.reply is None
        assert left == 0, f"{left} processes were left behind"

    @needs("spawn_and_say")
    def test_a_finished_call_leaves_no_process(self, rig: Rig) -> None:
        """What a program left in the background ends with the call."""
        outcome = rig.call(rig.request(Act(do="spawn_and_say", text="done")))
        left = rig.processes_left()
        assert outcome.reply is not None, f"it gave {_described(outcome)}"
        assert left == 0, f"{left} processes were left behind"

    @needs("say")
    def test_a_finished_call_leaves_no_thread(self, rig: Rig) -> None:
        """Once the agent is closed."""
        before = set(threading.enumerate())
        rig.reply(Act(do="say", text="done"))
        deadline = time.monotonic() + rig.limits.gone_seconds
        while (left := set(threading.enumerate()) - before) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not left, f"still running: {', '.join(thread.name for thread in left)}"

    @needs("read_stdin")
    def test_standard_input_has_an_end(self, rig: Rig) -> None:
        """A program that reads it to the end does not wait for ever."""
        reply = rig.reply(Act(do="read_stdin", text="I have read it")).reply
        assert reply.text == "I have read it"

    @needs("close_stdin")
    def test_a_program_need_not_read_its_input(self, rig: Rig) -> None:
        """One that closes its standard input unread answers all the same."""
        prompt = "more than fits into a pipe\n" * (rig.limits.prompt_bytes // 20)
        reply = rig.reply(Act(do="close_stdin", text="I need no input"), prompt=prompt).reply
        assert reply.text == "I need no input"


def _check_stopped(rig: Rig, outcome: Outcome) -> None:
    error = outcome.error
    right = isinstance(error, AgentFailure) and error.kind in _STOPPED
    if not right:
        pytest.fail(f"wanted timeout, and got {_described(outcome)}")
    assert outcome.seconds <= rig.latest_end(rig.limits.hang_seconds), "it is late"


def _described(outcome: Outcome) -> str:
    """How a call ended, for a message."""
    if outcome.reply is not None:
        return f"the reply {outcome.reply.text or outcome.reply.structured!r:.200}"
    return described(outcome.error)


def texts_of(turn: Turn) -> list[str]:
    """Every text of a turn."""
    calls = [text for call in turn.tool_calls for text in (call.arguments, call.result or "")]
    return [turn.text, turn.reasoning or "", *calls]
