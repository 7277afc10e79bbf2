"""Replay threads: the verdicts, with their causes, as a document."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from uwf_core.engine.find import find_thread
from uwf_core.errors import DefinitionError, UsageError
from uwf_core.fields.records import write_record
from uwf_core.ids import Ref
from uwf_core.replay.chain import Kind, Recorded, read_chain
from uwf_core.replay.tree import VERDICTS, replay_tree, worst
from uwf_core.replay.walk import Replayed, Verdict
from uwf_core.thread.head import read_head
from uwf_core.workflow.definition import SELF, Definition, Edge
from uwf_core.workflow.file_name import SUFFIXES
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlNode, YamlScalar

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch
    from uwf_core.replay.walk import Difference


Keys = tuple[str, ...]

_OF_ROLE = ("goal", "capabilities", "procedure", "output", "frontmatter")
"""The fields of a role that its prompt shows."""


class Cause(NamedTuple):
    """A part of a workflow that differs: its path (`roles.writer.goal`), and where it is written
    in the workflow's file, if there is one.
    """

    workflow_name: str
    path: str
    file: str | None = None
    line: int | None = None


def causes_of(
    differences: "Sequence[Difference]",
    role: str,
    edge: tuple[str, str],
    workflows: "tuple[Definition, Definition]",
    source: YamlNode | None,
) -> list[Cause]:
    """The changed parts that explain the differences of an attempt of `role`.

    Args:
        differences: those of the attempt.
        role: its role.
        edge: the role and status whose edge led to it.
        workflows: the recorded one, and that of the replay.
        source: the file of the latter.
    """
    recorded, now = workflows
    if recorded.ref == now.ref:
        return []
    paths = dict.fromkeys(
        in_file(keys) for each in differences for keys in _paths(each, role, edge, now)
    )
    then, current = _parts(recorded), _parts(now)
    changed = [keys for keys in paths if _at(then, keys) != _at(current, keys)]
    parents = {keys[:count] for keys in changed for count in range(len(keys))}
    return [_cause(now.name, keys, source) for keys in changed if keys not in parents]


def _paths(
    difference: "Difference", role: str, edge: tuple[str, str], now: "Definition"
) -> Iterator[Keys]:
    """The parts of a workflow on which a part of an attempt depends."""
    source, status = edge
    part = difference.part
    fan_out = now.roles[role].fan_out if role in now.roles else None
    if fan_out is not None:
        yield from _of_branches(part, ("graph", *role.rpartition("/")[::2]), fan_out)
    elif part in ("called", "output"):
        yield ("roles", role, "workflow")
    if part in ("prompt", "correction", "output", "role") and fan_out is None:
        yield from (("roles", role, field) for field in _OF_ROLE)
    if part in ("prompt", "role"):
        yield ("graph", source, status, "prompt")
    if part in ("role", "route"):
        yield ("graph", source, status, "role")
    if part == "prompt":
        yield from (("graph", role, each, "role") for each in now.graph.get(role, {}))
    if part == "location":
        yield ("graph", source, status, "location")
    if part in ("route", "message"):
        yield from (("graph", role, each) for each in now.graph.get(role, {}))
        yield ("graph", role)


def _of_branches(part: str, edge: Keys, fan_out: Edge) -> Iterator[Keys]:
    """The parts of an edge to branches, at its path, on which a part of the fan-out depends."""
    branches = [(*edge, "parallel", name) for name in fan_out.parallel or ()] or [edge]
    if part in ("prompt", "location"):
        yield from ((*branch, part) for branch in branches)
    if part == "branches":
        yield from ((*edge, each) for each in ("forEach", "parallel", "role"))
    if part == "output":
        yield (*edge, "then")


def in_file(keys: Keys) -> Keys:
    """The path of a part in the file: the edges of a fan-out are in the `then` of its edge."""
    if keys[0] != "graph" or len(keys) < 2 or "/" not in keys[1]:
        return keys
    source, _, status = keys[1].rpartition("/")
    return ("graph", source, status, "then", *keys[2:])


def _parts(workflow: "Definition") -> dict[str, Any]:
    return {"roles": workflow.roles, "graph": workflow.written.graph}


def _at(parts: Mapping[str, Any], keys: Keys) -> Any:
    """The part of a workflow at a path; None where there is none."""
    found: Any = parts
    for key in keys:
        name = "for_each" if key == "forEach" else key
        found = found.get(key) if isinstance(found, dict) else getattr(found, name, None)
        if found is None:
            return None
    return found


def _cause(name: str, keys: Keys, source: YamlNode | None) -> Cause:
    place, node = None, source
    for key in keys:
        if not isinstance(node, YamlMapping) or key not in node.values:
            break
        place, node = node.keys[key].place, node.values[key]
    path = ".".join(keys)
    return Cause(name, path, place and place.file, place and place.line)


class Sources:
    """The files of a workflow and of those that it calls; each is read once."""

    def __init__(self, file: str | None) -> None:
        self._files: dict[tuple[str, ...], str | None] = {(): file}
        self._read: dict[tuple[str, ...], YamlNode | None] = {}

    def at(self, path: tuple[str, ...]) -> YamlNode | None:
        """The nodes of the workflow that the roles of a path call; None if no file is known."""
        if path not in self._read:
            file = self._file(path)
            self._read[path] = None if file is None else _nodes(file)
        return self._read[path]

    def _file(self, path: tuple[str, ...]) -> str | None:
        if path not in self._files:
            self._files[path] = self._called(path)
        return self._files[path]

    def _called(self, path: tuple[str, ...]) -> str | None:
        """The file that a role names by its path; a name may be registered since. A branch of a
        role without a workflow is in the file of its caller.
        """
        own, above = self.at(path[:-1]), self._file(path[:-1])
        word = _value(own, ("roles", path[-1], "workflow"))
        if above is None or word in (None, SELF):
            return above
        is_path = "/" in word or word.endswith(SUFFIXES)
        return str(Path(above).parent / word) if is_path else None


def _value(node: YamlNode | None, keys: Keys) -> str | None:
    for key in keys:
        node = node.values.get(key) if isinstance(node, YamlMapping) else None
    return node.value if isinstance(node, YamlScalar) and isinstance(node.value, str) else None


def _nodes(file: str) -> YamlNode | None:
    """The nodes of a workflow's file, for the lines of its parts."""
    from uwf_core.workflow.load import load_file

    try:
        return load_file(file).node
    except (UsageError, DefinitionError):  # it has changed since it was published
        return None


class ReplayedDocument(TypedDict):
    """The verdict on a recorded attempt. `kind`: a step of the thread, or an attempt before it that
    failed, was replaced by a poke, or ended with a question, or the open call of another thread.
    `thread` is the replayed thread or one that it called; `path` has the roles that call that
    thread before the own one (`work/writer`). `engineVersion` recorded it; `prev` is the step
    before it. `differences` are the keys of `Difference`, `causes` those of `Cause`.
    """

    thread: str
    path: str
    step: str
    prev: str | None
    number: int
    role: str
    kind: Kind
    verdict: Verdict
    differences: list[dict[str, Any]]
    causes: list[dict[str, Any]]
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
