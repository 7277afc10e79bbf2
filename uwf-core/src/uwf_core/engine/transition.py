"""What an output decides: the role that runs next, the end, or why the thread waits. Pure."""

from collections.abc import Mapping
from typing import Any

from uwf_core.moderator.next import Route, Suspend, moderate
from uwf_core.thread.next import ends, runs, waits
from uwf_core.thread.types import NextPayload
from uwf_core.workflow.definition import Definition


def decide(definition: Definition, role: str, output: Mapping[str, Any], body: str) -> NextPayload:
    """Where the output of `role` leads.

    Raises:
        RoutingFailed: it leads nowhere.
    """
    decision = moderate(definition, role, output, body)
    if isinstance(decision, Route):
        return runs(decision.role)
    if isinstance(decision, Suspend):
        return waits("role", decision.role, decision.message)
    return ends()
