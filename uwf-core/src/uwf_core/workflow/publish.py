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
        own = workflow["input"]
        schema = None if own is None else store.put_schema(own)
        return store.put(type_, {**workflow, "roles": roles, "input": schema})


def _stored_role(store: "Store", role: dict[str, Any]) -> dict[str, Any]:
    called = role["workflow"]
    if isinstance(called, dict):
        called = publish(store, called)
    return {**role, "workflow": called, "frontmatter": store.put_schema(role["frontmatter"])}
