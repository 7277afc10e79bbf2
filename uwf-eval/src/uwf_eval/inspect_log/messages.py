"""The messages of a recorded thread, and of the threads that it called, as Inspect has them."""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.api import RecordedCall, RecordedStep, RecordedThread, RecordedTurn
from uwf_core.api.tool_calls import tool_arguments

Message = dict[str, Any]


class Messages:
    """Reads messages in the order of the steps; each step once, though a thread is called twice."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def of(self, thread: RecordedThread, end: str | None = None) -> Iterator[Message]:
        """The messages of a thread, up to the step `end`."""
        for step in thread.steps("prompt", "raw", "detail"):
            for each in step.tries():
                yield from self._attempt(thread, each)
            if step.ref == end:
                return
        for each in thread.pending:
            yield from self._attempt(thread, each)
        for call in thread.open_calls:
            yield from self._called(thread, call)

    def _attempt(self, thread: RecordedThread, step: RecordedStep) -> Iterator[Message]:
        if step.ref in self._seen:
            return
        self._seen.add(step.ref)
        if step.node["agent"] == "workflow":
            for call in step.calls:
                yield from self._called(thread, call)
            return
        about = {"step": step.ref, "role": step.role, "status": step.status}
        if step.node["agent"] not in ("human", None):
            yield _message("user", step.prompt, f"{step.ref}-prompt", about)
        for turn in step.turns:
            yield from _turn(turn, about, step.node["model"])
        for number, each in enumerate(step.corrections):
            rejected = {**about, "rejected": list(each.errors)}
            yield _message("assistant", each.raw, f"{step.ref}-rejected-{number}", rejected)
            yield _message("user", each.prompt, f"{step.ref}-correction-{number}", about)
        if step.raw is not None:
            role = "user" if step.is_answer else "assistant"
            yield _message(role, step.raw, f"{step.ref}-reply", about)

    def _called(self, thread: RecordedThread, call: RecordedCall) -> Iterator[Message]:
        below = thread.called_thread(call)
        if below is not None:
            yield from self.of(below, call.end)


def _turn(turn: RecordedTurn, about: Mapping[str, Any], model: str | None) -> Iterator[Message]:
    content: Any = turn.text
    if turn.reasoning:
        text = {"type": "text", "text": turn.text}
        content = [{"type": "reasoning", "reasoning": turn.reasoning}, text]
    role = "assistant" if turn.speaker == "assistant" else "system"
    message = _message(role, content, turn.ref, about)
    if role == "assistant":
        message |= {"model": model, "tool_calls": [_call(each) for each in turn.tool_calls]}
    yield message
    for number, call in enumerate(turn.tool_calls):
        result = _message("tool", call["result"] or "", f"{turn.ref}-{number}", about)
        result |= {"tool_call_id": call["id"], "function": call["name"]}
        if call["isError"]:
            result["error"] = {"type": "unknown", "message": call["result"] or "the tool failed"}
        yield result


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": call["id"],
        "function": call["name"],
        "arguments": tool_arguments(call["arguments"]),
        "type": "function",
    }


def _message(role: str, content: Any, name: str, about: Mapping[str, Any]) -> Message:
    return {"role": role, "id": name, "content": content, "metadata": {"uwf": dict(about)}}
