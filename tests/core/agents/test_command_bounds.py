"""What a command says too much of: digits without end, events without end."""

from collections.abc import Callable
from typing import Any

import pytest

from uwf_core.agents.cleaning import clean_reply
from uwf_core.agents.open import OpenAgent
from uwf_core.agents.supervise import run_call
from uwf_core.agents.wire import read_reply
from uwf_core.api.agent import AgentReply, AgentRequest, RunLimits, Usage
from uwf_core.extract.typed import check_structured

Command = Callable[..., OpenAgent]
RequestFor = Callable[..., AgentRequest]


def test_a_count_of_thousands_of_digits_is_unknown_and_in_an_output_a_correction(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    reply = run_call(command("long_numbers", "stream"), request_for(), told)
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.turns) == (
        *(None, None),
        1,
    )
    assert told.usages == [Usage(output_tokens=2), Usage(output_tokens=3)]
    assert reply.structured is not None
    schema = {"properties": {"$status": {"const": "done"}, "count": {}}, "required": ["$status"]}
    (problem,) = check_structured(schema, reply.structured).errors
    assert problem.path == "count"


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("noise_in_events", "only the first 8388608 bytes were read"),
        ("noisy_lines_in_events", "after line 1001 were not read"),
    ],
)
def test_events_are_read_up_to_a_limit_and_the_run_goes_on(
    command: Command, request_for: RequestFor, told: Any, scenario: str, words: str
) -> None:
    limits = RunLimits(reply_bytes=1 << 20)
    reply = run_call(command(scenario, "stream"), request_for(limits=limits), told)
    assert reply.text == "done"
    assert words in told.turns[-1].text


def test_a_count_that_no_node_could_hold_is_unknown() -> None:
    reply = clean_reply(AgentReply(text="a", usage=Usage(turns=2**60, output_tokens=3)))
    assert reply.usage == Usage(output_tokens=3)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400", "-" + "9" * 5_000])
def test_a_count_or_time_that_is_no_finite_number_is_unknown(number: str) -> None:
    counts = f'{{"inputTokens": {number}, "costUsd": {number}, "turns": 2}}'
    reply = read_reply(f'{{"output": "paid", "usage": {counts}}}'.encode())
    assert (reply.output, reply.usage) == ("paid", Usage(turns=2))
    error = f'{{"kind": "rate_limited", "message": "later", "until": {number}}}'
    failed = read_reply(f'{{"error": {error}, "sessionId": "s"}}'.encode()).error
    assert failed is not None
    assert (failed.kind, failed.until) == ("rate_limited", None)
