"""What happens to a thread and is not in its chain, written down: its index is rebuilt from it."""

from typing import TYPE_CHECKING, Literal

from uwf_core.ids import Ref
from uwf_core.thread.head import Head
from uwf_core.thread.names import event_name
from uwf_core.thread.types import EventPayload

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

Kind = Literal["cancelled", "granted", "asked"]


def put_event(
    engine: "Engine", head: Head, kind: Kind, at_ms: int, attempt: Ref | None = None
) -> None:
    """Write an event down. Within a transaction, together with the index that it changes.

    Args:
        engine: the engine.
        head: where the thread stands.
        kind: what happened.
        at_ms: when.
        attempt: the node of the attempt that ended with a question, for `asked`.
    """
    payload: EventPayload = {
        "thread": head.thread,
        "kind": kind,
        "atMs": at_ms,
        "head": head.ref,
        "attempt": attempt,
    }
    name = event_name(head.thread, at_ms, f"{kind}-{head.state.grants}-{head.state.tries}")
    engine.store.set_variable(name, engine.nodes.put("event", payload), {}, None)
