"""Reads the threads of a workflow from the store of a client."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from uwf_core.client import Client, ThreadFilter
from uwf_core.errors import StoreError, UnknownIdError
from uwf_improve.history.visits import (
    Attempted,
    Histories,
    History,
    Outline,
    RoleOutline,
    Visit,
)
from uwf_improve.sealed.origins import Origins

if TYPE_CHECKING:
    from uwf_core.api import RecordedStep, RecordedThread

_BATCH: Final = ("output",)
_LONGEST: Final = 400
"""So much of the arguments of a call tells it from others."""


def read_histories(
    client: Client, workflow: str, since_ms: int | None = None, limit: int | None = None
) -> Histories:
    """Read the threads of a workflow, the newest `limit`, also those that others called. Threads of
    which sealed tasks were made are left out: who drafts an edit must not see them.

    Args:
        workflow: its name, a file or a reference.

    Raises:
        UnknownIdError: unknown workflow, or it has no threads in that time.
    """
    outline = outline_of(client.workflow(workflow))
    wanted = ThreadFilter(
        all=True, workflow=outline.name, after_ms=since_ms, children=True, limit=limit
    )
    found, unreadable, hidden = [], 0, 0
    origins = Origins(client)
    sealed = origins.sealed()
    for row in client.list(wanted):
        try:
            if sealed and sealed & origins.marks(row["thread"]):
                hidden += 1
            else:
                found.append(_history(client.thread(row["thread"])))
        except StoreError:
            unreadable += 1
    if not found and not unreadable and not hidden:
        when = "" if since_ms is None else " in that time"
        raise UnknownIdError(
            f"the workflow {outline.name!r} has no threads{when}",
            hint="`uwf thread list --all` shows the threads of all workflows",
        )
    return Histories(outline=outline, threads=found[::-1], unreadable=unreadable, sealed=hidden)


def outline_of(shown: Mapping[str, Any]) -> Outline:
    """The outline of a definition, as `uwf workflow show` gives it."""
    graph = shown["graph"]
    roles = [
        RoleOutline(
            name=name,
            plays=next((each for each in ("program", "workflow", "human") if role[each]), "agent"),
            edges={
                status: edge.get("role") or _first_target(edge)
                for status, edge in graph.get(name, {}).items()
            },
        )
        for name, role in shown["roles"].items()
    ]
    start = graph["$START"]["new"]
    return Outline(
        name=shown["name"],
        ref=str(shown.get("workflow") or ""),
        first=start.get("role") or "",
        roles=roles,
    )


def _first_target(edge: Mapping[str, Any]) -> str:
    """Where a fan-out leads: the role of its branches."""
    branches = edge.get("parallel") or {}
    return next((each["role"] for each in branches.values()), "")


def _history(thread: "RecordedThread") -> History:
    return History(
        thread=thread.id,
        workflow=thread.workflow.ref,
        status=thread.status,
        visits=[_visit(thread.id, step) for step in thread.steps(*_BATCH)],
        pending=[(each.role, _attempted(each)) for each in thread.pending],
        limits=[str(event.payload["limit"]) for event in thread.events() if event.kind == "limit"],
    )


def _attempted(step: "RecordedStep") -> Attempted:
    return Attempted(ref=step.ref, kind=step.failure["kind"] if step.failure else "unknown")


def _visit(thread: str, step: "RecordedStep") -> Visit:
    status = step.status or ""
    edge = step.workflow.graph.get(step.role, {}).get(status)
    usage = step.node["usage"]
    return Visit(
        thread=thread,
        ref=step.ref,
        number=step.number,
        role=step.role,
        status=status,
        target="$SUSPEND" if status == "$SUSPEND" else None if edge is None else edge.role,
        feedback=[text for key, text in step.output.items()
                  if key != "$status" and isinstance(text, str)],
        fields=list(dict.fromkeys(_fields(step))),
        attempts=[_attempted(each) for each in step.attempts],
        poked=bool(step.replaced),
        answered=step.is_answer,
        tools=[_tool(call) for turn in step.turns for call in turn.tool_calls],
        denials=[str(each) for each in step.node["denials"]],
        cost_usd=usage["costUsd"],
        duration_ms=step.duration_ms,
    )  # fmt: skip


def _fields(step: "RecordedStep") -> Iterator[str]:
    """The fields that the errors of rejected replies name; "" for the reply as a whole."""
    for correction in step.corrections:
        for error in correction.errors:
            path, colon, _ = error.partition(": ")
            yield path if colon and " " not in path else ""


def _tool(call: Mapping[str, Any]) -> str:
    return f"{call['name']} {call['arguments'][:_LONGEST]}".strip()
