"""What a command does too much of: digits without end, events without end, files deleted."""

import json
import time
from collections.abc import Callable
from pathlib import Path
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


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "1e400", "1e308", "-" + "9" * 5_000, "-1", "true", '"60"', "[]"]
)
def test_a_count_or_time_that_cannot_be_one_is_unknown(number: str) -> None:
    counts = f'{{"inputTokens": {number}, "costUsd": {number}, "turns": 2}}'
    reply = read_reply(f'{{"output": "paid", "usage": {counts}}}'.encode())
    assert (reply.output, reply.usage) == ("paid", Usage(turns=2))
    error = f'{{"kind": "rate_limited", "message": "later", "until": {number}}}'
    failed = read_reply(f'{{"error": {error}, "sessionId": "s"}}'.encode()).error
    assert failed is not None
    assert (failed.kind, failed.until) == ("rate_limited", None)


@pytest.mark.parametrize(
    ("usage", "known"),
    [
        ({"inputTokens": 60.0}, Usage(input_tokens=60)),
        ({"inputTokens": 60.5, "costUsd": 0.5}, Usage(cost_usd=0.5)),
        ({"turns": 2, "atLeast": ["bogus", "turns"]}, Usage(turns=2, at_least=("turns",))),
        ({"turns": 2, "atLeast": "turns"}, Usage(turns=2, at_least=("turns",))),
        ({"turns": 2, "atLeast": 5}, Usage(turns=2)),
        ({"turns": -1, "costUsd": 0, "atLeast": ["turns"]}, Usage(cost_usd=0)),
        ({"turns": -1}, None),
        ({"turns": None}, Usage()),
        ([], None),
        ("much", None),
    ],
)
def test_a_reply_is_kept_whatever_its_usage_is(usage: Any, known: Usage | None) -> None:
    call = {"id": "1", "name": "read", "startedMs": 1.5, "endedMs": 2.0}
    turn = {"text": "a", "toolCalls": [call], "usage": usage}
    reply = read_reply(json.dumps({"output": "paid", "usage": usage, "turns": [turn]}).encode())
    assert (reply.output, reply.usage, reply.turns[0].usage) == ("paid", known, known)
    (times,) = reply.turns[0].tool_calls
    assert (times.started_ms, times.ended_ms) == (None, 2)


@pytest.mark.parametrize(("mark", "kept"), [(5, "5"), ("a", "a"), (True, None), ([], None)])
def test_a_mark_may_be_a_number_and_any_other_is_ignored(mark: Any, kept: str | None) -> None:
    reply = read_reply(json.dumps({"output": "paid", "mark": mark}).encode())
    assert (reply.output, reply.mark) == ("paid", kept)


def test_an_agent_that_deletes_its_files_at_once_is_heard_to_its_end(
    command: Command,
    request_for: RequestFor,
    told: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = AgentRequest.start_program

    def start_and_let_it_delete(request: AgentRequest, *words: Any, **settings: Any) -> Any:
        child = start(request, *words, **settings)
        deadline = time.monotonic() + 30
        while list(tmp_path.rglob("events.jsonl")) and time.monotonic() < deadline:
            time.sleep(0.01)
        return child

    monkeypatch.setattr(AgentRequest, "start_program", start_and_let_it_delete)
    run_call(command("removes"), request_for(), told)
