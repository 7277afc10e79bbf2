"""What a command does too much of: digits without end, events without end, files deleted."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from uwf_core.agents.cleaning import MOST_TURNS, clean_reply
from uwf_core.agents.open import OpenAgent
from uwf_core.agents.supervise import run_call
from uwf_core.agents.wire import NoJson, read_reply
from uwf_core.api.agent import AgentReply, AgentRequest, RunLimits, Usage
from uwf_core.client import Cancel
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


FLOODS = ("turns", "states", "sessions", "usages")


@pytest.mark.parametrize(
    "scenario", [*(f"flood_of_{each}" for each in FLOODS), "flood_in_the_reply"]
)
def test_a_flood_is_cut_and_the_reply_is_kept(
    command: Command, request_for: RequestFor, told: Any, scenario: str
) -> None:
    """400,000 small events took 90 s and 149 MB of the store, after the command had ended."""
    reply = run_call(command(scenario, "stream"), request_for(), told)
    assert reply.text == "done"
    assert len({turn.index for turn in told.turns}) <= MOST_TURNS // 2 + 1
    assert len(told.turns) + len(told.sessions) + len(told.usages) <= 101_000
    assert "too much was reported" in told.turns[-1].text


@pytest.mark.parametrize("scenario", [f"flood_of_{each}" for each in FLOODS])
@pytest.mark.parametrize("end", ["cancel", "time"])
def test_nothing_is_read_on_after_the_end_of_a_command(
    command: Command, request_for: RequestFor, told: Any, scenario: str, end: str
) -> None:
    """The command has ended at once, so it is not "still running" when it is stopped. Its reply
    was received before, so it is kept, with notes of the end and of what was not read.
    """
    cancel, began = Cancel(), list[float]()

    def slowly(*_: object) -> None:
        time.sleep(0.01)
        if not began:
            began.append(time.monotonic())
            if end == "cancel":
                threading.Timer(0.5, lambda: cancel.set("SIGTERM")).start()

    told.on_turn = told.on_session = told.on_usage = slowly
    limits = RunLimits(seconds=3.0 if end == "time" else 60.0, grace_seconds=5.0)
    request = request_for(cancel=cancel, limits=limits)
    reply = run_call(command(scenario, "stream"), request, told)
    (notice,) = reply.notices
    assert reply.text == "done"
    assert notice.startswith("agent-ended-badly: ")
    assert ("SIGTERM" if end == "cancel" else "did not finish within 3 s") in notice
    assert "were not read" in told.turns[-1].text
    assert time.monotonic() - began[0] < (4 if end == "cancel" else 8)


def test_a_reply_of_millions_of_objects_is_rejected_before_it_is_read() -> None:
    line = b'{"output": "done", "turns": [' + b"{}," * 1_000_000 + b"{}]}"
    begin = time.monotonic()
    with pytest.raises(NoJson, match="more than 500,000 objects"):
        read_reply(line)
    assert time.monotonic() - begin < 1


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
