"""Check the structure of a workflow file: keys, types, names."""

from collections.abc import Iterator
from typing import Any

from uwf_core.fields.mismatch import short
from uwf_core.fields.records import write_record
from uwf_core.workflow.alternatives import UNIONS
from uwf_core.workflow.definition import SUSPEND, VERSION, Workflow
from uwf_core.workflow.edge_kinds import check_edges, nested_places
from uwf_core.workflow.file_name import expected_name
from uwf_core.workflow.names import check_look_alike, check_name
from uwf_core.workflow.older import with_hints
from uwf_core.workflow.parsed import ParsedWorkflow
from uwf_core.workflow.problem import Place, Problem, error_at, warning_at
from uwf_core.workflow.role_kinds import check_kinds
from uwf_core.workflow.variants import BODY, NAME, NAME_HINT, PLACE, STATUS
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence
from uwf_core.workflow.yaml_shape import read_shape


def check_structure(
    parsed: ParsedWorkflow, file: str
) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The completed workflow (None if its structure is invalid) and the errors."""
    workflow, wrong = read_shape(Workflow, parsed.root, extensions=True)
    kinds = [*check_kinds(parsed), *check_edges(parsed)]
    covered = nested_places(parsed)
    wrong = [each for each in wrong if each.place not in covered]
    wrong = with_hints(wrong, parsed)
    problems = [*_version(parsed.root), *_names(parsed, file), *wrong, *kinds]
    if not parsed.roles and isinstance(parsed.root.values.get("roles"), YamlMapping):
        place = parsed.root.keys["roles"].place
        problems.append(error_at(place, "no-roles", "the workflow has no role", "add one"))
    return None if wrong or kinds else write_record(workflow), problems


def _version(root: YamlMapping) -> Iterator[Problem]:
    node = root.values.get("version")
    if node is None:
        yield warning_at(
            root.place, "version-missing", "the version is missing", "add `version: 1`"
        )
    elif isinstance(node, YamlScalar) and type(node.value) is int and node.value != VERSION:
        yield error_at(
            node.place,
            "version-unsupported",
            f"unsupported version {short(node.text)}; this uwf supports {VERSION}",
            "write `version: 1`, or use a newer uwf",
        )


def _names(parsed: ParsedWorkflow, file: str) -> Iterator[Problem]:
    given = parsed.root.values.get("name")
    if isinstance(given, YamlScalar) and isinstance(given.value, str) and given.tag is None:
        if not NAME.match(given.text):
            message = f"{short(given.text)!r} is not a valid workflow name"
            yield error_at(given.place, "bad-name", message, NAME_HINT)
        elif given.text != expected_name(file):
            yield error_at(
                given.place,
                "name-mismatch",
                f"the name {short(given.text)!r} is not the file name {expected_name(file)!r}",
                f"write `name: {expected_name(file)}`, or rename the file",
            )
    roles = [(name, role.key.place) for name, role in parsed.roles.items()]
    for name, place in roles:
        yield from check_name(name, "role", place)
    yield from check_look_alike(roles, "role")
    for role in parsed.roles.values():
        fields = [*_fields(role.frontmatter)]
        for name, place in fields:
            yield from check_name(name, "field", place)
        yield from check_look_alike(fields, "field")
    yield from (
        problem
        for name, place in _fields(parsed.input)
        for problem in check_name(name, "field", place)
    )
    for _, edges in parsed.graph.values():
        yield from check_look_alike([(each.status, each.key.place) for each in edges], "status")


_RESERVED = (STATUS, SUSPEND, BODY, *PLACE, "$index")
"""Fields with a fixed meaning, which other checks report."""


def _fields(schema: YamlNode | None) -> Iterator[tuple[str, Place]]:
    """The fields that a schema declares, also in its alternatives."""
    if not isinstance(schema, YamlMapping):
        return
    properties = schema.values.get("properties")
    if isinstance(properties, YamlMapping):
        for name, key in properties.keys.items():
            if name not in _RESERVED:
                yield name, key.place
    for word in UNIONS:
        choices = schema.values.get(word)
        for each in choices.items if isinstance(choices, YamlSequence) else ():
            yield from _fields(each)
