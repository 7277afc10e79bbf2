"""What the end of a command means: pure, without a program."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.agents.answer import Ended, agent_reply, check_error, reply_of
from uwf_core.agents.wire import CommandReply
from uwf_core.errors import AgentFailure, Crashed, FailureKind, NeedsAnswer
from uwf_core.escape import visible
from uwf_core.process.failure import EXCERPT_CHARACTERS, excerpt
from uwf_core.process.program import End, ProgramResult


def ended(stdout: bytes, *, code: int = 0, end: End = End.EXITED, stderr: bytes = b"") -> Ended:
    result = ProgramResult(exit_code=code, end=end, stdout=stdout, stderr=stderr, duration_ms=1500)
    return Ended(who="the command 'x'", result=result, asked=None, proves=False, session="s-1")


def outcome_of(end: Ended) -> CommandReply:
    reply = reply_of(end)
    check_error(reply, end)
    return reply


def said(**reply: Any) -> Ended:
    return ended(json.dumps(reply).encode())


@pytest.mark.parametrize("kind", list(FailureKind))
@pytest.mark.parametrize("code", [0, 1])
def test_every_kind_of_failure_can_be_reported(kind: FailureKind, code: int) -> None:
    error = {"kind": kind.word, "message": "in its own words"}
    with pytest.raises(AgentFailure, match="in its own words") as failure:
        outcome_of(ended(json.dumps({"error": error, "sessionId": "s-6"}).encode(), code=code))
    assert failure.value.kind is kind
    assert failure.value.session == "s-6"


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ({"output": 5}, "output"),
        ({"output": ["a"]}, "output"),
        ({"output": "x", "sessionId": 5}, "sessionId"),
        ({"output": "x", "turns": "none"}, "turns"),
        ({"output": "x", "turns": [{"text": "a"}, {"text": 5}]}, "turns.1.text"),
        ({"output": "x", "turns": [{"toolCalls": [{"id": "a"}]}]}, "turns.0.toolCalls.0.name"),
        ({"output": "x", "turns": [{"index": -1}]}, "turns.0.index"),
        ({"output": "x", "denials": "one"}, "denials"),
        ({"output": "x", "continuation": "maybe"}, "continuation"),
        ({"output": "x", "error": "it failed"}, "error"),
        ({"error": {"message": "no kind"}}, "error.kind"),
        ({"error": {"kind": "needs_answer", "message": "m"}}, "error.form"),
    ],
)
def test_a_field_of_a_wrong_type_is_named_with_its_place(reply: dict[str, Any], place: str) -> None:
    with pytest.raises(Crashed, match=rf"in which {re.escape(place)} (is|has) ") as failure:
        outcome_of(said(**reply))
    assert failure.value.session == "s-1"


def test_an_unknown_kind_of_failure_is_a_crash_that_lists_the_known_ones() -> None:
    with pytest.raises(Crashed, match=r"'boredom'.*so dull") as failure:
        outcome_of(said(error={"kind": "boredom", "message": "so dull"}))
    assert "rate_limited" in (failure.value.hint or "")


def test_null_is_as_good_as_missing() -> None:
    reply = outcome_of(
        said(output="x", usage=None, turns=None, denials=None, error=None, proof=None)
    )
    assert reply == outcome_of(said(output="x"))


def test_what_is_not_told_is_unknown_save_the_time_which_we_measure() -> None:
    end = said(output="x")
    usage = agent_reply(outcome_of(end), end).usage
    assert usage.duration_ms == 1500
    assert usage.input_tokens is None
    assert usage.cost_usd is None


def test_a_question_without_words_still_says_who_asks() -> None:
    with pytest.raises(NeedsAnswer, match="the command 'x'"):
        outcome_of(said(error={"kind": "needs_answer", "form": {}}))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=80), st.integers(-31, 255), st.binary(max_size=40))
def test_whatever_a_command_prints_the_end_is_a_reply_or_a_failure(
    stdout: bytes, code: int, stderr: bytes
) -> None:
    try:
        outcome_of(ended(stdout, code=code, stderr=stderr))
    except AgentFailure as failure:
        assert visible(failure.message) == failure.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
FIELDS = [
    *("output", "sessionId", "usage", "turns", "error"),
    *("model", "agentVersion", "stopReason", "denials", "continuation"),
]


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4))
def test_whatever_json_a_command_prints_the_end_is_a_reply_or_a_failure(
    reply: dict[str, Any],
) -> None:
    try:
        outcome_of(said(**reply))
    except (AgentFailure, NeedsAnswer) as failure:
        assert failure.message


@pytest.mark.parametrize("of_end", [True, False])
def test_an_excerpt_is_cut_between_words_so_that_no_half_secret_is_in_it(of_end: bool) -> None:
    words = [f"{number:04}-secret-of-many-letters" for number in range(200)]
    short = excerpt(" ".join(words), of_end=of_end)
    assert len(short) <= EXCERPT_CHARACTERS
    assert set(short.strip("…").split()) <= set(words)
    assert excerpt("x" * 10_000, of_end=of_end) == "(10000 characters without a blank)"
