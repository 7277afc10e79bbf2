"""A thread as a trajectory: the Agent Trajectory Interchange Format (ATIF) of Harbor, RFC 0001.

A trajectory has the prompts, turns, replies and events of one thread in their order. A called
thread is a trajectory inside that of its caller, to which the step of the call refers.
"""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from uwf_core.api import (
    RecordedCall,
    RecordedEvent,
    RecordedStep,
    RecordedThread,
    RecordedTurn,
    date_text,
)
from uwf_core.api.sums import UsagePayload
from uwf_core.api.tool_calls import tool_arguments
from uwf_export.timeline import timeline

VERSION = "ATIF-v1.7"
_NOTES = "Each role has its own session; a user step with extra.uwf.prompt begins a turn of a role."
_FIELDS = ("prompt", "output", "body", "raw", "detail")


class AtifExporter:
    """A thread and all threads that it called, as one JSON document."""

    def export(self, thread: RecordedThread) -> Iterator[str]:
        """The document, with a part for each step."""
        trajectory = _Trajectory(thread, thread.id)
        yield f'{_indented(trajectory.head(), 0)[:-2]},\n  "steps": ['
        for number, step in enumerate(trajectory.steps()):
            yield f"{',' if number else ''}\n    {_indented(step, 4)}"
        yield f"\n  ],\n{_indented(trajectory.tail(), 0)[2:]}\n"


def _indented(value: Any, by: int) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return text.replace("\n", "\n" + by * " ") if by else text


class _Trajectory:
    """The trajectory of one thread; `run` is the thread whose export it is a part of."""

    def __init__(self, thread: RecordedThread, run: str) -> None:
        self._thread = thread
        self._run = run
        self._count = 0
        self._added: list[dict[str, Any]] = []
        self._below: dict[str, Any] = {}

    def document(self) -> dict[str, Any]:
        """The trajectory as JSON."""
        return {**self.head(), "steps": list(self.steps()), **self.tail()}

    def head(self) -> dict[str, Any]:
        """What comes before the steps."""
        return {
            "schema_version": VERSION,
            "session_id": self._run,
            "trajectory_id": self._thread.id,
            "agent": self._agent(),
            "notes": _NOTES,
        }

    def steps(self) -> Iterator[dict[str, Any]]:
        """The steps, few of which are in memory."""
        thread = self._thread
        self._add("user", thread.task, thread.started_ms, {"task": thread.start})
        for attempt, event in timeline(thread, *_FIELDS):
            if attempt is not None:
                self._attempt(attempt)
            elif event is not None:
                self._event(event)
            yield from self._taken()
        if thread.open_calls:
            self._calls(thread.open_calls, None, {"open": True})
        yield from self._taken()

    def tail(self) -> dict[str, Any]:
        """What comes after the steps, when these are known."""
        thread = self._thread
        final = {f"total_{name}": value for name, value in _metrics(thread.usage).items()}
        extra = {"uwf": {"usage": dict(thread.usage), "runningMs": thread.running_ms}}
        return {
            "final_metrics": {**final, "total_steps": self._count, "extra": extra},
            "extra": {"uwf": {"thread": thread.id, "head": thread.head, "status": thread.status}},
            **({"subagent_trajectories": [*self._below.values()]} if self._below else {}),
        }

    def _agent(self) -> dict[str, Any]:
        workflow = self._thread.workflow
        own = {"workflow": workflow.ref, "workflowName": workflow.name}
        newest = self._thread.pending[-1:] or list(islice(self._thread.newest_first(), 1))
        version = next((each.node["engineVersion"] for each in newest), "unknown")
        return {"name": f"uwf/{workflow.name}", "version": version, "extra": {"uwf": own}}

    def _taken(self) -> list[dict[str, Any]]:
        """The steps that were added since the last call."""
        taken, self._added = self._added, []
        return taken

    def _add(
        self, source: str, message: str, at_ms: int | None, own: Mapping[str, Any], **fields: Any
    ) -> None:
        self._count += 1
        step = {
            "step_id": self._count,
            "timestamp": None if at_ms is None else date_text(at_ms),
            "source": source,
            "message": message,
            **fields,
            "extra": {"uwf": {name: each for name, each in own.items() if each is not None}},
        }
        self._added.append({name: each for name, each in step.items() if each not in (None, {})})

    def _event(self, event: RecordedEvent) -> None:
        decision = event.payload.get("next") or {}
        text = event.summary or decision.get("message") or event.kind
        own = {"event": event.kind, "ref": event.ref, "said": event.said}
        asked = event.kind == "asked"
        self._add("agent" if asked else "system", text, event.payload["atMs"], own)

    def _attempt(self, step: RecordedStep) -> None:
        node = step.node
        begun = {"prompt": node["attempt"]["prompt"], "step": step.ref, "number": step.number}
        own = {**_about(step), "output": dict(step.output) or None}
        if step.calls:
            self._calls(step.calls, step, own)
        elif node["agent"] == "program":
            self._program(step, own)
        elif node["agent"] is not None:  # else its failed attempts are shown
            begun |= {
                "role": step.role,
                "agent": node["agent"],
                "purpose": node["attempt"]["purpose"],
            }
            self._add("user", step.prompt, node["startedAtMs"], begun)
            self._replies(step, own)
        if step.failure is not None:
            text = f"The attempt failed: {step.failure['kind']}: {step.failure['message']}"
            self._add("system", text, node["completedAtMs"], own)

    def _replies(self, step: RecordedStep, own: Mapping[str, Any]) -> None:
        """The turns, the rejected replies with their corrections, and the reply, which is the last
        turn if that has its text. When among the turns a reply was rejected is not recorded.
        """
        node, raw = step.node, step.raw
        turns, last = list(step.turns), None
        if turns and not step.corrections and turns[-1].text.strip() == (raw or "").strip():
            last = turns.pop()
        for turn in turns:
            self._turn(turn, node["model"])
        for each in step.corrections:
            self._add("agent", each.raw, None, {"rejected": list(each.errors)})
            self._add("user", each.prompt, None, {"correction": each.node["prompt"]})
        if raw is not None and step.is_answer:
            self._add("user", raw, node["completedAtMs"], {**own, "answer": True})
        elif raw is not None:
            fields: dict[str, Any] = {} if last is None else _of_turn(last)
            if not any(turn.usage is not None for turn in step.turns):
                fields["metrics"] = _metrics(node["usage"], extra=True)
            model = node["model"]
            self._add("agent", raw, node["completedAtMs"], own, model_name=model, **fields)

    def _turn(self, turn: RecordedTurn, model: str | None) -> None:
        own = {"turn": turn.ref}
        if turn.speaker == "assistant":
            started = next((call["startedAtMs"] for call in turn.tool_calls), None)
            self._add("agent", turn.text, started, own, model_name=model, **_of_turn(turn))
        else:
            self._add("system", turn.text, None, {**own, "speaker": turn.speaker})

    def _program(self, step: RecordedStep, own: Mapping[str, Any]) -> None:
        name, *words = shlex.split(step.prompt) or [""]
        call = {"tool_call_id": step.ref, "function_name": name, "arguments": {"argv": words}}
        observed = {"results": [{"source_call_id": step.ref, "content": step.raw or ""}]}
        fields = {"tool_calls": [call], "observation": observed, "llm_call_count": 0}
        self._add("agent", "", step.node["startedAtMs"], own, **fields)

    def _calls(
        self, calls: Sequence[RecordedCall], step: RecordedStep | None, own: Mapping[str, Any]
    ) -> None:
        """A step that called threads, or open calls: a reference to the trajectory of each."""
        results = list[dict[str, Any]]()
        for call in calls:
            below = self._thread.called_thread(call)
            if below is None:
                results.append({"content": f"thread {call.thread}, which is deleted"})
                continue
            if call.thread not in self._below:
                self._below[call.thread] = _Trajectory(below, self._run).document()
            at = {"plays": call.role, "branch": call.key, "end": call.end, "status": call.status}
            extra = {"uwf": {name: each for name, each in at.items() if each is not None}}
            found = {"trajectory_id": call.thread, "session_id": self._run, "extra": extra}
            results.append({"content": call.prompt or "", "subagent_trajectory_ref": [found]})
        fields = {"observation": {"results": results}, "llm_call_count": 0}
        at_ms = None if step is None else step.node["startedAtMs"]
        self._add("agent", "" if step is None else step.body, at_ms, own, **fields)


