"""A checked workflow as nodes: a schema node per role and the workflow node itself.

The same workflow always gets the same reference.
"""

from typing import TYPE_CHECKING, Any, Final

from uwf_core.ids import Ref
from uwf_core.shape.shapes import payload_schema
from uwf_core.workflow.definition import WORKFLOW_TYPE, Workflow

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

WORKFLOW_SCHEMA: Final = payload_schema(Workflow, "uwf workflow")
"""The type of workflow nodes. A change here is a new type: the old one stays readable."""


def publish(store: "Store", workflow: dict[str, Any]) -> Ref:
    """Store a checked workflow (`Checked.workflow`) with the workflows that its roles call; return
    the reference of its node.

    Writes all of it or nothing. Raises the errors of the store.
    """
    with store.transaction():
        type_ = store.put_schema(WORKFLOW_SCHEMA, trusted=True)
        assert type_ == WORKFLOW_TYPE
        roles = {name: _stored_role(store, role) for name, role in workflow["roles"].items()}
        graph = {
            name: {status: _stored_edge(store, edge) for status, edge in edges.items()}
            for name, edges in workflow["graph"].items()
        }
        own = workflow["input"]
        schema = None if own is None else store.put_schema(own)
        return store.put(type_, {**workflow, "roles": roles, "graph": graph, "input": schema})


def _stored_role(store: "Store", role: dict[str, Any]) -> dict[str, Any]:
    called = _stored_workflow(store, role["workflow"])
    return {**role, "workflow": called, "frontmatter": store.put_schema(role["frontmatter"])}


def _stored_edge(store: "Store", edge: dict[str, Any]) -> dict[str, Any]:
    """An edge; one to branches refers to the type of the joint result and to their workflows."""
    if edge["then"] is None:
        return edge
    parallel = edge["parallel"] and {
        name: {**branch, "workflow": _stored_workflow(store, branch["workflow"])}
        for name, branch in edge["parallel"].items()
    }
    called = _stored_workflow(store, edge["workflow"])
    schema = store.put_schema(edge["frontmatter"])
    return {**edge, "parallel": parallel, "workflow": called, "frontmatter": schema}


def _stored_workflow(store: "Store", called: Any) -> Any:
    return publish(store, called) if isinstance(called, dict) else called
