"""Stage 3, publish: a checked workflow as nodes: for each role its schema and the form of its
reply, and the workflow node itself. The same workflow always gets the same reference.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.cas.codec import decode, encode
from uwf_core.cas.hashing import META, ref_of, ref_of_text
from uwf_core.cas.inline import inline_refs
from uwf_core.errors import DefinitionError, PayloadError
from uwf_core.fields.records import constant_schemas, read_payload, write_record
from uwf_core.ids import Ref
from uwf_core.workflow.definition import WORKFLOW_TYPE, Edge, Workflow
from uwf_core.workflow.deliverable import deliverable_of, ways_of
from uwf_core.workflow.discover import expected_name
from uwf_core.workflow.load import load_file
from uwf_core.workflow.variants import keyword_faults
from uwf_core.yaml.nodes import YamlMapping
from uwf_core.yaml.shape import read_shape

if TYPE_CHECKING:
    from uwf_core.cas.store import Store


def publish(store: "Store", workflow: dict[str, Any]) -> Ref:
    """Store a checked workflow (`Checked.workflow`) with the workflows that its roles call; return
    the reference of its node.

    Writes all of it or nothing. Raises the errors of the store.
    """
    with store.transaction():
        type_ = store.put_schema(constant_schemas()["uwf workflow"], trusted=True)
        assert type_ == WORKFLOW_TYPE
        return _Publisher(store).workflow(workflow)


class _Publisher:
    """Stores a workflow and each one that it calls once, however many calls there are."""

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._stored: dict[int, Ref] = {}

    def workflow(self, workflow: dict[str, Any]) -> Ref:
        """The reference of a workflow; the mapping lives as long as this object."""
        known = self._stored.get(id(workflow))
        if known is not None:
            return known
        edges = workflow["graph"]
        roles = {
            name: self._role(name, role, edges.get(name, {}))
            for name, role in workflow["roles"].items()
        }
        graph = {
            name: {status: self._edge(edge) for status, edge in edges.items()}
            for name, edges in workflow["graph"].items()
        }
        own = workflow["input"]
        schema = None if own is None else self._store.put_schema(own)
        payload = {**workflow, "roles": roles, "graph": graph, "input": schema}
        ref = self._stored[id(workflow)] = self._store.put(WORKFLOW_TYPE, payload)
        return ref

    def _role(self, name: str, role: dict[str, Any], edges: dict[str, Any]) -> dict[str, Any]:
        called, texts = self._called(role["workflow"]), role["skillTexts"]
        schema = self._store.put_schema(role["frontmatter"])
        deliverable = None
        if called is None and role["program"] is None:
            ways = ways_of(
                {status: read_payload(Edge, edge) for status, edge in edges.items()}, name
            )
            stored = self._store.schema(schema)
            deliverable = write_record(deliverable_of(stored, ways, self._store.put_text))
        return {
            **role,
            "skillTexts": texts
            and {name: self._store.put_text(text) for name, text in texts.items()},
            "workflow": called,
            "frontmatter": schema,
            "deliverable": deliverable,
        }

    def _edge(self, edge: dict[str, Any]) -> dict[str, Any]:
        """An edge; one to branches refers to the type of the joint result and their workflows."""
        if edge["then"] is None:
            return edge
        parallel = edge["parallel"] and {
            name: {**branch, "workflow": self._called(branch["workflow"])}
            for name, branch in edge["parallel"].items()
        }
        called = self._called(edge["workflow"])
        schema = self._store.put_schema(edge["frontmatter"])
        return {**edge, "parallel": parallel, "workflow": called, "frontmatter": schema}

    def _called(self, called: Any) -> Any:
        return self.workflow(called) if isinstance(called, dict) else called


# -- the reference of a file -----------------------------------------------------------------------


# Only a valid workflow is ever published. So if the store has the reference of a file, a check
# would find nothing new: a thread that starts from a file that did not change costs no check.


def reference_of(file: str) -> Ref | None:
    """The reference of the workflow in `file` if it is valid; None if it is certainly not, or calls
    other workflows, names skills or has branches, which only a check resolves.

    A reference alone proves nothing: ask the store whether it exists.

    Raises:
        UsageError: the file is missing or cannot be read.
        DefinitionError: it is too large, or not UTF-8.
    """
    loaded = load_file(file)
    if loaded.problems or not isinstance(loaded.node, YamlMapping):
        return None
    workflow, problems = read_shape(Workflow, loaded.node, extensions=True)
    if problems or workflow.branch or workflow.name != expected_name(file):
        return None
    if any(edge.is_fan_out for edges in workflow.graph.values() for edge in edges.values()):
        return None
    payload = write_record(workflow)
    if payload["input"] is not None:
        schema = inline_refs(payload["input"])
        if schema.faults:
            return None
        payload["input"] = _reference(META, schema.schema)
    for name, role in payload["roles"].items():
        if not _complete(role, ways_of(workflow.graph.get(name, {}), name)):
            return None
    return _reference(WORKFLOW_TYPE, payload)


def _complete(role: dict[str, Any], ways: Mapping[str, str]) -> bool:
    """Give a role what publishing adds to it; whether it can be known without a check."""
    if role["workflow"] is not None or role["frontmatter"] is None or role["skills"]:
        return False
    schema = inline_refs(role["frontmatter"])
    if schema.faults or any(keyword_faults(role["frontmatter"])):
        return False
    role["frontmatter"] = _reference(META, schema.schema)
    if role["program"] is None:
        try:
            stored = decode(encode(schema.schema))
            role["deliverable"] = write_record(deliverable_of(stored, ways, ref_of_text))
        except (DefinitionError, PayloadError):
            return False
    return True


def _reference(type_: Ref, payload: Any) -> Ref | None:
    try:
        return ref_of(type_, encode(payload))
    except PayloadError:
        return None