def _about(step: RecordedStep) -> dict[str, Any]:
    node = step.node
    return {
        "step": step.ref,
        "number": step.number,
        "role": step.role,
        "status": step.status,
        "failure": step.failure and step.failure["kind"],
        "next": node["next"]["role"] or node["next"]["status"],
        "usage": dict(node["usage"]),
    }


def _of_turn(turn: RecordedTurn) -> dict[str, Any]:
    return {
        "reasoning_content": turn.reasoning,
        "tool_calls": [_tool_call(call) for call in turn.tool_calls] or None,
        "observation": _observed(turn.tool_calls),
        "metrics": None if turn.usage is None else _metrics(turn.usage, extra=True),
    }


def _tool_call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = tool_arguments(call["arguments"])
    return {"tool_call_id": call["id"], "function_name": call["name"], "arguments": arguments}


def _observed(calls: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    results = [
        {
            "source_call_id": call["id"],
            "content": call["result"],
            "extra": {"uwf": {"isError": call["isError"]}},
        }
        for call in calls
        if call["result"] is not None
    ]
    return {"results": results} if results else None


def _metrics(usage: UsagePayload, *, extra: bool = False) -> dict[str, Any]:
    """Usage as the format counts it: cached tokens are a part of those of the prompt."""
    read, written = usage["cacheReadTokens"], usage["cacheWriteTokens"]
    inputs = [each for each in (usage["inputTokens"], read, written) if each is not None]
    found: dict[str, Any] = {
        "prompt_tokens": sum(inputs) if inputs else None,
        "completion_tokens": usage["outputTokens"],
        "cached_tokens": read,
        "cost_usd": usage["costUsd"],
    }
    if extra and usage["atLeast"]:
        found["extra"] = {"uwf": {"atLeast": [*usage["atLeast"]]}}  # lower bounds
    return {name: each for name, each in found.items() if each is not None}
