"""The fan-outs of a file: the type of each joint result, and the workflows of its branches."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from uwf_core.cas.bounds import values_in
from uwf_core.workflow.alternatives import alternatives, as_list, as_mapping
from uwf_core.workflow.definition import SELF
from uwf_core.workflow.fan_out import (
    BranchType,
    Items,
    branch_workflow,
    join_analysis,
    join_schema,
)
from uwf_core.workflow.parsed import (
    ParsedBranch,
    ParsedFanOut,
    ParsedWorkflow,
    is_true,
    is_worktree,
)
from uwf_core.workflow.problem import error_at
from uwf_core.workflow.role_schema import RoleSchema
from uwf_core.workflow.variants import PLACE, Analysis, Variant, variant_of
from uwf_core.workflow.yaml_nodes import types_of


def calls_itself(parsed: ParsedWorkflow, fan_out: ParsedFanOut) -> bool:
    """Whether one of the branches is a further thread of the workflow itself."""
    roles = (parsed.roles.get(branch.role.text) for branch in fan_out.branches if branch.role)
    words = (role.workflow.text.strip() for role in roles if role and role.workflow)
    return SELF in words


MAX_JOINT: Final = 25_000
"""The most values that the types of the joint results of files checked together may hold."""
_RESULT_VALUES: Final = 15
"""Those of the type of a result besides its fields."""


class JointWork:
    """What the types of joint results may still take; `left` counts their values. Beyond it,
    which is reported once, no type is made.
    """

    def __init__(self) -> None:
        self.left = MAX_JOINT


def join_schemas(
    parsed: ParsedWorkflow,
    schemas: Mapping[str, RoleSchema],
    work: JointWork,
    *,
    of_self: bool,
) -> dict[str, RoleSchema]:
    """The types of the joint results, by the name of the fan-out.

    Args:
        parsed: the file. schemas: of its roles. work: what the types may take.
        of_self: of the fan-outs with a branch that calls the workflow itself, or of the others.
    """
    return {
        name: _join(parsed, fan_out, schemas, work)
        for name, fan_out in parsed.fan_outs.items()
        if calls_itself(parsed, fan_out) is of_self
    }


def works_apart(
    parsed: ParsedWorkflow,
    fan_out: ParsedFanOut,
    branch: ParsedBranch,
    schemas: Mapping[str, RoleSchema],
) -> bool:
    """Whether a branch works in a separate worktree: as `engine.worktree.calls_in_worktree`."""
    if is_worktree(fan_out.node):
        return True
    called = None if branch.role is None else schemas.get(branch.role.text)
    is_apart = is_worktree(parsed.root) or (called is not None and called.is_apart)
    return is_apart and not is_true(fan_out.node, "shared")


def _join(
    parsed: ParsedWorkflow,
    fan_out: ParsedFanOut,
    schemas: Mapping[str, RoleSchema],
    work: JointWork,
) -> RoleSchema:
    types = [
        BranchType(
            branch.name,
            role_variants(branch.role.text, schemas) if branch.role else (),
            PLACE if works_apart(parsed, fan_out, branch, schemas) else {},
        )
        for branch in fan_out.branches
    ]
    if work.left < 0 or not types or not all(each.variants for each in types):
        return RoleSchema({}, Analysis((), ()), [])  # another error
    then = () if fan_out.then is None else fan_out.then.values
    work.left -= _values_of(types, then)
    if work.left < 0:
        message = f"the joint result of {fan_out.place}: with it, the types of joint results hold "
        message += f"more than {MAX_JOINT:,} values, which would take too long to check"
        hint = "declare fewer statuses or fields for the roles of branches"
        problem = error_at(fan_out.key.place, "invalid-schema", message, hint)
        return RoleSchema({}, Analysis((), ()), [problem])
    listed = list_type(fan_out, source_variant(fan_out, schemas))
    analysis = join_analysis(
        types,
        then,
        (Items(0, None) if listed is None else listed.items) if fan_out.is_list else None,
    )
    return RoleSchema(join_schema(analysis), analysis, [])


def _values_of(types: list[BranchType], then: Iterable[str]) -> int:
    """About how many values the type of a joint result will hold, before it is made."""
    chosen = {*then}
    return sum(
        (1 + (each.status in chosen)) * (_RESULT_VALUES + values_in(each.properties, MAX_JOINT))
        for branch in types
        for each in branch.variants
    )


def role_variants(role: str, schemas: Mapping[str, RoleSchema]) -> tuple[Variant, ...]:
    """The variants of a role; empty if its schema is unknown."""
    return schemas[role].analysis.variants if role in schemas else ()


def source_variant(fan_out: ParsedFanOut, schemas: Mapping[str, RoleSchema]) -> Variant | None:
    """The output that takes the edge to the branches; None if it is unknown."""
    source = schemas.get(fan_out.source)
    return variant_of(None if source is None else source.analysis, fan_out.status)


class ListType(NamedTuple):
    """What is known of the list of a `forEach`.

    Attributes:
        alternatives: its schema, flat; none if the output has no such field.
        required: whether every such output has it.
        known: the fields of the mapping that should have it.
    """

    alternatives: tuple[dict[str, Any], ...]
    required: bool
    known: tuple[str, ...]

    @property
    def is_typed(self) -> bool:
        """Whether it declares its items, in every alternative."""
        return bool(self.alternatives) and all(
            types_of(each) == {"array"}
            and bool(as_mapping(each.get("items")) or as_list(each.get("prefixItems")))
            for each in self.alternatives
        )

    @property
    def items(self) -> Items:
        """How many items it can have."""
        least = [_bound(each.get("minItems", 0)) or 0 for each in self.alternatives]
        most = [_bound(each.get("maxItems")) for each in self.alternatives]
        known = [each for each in most if each is not None]
        return Items(min(least, default=0), max(known) if known and known == most else None)


def list_type(fan_out: ParsedFanOut, variant: Variant | None) -> ListType | None:
    """The list of a `forEach` in the output that takes its edge; None if that is unknown."""
    if not fan_out.is_list or fan_out.for_each is None or variant is None:
        return None
    return listed_in(fan_out.for_each.text, variant)


def listed_in(path: str, variant: Variant) -> ListType:
    """The list at a path of an output."""
    found: list[dict[str, Any]] = [
        {
            "type": "object",
            "properties": variant.properties,
            "required": sorted(variant.required),
        }
    ]
    is_required, known = True, dict[str, None]()
    for part in path.split("."):
        known = {name: None for each in found for name in as_mapping(each.get("properties"))}
        is_required = is_required and all(_has(each, part) for each in found)
        found = [
            inner
            for each in found
            if part in as_mapping(each.get("properties"))
            for inner in alternatives(each["properties"][part])
        ]
    return ListType(tuple(found), is_required, tuple(known))


def _has(schema: Mapping[str, Any], part: str) -> bool:
    """Whether a value is a mapping that has a field."""
    return types_of(schema) == {"object"} and part in as_list(schema.get("required"))


def _bound(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) else None


def complete_fan_outs(
    workflow: dict[str, Any], parsed: ParsedWorkflow, schemas: Mapping[str, RoleSchema]
) -> None:
    """Add to each edge to branches its derived parts: the type of the joint result, and the
    workflow of each branch. The roles of the workflow are complete.
    """
    for fan_out_name, fan_out in parsed.fan_outs.items():
        edge = workflow["graph"][fan_out.source][fan_out.status]
        edge["frontmatter"] = schemas[fan_out_name].schema
        for index, branch in enumerate(_branches(edge)):
            role = workflow["roles"][branch["role"]]
            called = role["workflow"]
            if called is None:
                name, record = workflow["name"], workflow["record"]
                called = branch_workflow(name, branch["role"], role, record=record)
            branch["workflow"] = called
            if edge["parallel"] is not None:
                branch["place"] = index


def _branches(edge: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if edge["parallel"] is None:
        yield edge
    else:
        yield from edge["parallel"].values()
