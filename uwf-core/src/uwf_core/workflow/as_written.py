"""A published workflow in the shape of its file. Pure."""

from typing import Any

from uwf_core.fields.records import write_record
from uwf_core.workflow.definition import Definition, RoleText, Workflow


def as_in_file(definition: Definition) -> Workflow:
    """A published workflow in the shape of its file, where each role contains its schema."""
    texts = [field for field in RoleText._fields if field != "frontmatter"]
    graph = definition.graph
    if any(role.fan_out for role in definition.roles.values()):
        from uwf_core.workflow.fan_out import graph_as_written  # not for every workflow

        graph = graph_as_written(definition)
    return Workflow(
        name=definition.name,
        roles={
            name: RoleText(
                frontmatter=dict(role.schema), **{field: getattr(role, field) for field in texts}
            )
            for name, role in definition.roles.items()
            if role.fan_out is None
        },
        graph=graph,
        description=definition.description,
        limits=definition.limits,
        input=None if definition.input is None else dict(definition.input),
        workspace=definition.workspace,
        record=definition.record,
        branch=definition.branch,
    )


def mapping_of(definition: Definition) -> dict[str, Any]:
    """A published workflow as the completed mapping of its file, the short keys first."""
    text: dict[str, Any] = write_record(as_in_file(definition))
    first = {key: text[key] for key in ("version", "name", "description", "input")}
    return {**first, **{key: value for key, value in text.items() if key not in first}}
