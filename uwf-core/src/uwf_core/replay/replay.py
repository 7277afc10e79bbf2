"""Replay threads: the verdicts, with their causes, as a document."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypedDict

from uwf_core.engine.find import find_thread
from uwf_core.fields.records import write_record
from uwf_core.ids import Ref
from uwf_core.replay.causes import Cause, Sources, causes_of
from uwf_core.replay.chain import Kind, Recorded, read_chain
from uwf_core.replay.tree import VERDICTS, replay_tree, worst
from uwf_core.replay.walk import Difference, Replayed, Verdict
from uwf_core.thread.head import read_head
from uwf_core.workflow.definition import Definition

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch


class ReplayedDocument(TypedDict):
    """The verdict on a recorded attempt. `kind`: a step of the thread, or an attempt before it that
    failed, was replaced by a poke, or ended with a question, or the open call of another thread.
    `thread` is the replayed thread or one that it called; `path` has the roles that call that
    thread before the own one (`work/writer`). `engineVersion` recorded it; `prev` is the step
    before it.
    """

    thread: str
    path: str
    step: str
    prev: str | None
    number: int
    role: str
    kind: Kind
    verdict: Verdict
    differences: list[Annotated[dict[str, Any], Difference]]
    causes: list[Annotated[dict[str, Any], Cause]]
    engineVersion: str | None


class ReplayDocument(TypedDict):
    """The replay of a thread with those that it called: the steps of a call follow it. `workflow`
    is that of the replay, null if each step had its own; `first` is the first attempt that is not
    the same, in a called thread if the call itself is.
    """

    thread: str
    start: str
    workflow: str | None
    workflowName: str
    verdict: Verdict
    counts: dict[str, int]
    first: ReplayedDocument | None
    steps: list[ReplayedDocument]


class Changed(NamedTuple):
    """The workflow of a replay, if it is not the recorded one, and its file, if it has one.
    `called` finds a workflow that it calls.
    """

    definition: Definition
    called: Callable[[Ref], Definition]
    file: str | None = None


def read_changed(engine: "Engine", word: str, watch: "Watch") -> Changed:
    """The workflow that a word names, checked. Stores nothing: a draft may come and go.

    Raises:
        UsageError: it is unknown. DefinitionError: the file has errors.
    """
    from uwf_core.engine.workflows import drafted, read_resolved, resolve_workflow

    resolved = resolve_workflow(engine, word)
    workflow = read_resolved(engine, resolved, watch)
    definition, called = drafted(engine, workflow)
    return Changed(definition, called, resolved.file)


def replay_thread(engine: "Engine", word: str, changed: Changed | None = None) -> ReplayDocument:
    """Replay a thread: by its own workflows, or by a changed one. Reads the store only.

    Raises:
        UnknownIdError: unknown thread. StoreError: a node of it is missing or damaged.
    """
    head = read_head(engine.store, find_thread(engine, word))
    chain = read_chain(engine.store, head)

    def definition_of(attempt: Recorded) -> Definition:
        return changed.definition if changed else engine.definition(Ref(attempt.workflow))

    called = changed.called if changed else engine.definition
    sources = Sources(changed.file if changed else None)
    replayed = replay_tree(engine, chain, definition_of, called)
    steps = [_document(engine, each, sources) for each in replayed]
    verdicts = [each["verdict"] for each in steps]
    return {
        "thread": str(head.thread),
        "start": str(head.state.start),
        "workflow": None if changed is None else changed.definition.ref,
        "workflowName": changed.definition.name if changed else head.state.workflow_name,
        "verdict": worst(verdicts),
        "counts": {verdict: verdicts.count(verdict) for verdict in VERDICTS},
        "first": first_changed(steps),
        "steps": steps,
    }


def first_changed(steps: "Sequence[ReplayedDocument]") -> ReplayedDocument | None:
    """The first attempt that is not the same; in place of a call that differs only by the steps
    below it, the first of these.
    """
    changed = (each for each in steps if each["verdict"] != "same")
    first = next(changed, None)
    while first is not None and {each["part"] for each in first["differences"]} == {"called"}:
        below = next(changed, None)
        if below is None or not below["path"].startswith(f"{first['path']}/"):
            return first
        first = below
    return first


def _document(engine: "Engine", each: Replayed, sources: "Sources") -> ReplayedDocument:
    payload = each.attempt.payload
    return {
        "thread": each.thread,
        "path": "/".join((*each.path, payload["role"])),
        "step": each.attempt.ref,
        "prev": payload["prev"],
        "number": payload["number"],
        "role": payload["role"],
        "kind": each.attempt.kind,
        "verdict": each.verdict,
        "differences": write_record(each.differences),
        "causes": write_record(_causes(engine, each, sources)),
        "engineVersion": payload.get("engineVersion"),
    }


def _causes(engine: "Engine", each: Replayed, sources: "Sources") -> list[Cause]:
    """The changed parts that explain an attempt; those of its call, if that has another prompt."""
    if not each.differences or each.workflow is None:
        return []
    recorded = engine.definition(Ref(each.attempt.workflow))
    role, source = each.attempt.payload["role"], sources.at(each.callers)
    found = causes_of(each.differences, role, each.edge, (recorded, each.workflow), source)
    return found or ([] if each.call is None else _causes(engine, each.call, sources))
