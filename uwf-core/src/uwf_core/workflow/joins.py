"""The fan-outs of a file: the type of each joint result, and the workflows of its branches."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from uwf_core.cas.bounds import values_in
from uwf_core.workflow.definition import SELF
from uwf_core.workflow.fan_out import (
    BranchType,
    branch_workflow,
    join_analysis,
    join_schema,
)
from uwf_core.workflow.outputs import Outputs
from uwf_core.workflow.parsed import (
    ParsedEdge,
    ParsedFanOut,
    ParsedWorkflow,
    is_true,
    is_worktree,
)
from uwf_core.workflow.problem import error_at
from uwf_core.workflow.role_schema import NO_SCHEMA, RoleSchema
from uwf_core.workflow.variants import PLACE, Items


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


def join_schemas(outputs: Outputs, work: JointWork, *, of_self: bool) -> dict[str, RoleSchema]:
    """The types of the joint results, by the name of the fan-out.

    Args:
        outputs: of the roles. work: what the types may take.
        of_self: of the fan-outs with a branch that calls the workflow itself, or of the others.
    """
    return {
        name: _join(fan_out, outputs, work)
        for name, fan_out in outputs.parsed.fan_outs.items()
        if calls_itself(outputs.parsed, fan_out) is of_self
    }


def works_apart(fan_out: ParsedFanOut, branch: ParsedEdge, outputs: Outputs) -> bool:
    """Whether a branch works in a separate worktree: as `engine.worktree.calls_in_worktree`."""
    if is_worktree(fan_out.node):
        return True
    called = None if branch.role is None else outputs.schemas.get(branch.role.text)
    is_apart = is_worktree(outputs.parsed.root) or (called is not None and called.is_apart)
    return is_apart and not is_true(fan_out.node, "shared")


def _join(fan_out: ParsedFanOut, outputs: Outputs, work: JointWork) -> RoleSchema:
    types = [
        BranchType(
            branch.branch or None,
            outputs.variants(branch.role.text) if branch.role else (),
            PLACE if works_apart(fan_out, branch, outputs) else {},
        )
        for branch in fan_out.branches
    ]
    if work.left < 0 or not types or not all(each.variants for each in types):
        return NO_SCHEMA  # another error
    then = () if fan_out.then is None else fan_out.then.values
    work.left -= _values_of(types, then)
    if work.left < 0:
        message = f"the joint result of {fan_out.place}: with it, the types of joint results hold "
        message += f"more than {MAX_JOINT:,} values, which would take too long to check"
        hint = "declare fewer statuses or fields for the roles of branches"
        problem = error_at(fan_out.key.place, "invalid-schema", message, hint)
        return NO_SCHEMA._replace(problems=[problem])
    items = None
    if fan_out.is_list:
        listed = outputs.listed(fan_out)
        items = Items(0, None) if listed is None else listed.items
    analysis = join_analysis(types, then, items)
    return RoleSchema(join_schema(analysis), analysis, [])


def _values_of(types: list[BranchType], then: Iterable[str]) -> int:
    """About how many values the type of a joint result will hold, before it is made."""
    chosen = {*then}
    return sum(
        (1 + (each.status in chosen)) * (_RESULT_VALUES + values_in(each.properties, MAX_JOINT))
        for branch in types
        for each in branch.variants
    )


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
