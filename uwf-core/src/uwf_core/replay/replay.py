"""Replay threads: the verdicts, with their causes, as a document."""

from typing import TYPE_CHECKING, TypedDict

from uwf_core.engine.find import find_thread
from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple
from uwf_core.replay.causes import Cause, causes_of, read_source
from uwf_core.replay.chain import Kind, Recorded, read_chain
from uwf_core.replay.walk import Part, Replayed, Verdict, replay_chain
from uwf_core.thread.head import read_head
from uwf_core.workflow.definition import Definition

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.results import Watch
    from uwf_core.workflow.yaml_nodes import YamlNode


class DifferenceDocument(TypedDict):
    """A part that is not as recorded."""

    part: Part
    recorded: str
    now: str


class CauseDocument(TypedDict):
    """A changed part of the workflow; `line` is in `file`, null without one."""

    path: str
    file: str | None
    line: int | None


class ReplayedDocument(TypedDict):
    """The verdict on a recorded attempt. `kind`: a step of the thread, or an attempt before it that
    failed, was replaced by a poke, or ended with a question. `engineVersion` recorded it; `prev` is
    the step before it.
    """

    step: str
    prev: str | None
    number: int
    role: str
    kind: Kind
    verdict: Verdict
    differences: list[DifferenceDocument]
    causes: list[CauseDocument]
    engineVersion: str | None


class ReplayDocument(TypedDict):
    """The replay of a thread. `workflow` is that of the replay, null if each step had its own;
    `first` is the first attempt that is not the same.
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
    """The workflow of a replay, if it is not the recorded one, and its file, if it has one."""

    definition: Definition
    file: str | None = None


VERDICTS: tuple[Verdict, ...] = ("same", "stale", "different", "unreachable")
"""From the best to the worst."""


def read_changed(engine: "Engine", word: str, watch: "Watch") -> Changed:
    """The workflow that a word names, checked. Stores nothing: a draft may come and go.

    Raises:
        UsageError: it is unknown. DefinitionError: the file has errors.
    """
    from uwf_core.engine.workflows import read_resolved, resolve_workflow

    resolved = resolve_workflow(engine, word)
    workflow = read_resolved(engine, resolved, watch)
    if not isinstance(workflow, dict):
        return Changed(engine.definition(workflow), resolved.file)
    from uwf_core.cas.store import Store
    from uwf_core.stores.memory import MemoryBackend
    from uwf_core.workflow.definition import read_definition
    from uwf_core.workflow.publish import publish

    draft = Store(MemoryBackend(), engine.now_ms)
    return Changed(read_definition(draft, publish(draft, workflow)), resolved.file)


def replay_thread(engine: "Engine", word: str, changed: Changed | None = None) -> ReplayDocument:
    """Replay a thread: by its own workflows, or by a changed one. Reads the store only.

    Raises:
        UnknownIdError: unknown thread. StoreError: a node of it is missing or damaged.
    """
    head = read_head(engine.store, find_thread(engine, word))
    chain = read_chain(engine.store, head)

    def definition_of(attempt: Recorded) -> Definition:
        return changed.definition if changed else engine.definition(Ref(attempt.workflow))

    source = read_source(changed.file) if changed else None
    steps = [_document(engine, each, source) for each in replay_chain(engine, chain, definition_of)]
    verdicts = [each["verdict"] for each in steps]
    worst: Verdict = max(verdicts, key=VERDICTS.index, default="same")
    return {
        "thread": str(head.thread),
        "start": str(head.state.start),
        "workflow": None if changed is None else changed.definition.ref,
        "workflowName": changed.definition.name if changed else head.state.workflow_name,
        "verdict": worst,
        "counts": {verdict: verdicts.count(verdict) for verdict in VERDICTS},
        "first": next((each for each in steps if each["verdict"] != "same"), None),
        "steps": steps,
    }


def _document(engine: "Engine", each: Replayed, source: "YamlNode | None") -> ReplayedDocument:
    payload = each.attempt.payload
    return {
        "step": each.attempt.ref,
        "prev": payload["prev"],
        "number": payload["number"],
        "role": payload["role"],
        "kind": each.attempt.kind,
        "verdict": each.verdict,
        "differences": [
            {"part": part, "recorded": recorded, "now": now}
            for part, recorded, now in each.differences
        ],
        "causes": [
            {"path": path, "file": file, "line": line}
            for path, file, line in _causes(engine, each, source)
        ],
        "engineVersion": payload.get("engineVersion"),
    }


def _causes(engine: "Engine", each: Replayed, source: "YamlNode | None") -> list[Cause]:
    if not each.differences or each.workflow is None:
        return []
    recorded = engine.definition(Ref(each.attempt.workflow))
    role = each.attempt.payload["role"]
    return causes_of(each.differences, role, each.edge, (recorded, each.workflow), source)
