"""The reference of a step as the stages would store it again."""

import json
from typing import TYPE_CHECKING, Any

from uwf_core.api.redact import REPLACEMENT
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import PRIMITIVES, ref_of
from uwf_core.ids import Ref

if TYPE_CHECKING:
    from uwf_core.api.extract import ExtractReply
    from uwf_core.cas.store import Store
    from uwf_core.engine.plan import Task
    from uwf_core.replay.chain import Recorded
    from uwf_core.thread.types import NextPayload


def rebuilt_ref(
    store: "Store", attempt: "Recorded", task: "Task", reply: "ExtractReply", to: "NextPayload"
) -> Ref:
    """The reference that a step gets from what the stages computed, and from what only its agent
    and the clock know.
    """
    payload = attempt.payload
    output = store.get(payload["output"])
    fields: dict[str, Any] = {
        "number": task.number,
        "role": task.role,
        "purpose": task.purpose,
        "prev": task.prev,
        "replaces": task.replaces,
        "edgePrompt": _text(store, payload["edgePrompt"], task.base),
        "said": _text(store, payload["said"], task.said),
        "output": _kept(payload["output"], output.payload, _ref(output.type, reply.output)),
        "body": _text(store, payload["body"], reply.body or None),
        "next": _kept(payload["next"], payload["next"]["message"], dict(to)),
    }
    if to["kind"] is not None:  # the message of a failure is that of the version that recorded it
        fields["next"] = payload["next"]
    step = store.get(attempt.ref)
    return _ref(step.type, {**payload, **fields})


def _ref(type_: str, payload: Any) -> Ref:
    return ref_of(type_, encode(payload))


def _text(store: "Store", recorded: str | None, now: str | None) -> str | None:
    if now is None:
        return None
    text = None if recorded is None else store.text(Ref(recorded))
    kept: str = _kept(recorded, text, _ref(PRIMITIVES["string"], now))
    return kept


def _kept(recorded: Any, content: Any, now: Any) -> Any:
    """What was recorded if a part of it is redacted, else what comes out now."""
    is_redacted = REPLACEMENT in json.dumps(content, ensure_ascii=False)
    return recorded if is_redacted else now
