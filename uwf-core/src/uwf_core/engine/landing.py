"""Where a step leads the thread: to a role, to the end, or to a person. Pure."""

from collections.abc import Mapping
from typing import Any

from uwf_core.errors import RoutingFailed
from uwf_core.moderator.next import End, Suspend, moderate
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.index import Suspension, ThreadIndex
from uwf_core.thread.lifecycle import arrived, suspended
from uwf_core.workflow.definition import Definition


class Landing(NamedTuple):
    """The index after a step, and the failure where the graph does not say what comes next."""

    state: ThreadIndex
    failure: RoutingFailed | None


def land(
    definition: Definition, state: ThreadIndex, role: str, output: Mapping[str, Any], body: str
) -> Landing:
    """Where the output of `role` leads; a step that leads nowhere suspends the thread."""
    try:
        decision = moderate(definition, role, output, body)
    except RoutingFailed as failure:
        waiting = Suspension("failure", role, failure.message, failure.kind.word)
        return Landing(suspended(arrived(state, "suspended", role), waiting), failure)
    if isinstance(decision, End):
        return Landing(arrived(state, "completed", None), None)
    if isinstance(decision, Suspend):
        waiting = Suspension("role", decision.role, decision.message)
        return Landing(suspended(arrived(state, "suspended", decision.role), waiting), None)
    return Landing(arrived(state, "idle", decision.role), None)
