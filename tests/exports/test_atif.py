"""Harbor's own validator accepts a thread as a trajectory, and nothing of the thread is lost."""

import json
from typing import Any

from uwf_export.atif import AtifExporter


def _document(thread: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads("".join(AtifExporter().export(thread)))
    return found


def _messages(document: Any) -> set[str]:
    return {step["message"] for step in document["steps"]}


def test_harbor_accepts_every_thread(tool: Any, recorded: Any) -> None:
    validator = tool("harbor.utils.trajectory_validator").TrajectoryValidator()
    for name, thread in recorded[1].items():
        assert validator.validate(_document(thread)), (name, validator.errors)


def test_harbor_rejects_a_reference_to_a_call_that_is_not_there(tool: Any, recorded: Any) -> None:
    validator = tool("harbor.utils.trajectory_validator").TrajectoryValidator()
    document = _document(next(iter(recorded[1].values())))
    document["steps"][0]["observation"] = {"results": [{"source_call_id": "no such call"}]}
    assert not validator.validate(document)


def test_each_prompt_and_reply_is_a_message_of_its_step(recorded: Any) -> None:
    for thread in recorded[1].values():
        messages = _messages(_document(thread))
        for step in thread.steps():
            if not step.calls and step.node["agent"] != "program":
                assert {step.prompt, step.raw} <= messages
            for attempt in (*step.attempts, step):
                assert {each.raw for each in attempt.corrections} <= messages


def test_each_turn_is_a_message_and_a_reply_that_is_the_last_turn_is_one(recorded: Any) -> None:
    for thread in recorded[1].values():
        about = [step["extra"]["uwf"] for step in _document(thread)["steps"]]
        shown = [each["turn"] for each in about if "turn" in each]
        attempts = [each for last in thread.steps() for each in (*last.attempts, last)]
        for step in (each for each in attempts if each.node["agent"] != "program"):
            turns = [turn.ref for turn in step.turns]
            is_last = step.turns and step.turns[-1].text.strip() == (step.raw or "").strip()
            told = turns[:-1] if is_last and not step.corrections else turns
            assert [each for each in shown if each in turns] == told


def test_a_called_thread_is_a_trajectory_below_that_its_calls_refer_to(recorded: Any) -> None:
    for thread in recorded[1].values():
        document = _document(thread)
        called = {call.thread for step in thread.steps() for call in step.calls}
        called |= {call.thread for call in thread.open_calls}
        below = {each["trajectory_id"] for each in document.get("subagent_trajectories", ())}
        assert below == called
        references = {
            reference["trajectory_id"]
            for step in document["steps"]
            for result in step.get("observation", {}).get("results", ())
            for reference in result.get("subagent_trajectory_ref", ())
        }
        assert references == called


def test_the_metrics_are_those_of_the_thread(recorded: Any) -> None:
    for thread in recorded[1].values():
        final = _document(thread)["final_metrics"]
        usage = thread.usage
        cached = (usage["cacheReadTokens"] or 0) + (usage["cacheWriteTokens"] or 0)
        assert final["total_prompt_tokens"] == usage["inputTokens"] + cached
        assert final["total_cost_usd"] == usage["costUsd"]
