"""The typed input of a workflow: its schema, and the names that it takes from outputs."""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.cas.bounds import Budget
from uwf_core.workflow.alternatives import as_list, properties_of
from uwf_core.workflow.parsed import ParsedRole, ParsedWorkflow
from uwf_core.workflow.problem import Problem, error_at
from uwf_core.workflow.role_schema import RoleSchema, SchemaSource, file_places
from uwf_core.workflow.variants import INPUT, objects_of


def check_input(
    parsed: ParsedWorkflow, roles: Mapping[str, RoleSchema], budget: Budget
) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The schema of the input without references, None without one, and its errors."""
    if parsed.input is None:
        return None, []
    source = SchemaSource(parsed.input)
    schema, problems = source.checked(budget)
    types = schema.get("type", "object")
    if "object" not in (as_list(types) or [types]):
        message = f"the type {types!r} does not allow a mapping, but the input of a workflow is one"
        problems.append(source.problem(("type",), "not-an-object", message, "write `type: object`"))
    for place in file_places(schema):
        message = "in the input, `format: file` is only a path; of outputs, the files are stored"
        hint = "remove `format: file`"
        warning = source.problem(place, "file-field", message, hint)
        problems.append(warning._replace(severity="warning"))
    for name, role in parsed.roles.items():
        if name in roles:
            problems += _taken(name, role, roles[name])
    return schema, list(dict.fromkeys(problems))


def _taken(name: str, role: ParsedRole, found: RoleSchema) -> Iterator[Problem]:
    """Fields of a role that a template could not read, since `input` is the workflow's."""
    message = f"the role {name!r} has a field 'input', which is the typed input of this workflow"
    hint = "rename the field"
    if role.workflow is not None:
        if any(INPUT in variant.properties for variant in found.analysis.variants):
            yield error_at(role.workflow.place, "reserved-field", message, hint)
    elif role.frontmatter is not None:
        objects = objects_of(found.schema)
        paths = [path for path, each in objects if INPUT in properties_of(each)]
        if paths:
            source = SchemaSource(role.frontmatter)
            for path in paths:
                yield source.problem((*path, "properties", INPUT), "reserved-field", message, hint)
