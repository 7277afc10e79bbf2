"""The beginning of a thread that shares the chain of another up to a step; nothing is copied."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.api.sums import NOTHING_USED
from uwf_core.engine.events import begin_thread, save_event
from uwf_core.errors import RoutingFailed, WrongStateError
from uwf_core.ids import Ref, ThreadId
from uwf_core.moderator.next import apply_edge
from uwf_core.thread.decisions import runs, workspace_of
from uwf_core.thread.head import read_head
from uwf_core.thread.history import (
    Step,
    body_of,
    inherited_steps,
    is_start,
    oldest_first,
    output_of,
    read_start,
    read_step,
)
from uwf_core.thread.names import head_name
from uwf_core.workflow.definition import START

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uwf_core.cas.store import Store
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.head import Head
    from uwf_core.thread.types import NextPayload, StartPayload, StepPayload
    from uwf_core.workflow.definition import Definition


def fork_at(
    engine: "Engine",
    thread: ThreadId,
    ref: Ref,
    workflow: Ref | None = None,
    *,
    depth: int = 0,
    compacted: str | None = None,
    cwd: str | None = None,
) -> "Head":
    """Create `thread` at a step or start, within a transaction.

    Args:
        engine: the engine.
        thread: its id.
        ref: the step or start.
        workflow: a workflow to continue with, in place of the step's; inherited steps keep theirs.
        depth: how many calls are above it.
        compacted: the newest event of compaction to take over; by default that of the thread that
            recorded the step. Its summary is taken over if it holds at the step.
        cwd: its folder; None: that of the start.

    Raises:
        StoreError: a node of the chain is missing or damaged.
        WrongStateError: it is a failed attempt, or the workflow cannot continue from it.
    """
    store = engine.store
    payload = store.get(ref).payload
    start = ref if is_start(payload) else Ref(read_step(store, ref).payload["start"])
    begun = read_start(store, start)
    definition = engine.definition(workflow or Ref(payload["workflow"]))
    fields = {
        "workflow": definition.ref,
        "workflowName": definition.name,
        "start": start,
        "head": ref,
        "cwd": cwd or begun["cwd"],
        "agent": begun["agent"],
        "depth": depth,
        "limits": begun["limits"],
        "next": decision_at(engine, ref, definition),
    }
    if start != ref and Path(engine.home, "files.git").is_dir():
        _keep_files(engine, thread, payload)
    head = begin_thread(engine, thread, fields, inherited_steps(store, ref))
    if start == ref:
        return head
    compacted = compacted or _compacted(store, ThreadId(payload["thread"]))
    return head if compacted is None else _with_summary(engine, head, compacted)


def _compacted(store: "Store", thread: ThreadId) -> str | None:
    """The newest event of compaction of a thread; None if the thread is deleted."""
    if not store.rows(head_name(thread), limit=1):
        return None
    return read_head(store, thread).state.compacted


def _with_summary(engine: "Engine", head: "Head", compacted: str) -> "Head":
    """The fork with a separate event for the summary that holds at its step: then its prompts
    can be made again when the other thread is gone. What the summary cost stays there.
    """
    from uwf_core.thread.summaries import newest_summary

    found = newest_summary(engine.store, compacted, head.ref)
    if found is None:
        return head
    now, event = engine.now_ms(), found.event
    copied = {
        **{name: event.payload[name] for name in _COPIED},
        "previous": event.ref,
        "startedAtMs": now,
        "completedAtMs": now,
        "usage": NOTHING_USED,
    }
    return save_event(engine, head, "compacted", **copied)


_COPIED = ("by", "step", "summary", "agent", "model", "prompt")


def decision_at(engine: "Engine", ref: Ref, definition: "Definition") -> "NextPayload":
    """Where a step or start leads in a workflow; raises as `fork_at`."""
    store = engine.store
    payload = store.get(ref).payload
    if is_start(payload):
        return runs(definition.graph[START]["new"].role)
    if payload["failure"] is not None:
        raise WrongStateError(
            f"{ref} is a failed attempt; a thread cannot continue from it",
            hint="next: uwf step list THREAD",
        )
    if definition.ref == payload["workflow"]:
        to: NextPayload = payload["next"]
        return {**to, "expires": None}  # a person made it, who will answer
    return _decision(store, definition, Step(ref, payload), read_start(store, payload["start"]))


def _keep_files(engine: "Engine", thread: ThreadId, step: "StepPayload") -> None:
    """Keep the recorded files of the steps that a new thread shares."""
    from uwf_core.files.keeping import share  # only where files are recorded

    workspace = workspace_of(step)
    after = workspace and workspace["after"]
    share(engine.home, step["thread"], thread, after and after["tree"])


def _decision(
    store: "Store", definition: "Definition", step: Step, start: "StartPayload"
) -> "NextPayload":
    """Where the output of a step leads in another workflow."""
    given = None if start["input"] is None else store.payload(Ref(start["input"]))
    role, output = step.payload["role"], output_of(store, step)
    hint = f"next: uwf workflow show {definition.ref}"
    if role not in definition.roles:
        raise WrongStateError(
            f"the workflow {definition.name} has no role {role!r}, which made step {step.ref}",
            hint=hint,
        )
    body, steps = body_of(store, step), None
    if definition.steps:
        steps = _inherited(store, definition, step, hint)
    try:
        to = apply_edge(definition, role, output, body, given, steps)
        return to._replace(within=None).decision(step.payload["completedAtMs"])
    except RoutingFailed as failure:
        raise WrongStateError(
            f"the workflow {definition.name} cannot continue from step {step.ref}: "
            f"{failure.message}",
            hint=hint,
        ) from failure


def _inherited(
    store: "Store", definition: "Definition", step: Step, hint: str
) -> "Mapping[str, Any]":
    """The steps that the templates of the workflow can name, which must be as it declares them."""
    from uwf_core.cas.schemas import violations  # few workflows name steps
    from uwf_core.thread.earlier import EarlierSteps, is_delivered
    from uwf_core.workflow.inherited import lost_reference

    newest: dict[str, Step] = {}
    for each in oldest_first(store, step.ref, Ref(step.payload["start"])):
        if is_delivered(each.payload):
            newest[each.payload["role"]] = each

    def has(role: str, statuses: list[str]) -> bool:
        found = newest.get(role)
        if found is None:
            return "" in statuses
        is_valid = not violations(
            definition.roles[role].schema, store.payload(str(found.payload["output"]))
        )
        return is_valid and found.payload["status"] in statuses

    lost = lost_reference(definition, (step.payload["role"], str(step.payload["status"])), has)
    if lost is not None:
        raise WrongStateError(
            f"the workflow {definition.name} cannot continue from step {step.ref}: {lost}, and the "
            "thread has no such step",
            hint=hint,
        )
    refs = {role: each.ref for role, each in newest.items()}
    return EarlierSteps(store, definition.steps, refs.get)
