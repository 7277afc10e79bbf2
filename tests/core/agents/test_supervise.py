"""Whatever an adapter does, what comes out can be stored or is one clear failure."""

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from uwf_core.agents.open import AgentThread, OpenAgent
from uwf_core.agents.supervise import close_call, fork_call, run_call
from uwf_core.api.agent import (
    AgentReply,
    AgentRequest,
    AskRequest,
    RunLimits,
    Turn,
    TurnSink,
    Usage,
)
from uwf_core.api.extract import NO_USAGE
from uwf_core.client import Cancel
from uwf_core.errors import (
    AgentFailure,
    AgentInterrupted,
    AgentStuck,
    Crashed,
    EmptyReply,
    InternalFailure,
    NeedsAnswer,
    RunInterrupted,
    SessionLost,
    Stalled,
    StoreError,
    TimedOut,
    TooLarge,
)
from uwf_core.plugins.guards import PluginGuard

RequestFor = Callable[..., AgentRequest]
Run = Callable[[AgentRequest, TurnSink], Any]


class Scripted:
    """An agent whose `run` is a function."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def run(self, request: AgentRequest, sink: TurnSink) -> AgentReply:
        reply: AgentReply = self._run(request, sink)
        return reply

    def fork(self, session: str, request: AgentRequest) -> str:
        forked: str = self._run(request, None)  # type: ignore[arg-type]
        return forked

    def ask(self, request: AskRequest, sink: TurnSink) -> AgentReply:
        raise AssertionError("not asked")

    def close(self) -> None:
        self._run(None, None)  # type: ignore[arg-type]


def agent(run: Run, *capabilities: str) -> OpenAgent:
    return OpenAgent(
        Scripted(run),
        frozenset(capabilities),
        None,
        "scripted",
        "the agent 'scripted'",
        PluginGuard(),
        AgentThread("scripted"),
    )


def replying(**fields: Any) -> OpenAgent:
    return agent(lambda request, sink: AgentReply(**fields), "continue")


def raising(error: BaseException) -> OpenAgent:
    def run(request: AgentRequest, sink: TurnSink) -> None:
        raise error

    return agent(run)


def test_a_good_reply_comes_through(request_for: RequestFor, told: Any) -> None:
    reply = AgentReply(text="hello", session="s", usage=NO_USAGE, denials=("a",))
    assert run_call(agent(lambda *_: reply), request_for(), told) == reply


@pytest.mark.parametrize(
    "error",
    [
        ValueError("oops"),
        SystemExit(3),
        KeyboardInterrupt(),
        GeneratorExit(),
        MemoryError(),
        RunInterrupted("not yours to raise"),
        RecursionError(),
    ],
)
def test_whatever_a_plugin_raises_is_contained_and_keeps_its_cause(
    request_for: RequestFor, told: Any, error: BaseException
) -> None:
    with pytest.raises(InternalFailure, match=type(error).__name__) as failure:
        run_call(raising(error), request_for(), told)
    assert failure.value.__cause__ is error
    assert "'scripted'" in failure.value.message


def test_a_typed_failure_stays_what_it_is_and_learns_its_session(
    request_for: RequestFor, told: Any
) -> None:
    def run(request: AgentRequest, sink: TurnSink) -> None:
        sink.session("s-1")
        raise Crashed("in its own words\0")

    with pytest.raises(Crashed, match="in its own words\ufffd") as failure:
        run_call(agent(run), request_for(), told)
    assert failure.value.session == "s-1"


def test_a_question_is_no_failure(request_for: RequestFor, told: Any) -> None:
    with pytest.raises(NeedsAnswer, match="may I"):
        run_call(raising(NeedsAnswer("may I", {"type": "object"})), request_for(), told)
    with pytest.raises(Crashed, match="asks with an invalid form"):
        run_call(raising(NeedsAnswer("may I", {"x": object()})), request_for(), told)


@pytest.mark.parametrize(
    "form", [{"type": "bogus"}, {"type": "string"}, {"enum": ["a", "b"]}, {"const": 1}]
)
def test_a_question_that_no_answer_could_satisfy_is_refused(
    request_for: RequestFor, told: Any, form: Any
) -> None:
    with pytest.raises(Crashed, match="asks with an unusable form"):
        run_call(raising(NeedsAnswer("may I", form)), request_for(), told)


@pytest.mark.parametrize(
    ("fields", "failure", "words"),
    [
        ({}, EmptyReply, "returned nothing"),
        ({"text": " \n"}, EmptyReply, "returned nothing"),
        ({"text": "a", "structured": {"a": 1}}, InternalFailure, "both text and structured"),
        ({"text": 5}, InternalFailure, "text is 5"),
        ({"text": b"bytes"}, InternalFailure, "text is of the type bytes"),
        ({"structured": [1]}, InternalFailure, "structured is a list"),
        ({"structured": {"a": {1, 2}}}, InternalFailure, "structured"),
        ({"structured": {"a": object()}}, InternalFailure, r"structured\.a is of the type object"),
        ({"structured": {1: 2}}, InternalFailure, "structured has the key 1"),
        ({"text": "a", "session": 5}, InternalFailure, "session is 5"),
        ({"text": "a", "continuation": "perhaps"}, InternalFailure, "continuation is 'perhaps'"),
        ({"text": "a", "usage": None}, InternalFailure, "usage is null"),
        ({"text": "a", "usage": Usage(turns=-1)}, InternalFailure, "usage.turns is -1"),
        ({"text": "a", "usage": Usage(cost_usd=float("inf"))}, InternalFailure, "usage.costUsd"),
        ({"text": "a", "denials": "one"}, InternalFailure, "denials is 'one'"),
        ({"text": "x" * 2000}, TooLarge, "2000 bytes; the limit is 1000"),
        ({"text": "é" * 600}, TooLarge, "1200 bytes"),
        ({"structured": {"a": "x" * 2000}}, TooLarge, "limit is 1000"),
    ],
)
def test_a_reply_that_cannot_be_kept_is_refused_by_name(
    request_for: RequestFor,
    told: Any,
    fields: dict[str, Any],
    failure: type[AgentFailure],
    words: str,
) -> None:
    with pytest.raises(failure, match=words):
        run_call(replying(**fields), request_for(limits=RunLimits(reply_bytes=1000)), told)


def test_something_else_than_a_reply_is_refused(request_for: RequestFor, told: Any) -> None:
    with pytest.raises(InternalFailure, match="returned dict, not an AgentReply"):
        run_call(agent(lambda *_: {"text": "a"}), request_for(), told)


def test_a_reply_within_itself_is_refused(request_for: RequestFor, told: Any) -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless
    with pytest.raises(InternalFailure, match="nested"):
        run_call(replying(structured=endless), request_for(), told)


def test_nuls_and_lone_surrogates_are_replaced_everywhere(
    request_for: RequestFor, told: Any
) -> None:
    def run(request: AgentRequest, sink: TurnSink) -> AgentReply:
        sink.turn(Turn(index=0, role="assistant", text="a\0b"))
        return AgentReply(structured={"k\0": ["x\ud800y"]}, model="m\0")

    reply = run_call(agent(run), request_for(), told)
    assert reply.structured == {"k\ufffd": ["x\ufffdy"]}
    assert reply.model == "m\ufffd"
    assert told.turns[0].text == "a\ufffdb"


CONTINUED = {"text": "a", "session": "s", "continuation": "continued", "proof": "seen"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"session": "t"}, "used 't'"),
        ({"session": None}, "returned none"),
        ({"continuation": "new"}, "reported new"),
        ({"continuation": "forked"}, "reported forked"),
        ({"proof": None}, "no proof"),
        ({"proof": ""}, "no proof"),
    ],
)
def test_a_continuation_is_believed_only_with_proof(
    request_for: RequestFor, told: Any, changes: dict[str, Any], words: str
) -> None:
    request = request_for(session="s")
    assert run_call(replying(**CONTINUED), request, told).session == "s"
    with pytest.raises(SessionLost, match=words):
        run_call(replying(**{**CONTINUED, **changes}), request, told)


def test_nobodys_session_is_continued_unasked(request_for: RequestFor, told: Any) -> None:
    with pytest.raises(InternalFailure, match="instead of a new one"):
        run_call(replying(**CONTINUED), request_for(), told)


def test_a_fork_must_be_another_session(request_for: RequestFor) -> None:
    assert fork_call(agent(lambda *_: "t"), "s", request_for()) == "t"
    with pytest.raises(SessionLost):
        fork_call(agent(lambda *_: "s"), "s", request_for())
    for wrong in ("", 5):
        with pytest.raises(InternalFailure):
            fork_call(agent(lambda *_, wrong=wrong: wrong), "s", request_for())
    assert fork_call(agent(lambda *_: None), "s", request_for()) is None
    with pytest.raises(InternalFailure):  # with the next prompt it would not end at the mark
        fork_call(agent(lambda *_, **__: None), "s", request_for(), "mark")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"session": "s"}, "used 's'"),
        ({"session": None}, "returned none"),
        ({"continuation": "continued"}, "reported continued"),
        ({"proof": None}, "returned no proof"),
    ],
)
def test_a_copy_with_a_prompt_is_believed_only_with_proof(
    request_for: RequestFor, told: Any, changes: dict[str, Any], words: str
) -> None:
    request = request_for(session="s", forks=True)
    copied = {"text": "said", "session": "t", "continuation": "forked", "proof": "the id"}
    assert run_call(replying(**copied), request, told).session == "t"
    with pytest.raises(SessionLost, match=words) as failure:
        run_call(replying(**{**copied, **changes}), request, told)
    assert failure.value.session is None


def waiting(request: AgentRequest, sink: TurnSink) -> AgentReply:
    sink.session("s-2")
    request.cancel.wait()
    raise AgentInterrupted("asked to stop")


def test_the_time_limit_cancels_the_agent_and_not_the_run(
    request_for: RequestFor, told: Any
) -> None:
    request = request_for(limits=RunLimits(seconds=2.5))
    with pytest.raises(TimedOut, match=r"2\.5 s") as failure:
        run_call(agent(waiting), request, told)
    assert failure.value.session == "s-2"
    assert not request.cancel.is_set()


def test_a_partial_reply_after_the_time_limit_is_none(request_for: RequestFor, told: Any) -> None:
    def run(request: AgentRequest, sink: TurnSink) -> AgentReply:
        request.cancel.wait()
        return AgentReply(text="as far as I came")

    with pytest.raises(TimedOut):
        run_call(agent(run), request_for(limits=RunLimits(seconds=0.1)), told)


def test_a_streaming_agent_that_falls_silent_is_stalled(request_for: RequestFor, told: Any) -> None:
    limits = RunLimits(idle_seconds=0.15)
    with pytest.raises(Stalled, match=r"0\.15 s"):
        run_call(agent(waiting, "stream"), request_for(limits=limits), told)


def test_every_report_is_a_sign_of_life(request_for: RequestFor, told: Any) -> None:
    def run(request: AgentRequest, sink: TurnSink) -> AgentReply:
        for index in range(10):
            time.sleep(0.25)
            sink.turn(Turn(index=index, role="assistant"))
        return AgentReply(text="done")

    limits = RunLimits(idle_seconds=2)
    assert run_call(agent(run, "stream"), request_for(limits=limits), told).text == "done"


def test_one_that_does_not_stream_has_no_idle_limit(request_for: RequestFor, told: Any) -> None:
    def run(request: AgentRequest, sink: TurnSink) -> AgentReply:
        assert request.limits.idle_seconds is None
        time.sleep(0.3)
        return AgentReply(text="done")

    request = request_for(limits=RunLimits(idle_seconds=0.1))
    assert run_call(agent(run), request, told).text == "done"


def test_cancelling_reaches_the_agent_at_once(request_for: RequestFor, told: Any) -> None:
    cancel = Cancel()
    told.on_session = lambda _: cancel.set("SIGTERM")
    started = time.monotonic()
    with pytest.raises(AgentInterrupted, match="SIGTERM") as failure:
        run_call(agent(waiting), request_for(cancel=cancel), told)
    assert time.monotonic() - started < 30
    assert failure.value.session == "s-2"


def test_a_keyboard_interrupt_stops_the_agent_before_it_goes_on(
    request_for: RequestFor, told: Any
) -> None:
    stopped = threading.Event()

    def run(request: AgentRequest, sink: TurnSink) -> AgentReply:
        signal.raise_signal(signal.SIGINT)
        request.cancel.wait()
        stopped.set()
        return AgentReply(text="done")

    with pytest.raises(KeyboardInterrupt):
        run_call(agent(run), request_for(), told)
    assert stopped.is_set()


def test_a_program_that_ctrl_c_ended_before_us_is_an_interruption_and_no_crash(
    request_for: RequestFor, told: Any
) -> None:
    cancel = Cancel()

    def run(request: AgentRequest, sink: TurnSink) -> AgentReply:
        cancel.set("Ctrl-C")
        raise Crashed("ended with SIGINT")

    with pytest.raises(AgentInterrupted):
        run_call(agent(run), request_for(cancel=cancel), told)


def test_nothing_is_started_once_cancelled(request_for: RequestFor, told: Any) -> None:
    cancel = Cancel()
    cancel.set("Ctrl-C")
    with pytest.raises(AgentInterrupted):
        run_call(raising(AssertionError("started")), request_for(cancel=cancel), told)


@pytest.mark.parametrize("capability", ["", "stream"])
def test_an_agent_that_ignores_its_cancel_token_is_stuck_and_said_why(
    request_for: RequestFor, told: Any, capability: str
) -> None:
    over = threading.Event()
    limits = RunLimits(seconds=0.1, grace_seconds=0.1)
    if capability:
        limits = replace(limits, seconds=60, idle_seconds=0.1)
    try:
        with pytest.raises(AgentStuck, match="still runs") as stuck:
            run_call(agent(lambda *_: over.wait(60), capability), request_for(limits=limits), told)
    finally:
        over.set()
    assert isinstance(stuck.value.__cause__, Stalled if capability else TimedOut)


def test_what_a_stuck_agent_says_later_goes_nowhere(request_for: RequestFor, told: Any) -> None:
    over, said = threading.Event(), threading.Event()

    def run(request: AgentRequest, sink: TurnSink) -> None:
        over.wait(60)
        sink.turn(Turn(index=0, role="assistant", text="too late"))
        sink.session("too late")
        sink.usage(Usage())
        said.set()

    limits = RunLimits(seconds=0.05, grace_seconds=0.05)
    with pytest.raises(AgentStuck):
        run_call(agent(run), request_for(limits=limits), told)
    over.set()
    assert said.wait(60)
    assert (told.turns, told.sessions, told.usages) == ([], [], [])


def test_what_an_agent_prints_never_reaches_our_stdout(
    request_for: RequestFor, told: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    def run(request: AgentRequest, sink: TurnSink) -> AgentReply:
        print("printed")
        os.write(1, b"written\n")
        return AgentReply(text="done")

    run_call(agent(run), request_for(), told)
    print("ours")
    out, err = capfd.readouterr()
    assert out == "ours\n"
    assert "printed" in err
    assert "written" in err


def test_a_full_disk_is_not_the_agents_fault(request_for: RequestFor, told: Any) -> None:
    def full(turn: Turn) -> None:
        raise StoreError("the disk is full")

    def run(request: AgentRequest, sink: TurnSink) -> AgentReply:
        try:
            sink.turn(Turn(index=0, role="assistant"))
        except StoreError:
            request.cancel.wait()
        return AgentReply(text="done")

    told.on_turn = full
    with pytest.raises(StoreError, match="the disk is full"):
        run_call(agent(run), request_for(), told)


@pytest.mark.parametrize(
    "report",
    [
        lambda sink: sink.turn({"index": 0}),
        lambda sink: sink.turn(Turn(index=-1, role="assistant")),
        lambda sink: sink.turn(Turn(index=0, role="assistant", text=None)),
        lambda sink: sink.turn(Turn(index=0, role="somebody")),
        lambda sink: sink.session(None),
        lambda sink: sink.session(""),
        lambda sink: sink.usage({"turns": 1}),
        lambda sink: sink.usage(Usage(turns=-1)),
    ],
)
def test_wrong_reports_are_refused_where_they_are_made(
    request_for: RequestFor, told: Any, report: Callable[[TurnSink], None]
) -> None:
    def run(request: AgentRequest, sink: TurnSink) -> AgentReply:
        report(sink)
        return AgentReply(text="done")

    with pytest.raises(InternalFailure):
        run_call(agent(run), request_for(), told)
    assert (told.turns, told.sessions, told.usages) == ([], [], [])


def test_turns_without_end_are_too_large(request_for: RequestFor, told: Any) -> None:
    def run(request: AgentRequest, sink: TurnSink) -> AgentReply:
        while not request.cancel.is_set():
            sink.turn(Turn(index=0, role="assistant", text="x" * 1000))
        return AgentReply(text="done")

    with pytest.raises(TooLarge, match="turns of more than"):
        run_call(agent(run), request_for(limits=RunLimits(reply_bytes=10_000)), told)
    assert len(told.turns) == 40


def test_closing_never_loses_what_is_in_hand() -> None:
    assert close_call(agent(lambda *_: None)) is None
    failure = close_call(raising(ValueError("oops")))
    assert isinstance(failure, InternalFailure)
    over = threading.Event()
    failure = close_call(agent(lambda *_: over.wait(60)), grace_seconds=0.1)
    over.set()
    assert "did not close" in (failure.message if failure else "")
