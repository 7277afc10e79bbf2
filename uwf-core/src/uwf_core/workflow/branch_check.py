"""Check the branches of a fan-out: their names, roles and folders."""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.fields.mismatch import suggestion
from uwf_core.workflow.definition import END, START, SUSPEND
from uwf_core.workflow.fan_out import INDEX, RESULTS
from uwf_core.workflow.fields import Fields, Presence, item_shape
from uwf_core.workflow.joins import ListType, works_apart
from uwf_core.workflow.names import check_name, name_fault
from uwf_core.workflow.parsed import (
    ParsedBranch,
    ParsedFanOut,
    ParsedRole,
    ParsedWorkflow,
    is_true,
    is_worktree,
)
from uwf_core.workflow.problem import Problem, error_at, warning_at
from uwf_core.workflow.role_kinds import kind_of
from uwf_core.workflow.role_schema import RoleSchema
from uwf_core.workflow.template import TemplateError, TemplateName, parse
from uwf_core.workflow.variants import FOLDER, GIT_BRANCH, INPUT, PLACE
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlScalar, YamlSequence


def check_branches(
    parsed: ParsedWorkflow,
    fan_out: ParsedFanOut,
    schemas: Mapping[str, RoleSchema],
    own: Mapping[str, Any] | None,
    listed: ListType | None,
) -> Iterator[Problem]:
    """Every error of the branches of a fan-out.

    Args:
        parsed: the file. fan_out: in it. schemas: of its roles.
        own: the schema of the typed input, or None.
        listed: the list of a `forEach`, None if it has an error.
    """
    if isinstance(fan_out.node.values.get("parallel"), YamlMapping) and not fan_out.branches:
        place = fan_out.node.keys["parallel"].place
        message = f"{fan_out.place}.parallel has no branch"
        yield error_at(place, "no-branches", message, "add `NAME: {role: …, prompt: …}`")
    for branch in fan_out.branches:
        where = fan_out.place if branch.name is None else f"{fan_out.place}.parallel.{branch.name}"
        if branch.name is not None:
            yield from _name(branch.name, branch, where, own)
        if branch.role is not None:
            own_fields = PLACE if works_apart(parsed, fan_out, branch, schemas) else {}
            yield from _role(branch.role, where, parsed, schemas, {INDEX, *own_fields})
    yield from _folder(parsed, fan_out, schemas, listed)


def _name(
    name: str, branch: ParsedBranch, where: str, own: Mapping[str, Any] | None
) -> Iterator[Problem]:
    """Each branch is a field of the joint result."""
    place = branch.key.place
    if name_fault(name) is not None:
        yield from check_name(name, "branch", place)
    elif name == RESULTS:
        message = f"{where}: the joint result has the field {RESULTS!r} already"
        yield error_at(place, "reserved-field", message, "rename the branch")
    elif name == INPUT and own is not None:
        message = f"{where}: 'input' is the typed input of this workflow"
        yield error_at(place, "reserved-field", message, "rename the branch")


def _role(
    role: YamlScalar,
    where: str,
    parsed: ParsedWorkflow,
    schemas: Mapping[str, RoleSchema],
    taken: set[str],
) -> Iterator[Problem]:
    """`taken`: what uwf adds to the result of the branch."""
    if role.text in (START, END, SUSPEND):
        message = f"{role.text} cannot be the role of a branch ({where})"
        yield error_at(role.place, "pseudo-node", message, "use the name of a role")
    elif parsed.roles and role.text not in parsed.roles:
        message = f"unknown role {role.text!r} at {where}"
        yield error_at(role.place, "unknown-role", message, suggestion(role.text, parsed.roles))
    elif role.text in schemas:
        variants = schemas[role.text].analysis.variants
        for field in sorted(taken & {name for each in variants for name in each.properties}):
            message = f"{role.text!r} has a field {field!r}, which is {_TAKEN[field]} ({where})"
            yield error_at(role.place, "reserved-field", message, "rename the field of the role")


_TAKEN = {
    INDEX: "the number of a branch",
    FOLDER: "the folder of a branch",
    GIT_BRANCH: "the git branch of a branch",
}


# -- folders ---------------------------------------------------------------------------------------


def _folder(
    parsed: ParsedWorkflow,
    fan_out: ParsedFanOut,
    schemas: Mapping[str, RoleSchema],
    listed: ListType | None,
) -> Iterator[Problem]:
    """An error if the edge says two things about folders; a warning if several branches that run at
    a time may write in one.
    """
    values = fan_out.node.values
    if is_true(fan_out.node, "shared"):
        if is_worktree(fan_out.node):
            message = f"{fan_out.place} has both `shared: true` and `workspace: worktree`"
            hint = "remove one: branches with separate worktrees do not share a folder"
            yield error_at(values["shared"].place, "edge-kind", message, hint)
        return
    most = values.get("maxParallel")
    if isinstance(most, YamlScalar) and most.value == 1:
        return
    writing = [
        each
        for each in fan_out.branches
        if _may_write(each, parsed) and not works_apart(parsed, fan_out, each, schemas)
    ]
    if not fan_out.is_list:
        is_one = len({_folder_text(each) for each in writing}) < len(writing)
    else:
        is_one = bool(writing) and listed is not None and not _one_each(writing[0], listed)
    if is_one:
        message = f"the branches of {fan_out.place} may write in the same folder at the same time"
        hint = "write `workspace: worktree`, or give each its own `location`, or write "
        hint += "`shared: true` (or `tools: []` in the role)"
        yield warning_at(fan_out.key.place, "shared-folder", message, hint)


def _may_write(branch: ParsedBranch, parsed: ParsedWorkflow) -> bool:
    role = None if branch.role is None else parsed.roles.get(branch.role.text)
    return role is not None and writes(role)


def writes(role: ParsedRole) -> bool:
    """Whether a role may change files: a person changes none by playing one, nor does an agent
    without any tool.
    """
    kind = kind_of(role)
    tools = None if role.node is None else role.node.values.get("tools")
    has_no_tool = isinstance(tools, YamlSequence) and not tools.items
    return kind in ("program", "workflow") or (kind == "agent" and not has_no_tool)


def _folder_text(branch: ParsedBranch) -> str | None:
    """The template of the folder of a named branch; two equal ones can mean one folder."""
    text = None if branch.location is None else branch.location.text.strip()
    return f"{branch.name}/{text}" if INDEX in _names(branch) else text or None


def _one_each(branch: ParsedBranch, listed: ListType) -> bool:
    """Whether every item has its own folder, as far as a template can tell."""
    if listed.items.most == 1:
        return True
    item = Fields(None, None, {INDEX: {}}, [item_shape(listed.alternatives)])
    return any(item.presence(name) is not Presence.NEVER for name in _template(branch))


def _template(branch: ParsedBranch) -> list[TemplateName]:
    try:
        return [] if branch.location is None else parse(branch.location.text).names()
    except TemplateError:
        return []


def _names(branch: ParsedBranch) -> set[str]:
    return {name.path[0] for name in _template(branch) if name.path}
