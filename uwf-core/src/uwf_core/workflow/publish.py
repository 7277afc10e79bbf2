"""A checked workflow as nodes: for each role its schema and the form of its reply, and the
workflow node itself.

The same workflow always gets the same reference.
"""

from typing import TYPE_CHECKING, Any

from uwf_core.fields.records import constant_schemas, read_payload, write_record
from uwf_core.ids import Ref
from uwf_core.workflow.definition import WORKFLOW_TYPE, Edge
from uwf_core.workflow.deliverable import deliverable_of, ways_of

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
