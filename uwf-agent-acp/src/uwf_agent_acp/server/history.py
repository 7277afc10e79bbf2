"""A recorded thread as the updates that its runs had sent. Pure: documents in, updates out."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from uwf_agent_acp.server.plan import Plan
from uwf_agent_acp.server.updates import (
    RunUpdates,
    Spoken,
    Update,
    chunk,
    fields_text,
    step_title,
)

if TYPE_CHECKING:
    from uwf_core.client import StepDocument


def history(
    thread: str, task: str, steps: "Iterable[StepDocument]", plan: Plan
) -> Iterator[Update]:
    """The task, and each step with what a person had said before it. `plan` follows the steps."""
    yield chunk("user_message_chunk", task)
    for step in steps:
        said = _said(step)
        if said:
            yield chunk("user_message_chunk", said)
        yield from _step(RunUpdates(thread, plan), (thread, step["number"]), step)
        plan.finish(step["role"])


def _said(step: "StepDocument") -> str:
    asked = step["attempt"]
    answer = asked["answer"]
    return "\n\n".join(filter(None, (asked["said"], fields_text(answer) if answer else "")))


def _step(shown: RunUpdates, key: tuple[str, int], step: "StepDocument") -> Iterator[Update]:
    title = step_title(step["role"], str(step["number"]), step["alias"] or step["agent"] or "")
    yield shown.begin(key, f"{key[0]}/{step['step']}", title)
    for turn in step["turns"]:
        calls: list[Mapping[str, Any]] = list(turn["toolCalls"])
        spoken = Spoken(turn["index"], turn["speaker"], turn["text"], turn["reasoning"], calls)
        yield from shown.spoken(key, spoken)
    text = fields_text(step["output"] or {}) + (f"\n\n{step['body']}" if step["body"] else "")
    yield shown.end(key, "completed", str(step["status"] or ""), text)
