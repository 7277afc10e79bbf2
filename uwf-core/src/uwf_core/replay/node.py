"""Whether the stages would store the same step again.

The store has verified that the recorded node matches its reference. So if every field that the
stages compute is equal, the new node has the same reference: nothing needs to be hashed again.
"""

from typing import TYPE_CHECKING

from uwf_core.replay.compare import same_text, same_value
from uwf_core.thread.history import text_at

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.context import Task
    from uwf_core.replay.chain import Recorded
    from uwf_core.thread.types import NextPayload

_OF_TASK = ("number", "role", "purpose", "prev", "replaces")


def changed_fields(
    store: "Store", attempt: "Recorded", task: "Task", to: "NextPayload"
) -> list[str]:
    """The fields of the node that would be others, besides those of prompt and output."""
    payload, computed = attempt.payload, task._asdict()
    recorded = {**payload["attempt"], **payload}
    changed = [name for name in _OF_TASK if recorded[name] != computed[name]]
    for name, now in (("edgePrompt", task.base), ("said", task.said)):
        text = text_at(store, recorded[name])
        if text != now and not same_text(text or "", now or ""):
            changed.append(name)
    # The message of a failure is that of the version that recorded it.
    if to["kind"] is None and not same_value(payload["next"], dict(to)):
        changed.append("next")
    return changed
