"""The step of the engine after the last attempt of a role has failed, if the graph leads on."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core import __version__
from uwf_core.api.sums import NOTHING_USED
from uwf_core.engine.plan import last_attempt
from uwf_core.errors import RoutingFailed
from uwf_core.ids import Ref
from uwf_core.moderator.next import apply_edge
from uwf_core.thread.decisions import Event, asked_for, waits
from uwf_core.thread.earlier import earlier_steps
from uwf_core.thread.failed import failed_output
from uwf_core.thread.fold import fold
from uwf_core.thread.head import move_head
from uwf_core.thread.history import failed_steps, typed_input
from uwf_core.thread.names import attempts_prefix
from uwf_core.thread.types import StepPayload
from uwf_core.workflow.definition import FAILED
from uwf_core.workflow.failed import FAILED_SCHEMA

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.head import Head
    from uwf_core.thread.types import AskedForPayload, NextPayload


def follow_failure(engine: "Engine", head: "Head", at_ms: int, status: str = FAILED) -> "Head":
    """The head after the edge of a failure, if the thread waits for one and has such an edge.
    Within the transaction that stores the failure.

    Args:
        head: with the failure. at_ms: when it came.
        status: with which the workflow ends, if a question that expired has one.
    """
    state, output = head.state, failed_output(head.state, status)
    if output is None or state.suspension is None:
        return head
    role, definition = state.suspension.role, engine.definition(Ref(state.workflow))
    edge, asked = definition.graph.get(role, {}).get(status), _asked_for(engine, head)
    if edge is None or asked["replaces"] is not None:  # a person wanted another reply
        return head
    most = definition.roles[role].max_unchanged
    if most and state.role(role).unchanged >= most:  # the edge has led back to the same failure
        return head
    output["$status"] = edge.as_ or status
    type_ = engine.store.put_schema(FAILED_SCHEMA, trusted=True)
    payload: StepPayload = {
        **dict.fromkeys(StepPayload.__annotations__),  # type: ignore[typeddict-item]
        "thread": head.thread,
        "seq": state.seq,
        "number": state.steps + 1,
        "role": role,
        "start": state.start,
        "workflow": state.workflow,
        "engineVersion": __version__,
        "startedAtMs": at_ms,
        "completedAtMs": at_ms,
        "usage": NOTHING_USED,
        "denials": [],
        "corrections": [],
        "prev": None if head.at_start else head.ref,
        "attempt": asked,
        "status": output["$status"],
        "output": engine.store.put(type_, output),
        "detail": engine.nodes.put("detail", {"session": None, "turns": []}),
        "next": _next(engine, head, output, at_ms),
        "previousAttempts": failed_steps(engine.store, state),
        "ancestors": [*state.ancestors] or None,
    }
    for variable in engine.store.variables(attempts_prefix(head.thread)) if state.tries else ():
        engine.store.delete_variable(variable)
    step = Event("step", *engine.nodes.put_plain("step", payload))
    return move_head(engine.store, head, Ref(step.ref), fold(state, step))


def _asked_for(engine: "Engine", head: "Head") -> "AskedForPayload":
    """What the newest attempt was asked to do, for a person who pokes this step; nothing if there
    was none.
    """
    store = engine.store
    if head.state.tries:
        newest = last_attempt(store, head)
        assert newest is not None
        last = store.payload(newest.value)["attempt"]
        kept = ("replaces", "edgePrompt", "instruction", "prompt", "cwd")
        same = {name: last[name] for name in kept}
        return asked_for(**same, number=head.state.tries + 1)
    blank = store.put_text("")
    return asked_for(edgePrompt=blank, instruction=blank, prompt=blank, cwd=head.state.cwd)


def _next(engine: "Engine", head: "Head", output: "Mapping[str, Any]", at_ms: int) -> "NextPayload":
    definition = engine.definition(Ref(head.state.workflow))
    given = typed_input(engine.store, definition, head.state)
    assert head.state.suspension is not None
    role, steps = head.state.suspension.role, earlier_steps(engine.store, definition, head.state)
    try:
        return apply_edge(definition, role, output, "", given, steps).decision(at_ms)
    except RoutingFailed as failure:
        return waits("failure", role, engine.redactor.text(failure.message), kind="routing")
