"""Steps as documents: those of a thread as rows, and one whole step."""

import json
from typing import TYPE_CHECKING, Any

from uwf_core.engine.find import find_step, find_thread
from uwf_core.errors import WrongStateError
from uwf_core.ids import Ref
from uwf_core.thread.head import read_head
from uwf_core.thread.history import (
    Step,
    body_of,
    failure_of,
    is_answer,
    is_start,
    newest_first,
    read_start,
    text_at,
)
from uwf_core.thread.types import StepPayload
from uwf_core.views.turns import turns_of_step

if TYPE_CHECKING:
    from uwf_core.engine.documents import CorrectionDocument, StepDocument, StepRow
    from uwf_core.engine.engine import Engine


def list_steps(engine: "Engine", word: str) -> "list[StepRow]":
    """The steps of a thread, oldest first; the first row is the start."""
    store = engine.store
    head = read_head(store, find_thread(engine, word))
    start = Ref(head.state.start)
    rows = [_row(engine, step) for step in newest_first(store, head.ref, start, ("output",))]
    return [_start_row(engine, start), *reversed(rows)]


def show_step(engine: "Engine", word: str) -> "StepDocument":
    """A whole step, or failed attempt.

    Raises:
        UnknownIdError: unknown step. WrongStateError: it is the start of a thread.
    """
    ref = find_step(engine, word)
    payload = engine.store.get(ref).payload
    if is_start(payload):
        raise WrongStateError(
            f"{ref} is the start of a thread, not a step",
            hint=f"`uwf cas get {ref}` prints it; `uwf thread read` prints the task",
        )
    return _document(engine, Step(ref, payload))


def _start_row(engine: "Engine", ref: Ref) -> "StepRow":
    start = read_start(engine.store, ref)
    return {
        "step": ref,
        "number": 0,
        "role": "$START",
        "agent": start["agent"],
        "alias": engine.alias_of(start["agent"]),
        "status": None,
        "startedAtMs": start["startedAtMs"],
        "completedAtMs": None,
        "durationMs": None,
        "usage": None,
        "denials": [],
        "attempts": 0,
        "answered": False,
    }


def _row(engine: "Engine", step: Step) -> "StepRow":
    payload = step.payload
    return {
        "step": step.ref,
        "number": payload["number"],
        "role": payload["role"],
        "agent": payload["agent"],
        "alias": engine.alias_of(payload["agent"]),
        "status": _status(_output(engine, payload)),
        "startedAtMs": payload["startedAtMs"],
        "completedAtMs": payload["completedAtMs"],
        "durationMs": payload["completedAtMs"] - payload["startedAtMs"],
        "usage": payload["usage"],
        "denials": payload["denials"],
        "attempts": len(payload["previousAttempts"]) + 1,
        "answered": is_answer(payload["answer"], payload["usage"]),
    }


def _document(engine: "Engine", step: Step) -> "StepDocument":
    payload, store = step.payload, engine.store
    failure, output = failure_of(store, step), _output(engine, payload)
    corrections: list[CorrectionDocument] = [
        {
            "prompt": store.text(Ref(each["prompt"])),
            "raw": store.text(Ref(each["raw"])),
            "errors": each["errors"],
        }
        for each in payload["corrections"]
    ]
    answer = text_at(store, payload["answer"])
    return {
        "step": step.ref,
        "thread": payload["thread"],
        "number": payload["number"],
        "role": payload["role"],
        "agent": payload["agent"],
        "alias": engine.alias_of(payload["agent"]),
        "agentVersion": payload["agentVersion"],
        "engineVersion": payload["engineVersion"],
        "model": payload["model"],
        "session": payload["session"],
        "continuation": payload["continuation"],
        "proof": payload["proof"],
        "stopReason": payload["stopReason"],
        "status": _status(output),
        "output": {} if failure else output,
        "body": "" if failure else body_of(store, step),
        "failure": None if failure is None else {**failure},
        "edgePrompt": store.text(Ref(payload["edgePrompt"])),
        "said": text_at(store, payload["said"]),
        "answer": None if answer is None else json.loads(answer),
        "by": payload["by"],
        "cwd": payload["cwd"],
        "startedAtMs": payload["startedAtMs"],
        "completedAtMs": payload["completedAtMs"],
        "durationMs": payload["completedAtMs"] - payload["startedAtMs"],
        "usage": payload["usage"],
        "denials": payload["denials"],
        "corrections": corrections,
        "previousAttempts": payload["previousAttempts"],
        "prev": payload["prev"],
        "replaces": payload["replaces"],
        "answered": is_answer(payload["answer"], payload["usage"]),
        "turns": turns_of_step(engine, step),
    }


def _output(engine: "Engine", payload: StepPayload) -> dict[str, Any]:
    output: dict[str, Any] = engine.store.payload(payload["output"])
    return output


def _status(output: dict[str, Any]) -> str | None:
    status = output.get("$status")
    return status if isinstance(status, str) else None
