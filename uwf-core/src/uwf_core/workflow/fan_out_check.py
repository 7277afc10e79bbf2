"""Check the edges to branches: the list of a `forEach`, the branches, and the edges after them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from uwf_core.cas.bounds import Budget
from uwf_core.cas.schemas import schema_problems
from uwf_core.fields.mismatch import nearest, suggestion
from uwf_core.workflow.alternatives import alternatives, as_list, as_mapping
from uwf_core.workflow.definition import END, START, SUSPEND
from uwf_core.workflow.fan_out import EMPTY, INDEX, MIXED, RESULTS, BranchType, common_statuses
from uwf_core.workflow.fields import Fields, Presence, item_shape
from uwf_core.workflow.joins import (
    ListType,
    calls_itself,
    list_type,
    role_variants,
    source_variant,
    works_apart,
)
from uwf_core.workflow.names import check_name, name_fault
from uwf_core.workflow.parsed import (
    ParsedBranch,
    ParsedEdge,
    ParsedFanOut,
    ParsedRole,
    ParsedWorkflow,
    is_true,
    is_worktree,
)
from uwf_core.workflow.problem import Problem, error_at, warning_at
from uwf_core.workflow.role_schema import RoleSchema
from uwf_core.workflow.structure import kind_of
from uwf_core.workflow.template import TemplateError, TemplateName, parse
from uwf_core.workflow.variants import FOLDER, GIT_BRANCH, INPUT, PLACE
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlScalar, YamlSequence, types_of

_FILES = 3
"""The joint results of a file may have as many values as the schemas of so many files."""


def check_fan_outs(
    parsed: ParsedWorkflow, schemas: Mapping[str, RoleSchema], own: Mapping[str, Any] | None
) -> Iterator[Problem]:
    """Every error of the edges to branches. `own` is the schema of the typed input, or None."""
    graph, budget = parsed.root.values.get("graph"), Budget(files=_FILES)
    for name, fan_out in parsed.fan_outs.items():
        key = getattr(graph, "keys", {}).get(name)
        if key is not None:
            message = f"unknown role {name!r} at graph.{name}"
            hint = f"the edges after the branches belong in `{fan_out.place}.then`"
            yield error_at(key.place, "unknown-role", message, hint)
        if fan_out.source == START:
            message = f"{START} leads to branches before any role has run ({fan_out.place})"
            hint = "use the name of the first role; an edge of that role can lead to branches"
            yield error_at(fan_out.key.place, "start-target", message, hint)
        listed = list_type(fan_out, source_variant(fan_out, schemas))
        wrong = [] if listed is None else [*_list(fan_out, listed, own)]
        yield from wrong
        listed = None if wrong else listed
        yield from check_branches(parsed, fan_out, schemas, own, listed)
        yield from _then(parsed, fan_out, schemas, listed)
        yield from _stored(fan_out, schemas.get(name), budget)


# -- the list --------------------------------------------------------------------------------------


def _list(
    fan_out: ParsedFanOut, listed: ListType, own: Mapping[str, Any] | None
) -> Iterator[Problem]:
    """The first error of the list of a `forEach`."""
    assert fan_out.for_each is not None
    place, path = fan_out.for_each.place, fan_out.for_each.text
    whose = f"the status {fan_out.status!r} of {fan_out.source!r}"
    types = frozenset().union(*(types_of(each) for each in listed.alternatives))
    if not listed.alternatives:
        hint = suggestion(path.rpartition(".")[2], listed.known)
        yield error_at(place, "for-each", f"{whose} has no field {path!r}", hint)
    elif types - {"array", "null"}:
        message = f"{path!r} of {whose} is not always a list"
        yield error_at(place, "for-each", message, "declare it with `type: array` and `items:`")
    elif "null" in types:
        message = f"{path!r} of {whose} can be null, which is not a list"
        yield error_at(place, "for-each", message, "let an empty list stand for nothing")
    elif not listed.required:
        message = f"{whose} does not require {path!r}, so there may be no list"
        yield error_at(place, "for-each", message, "add it to `required`; a list may be empty")
    elif not listed.is_typed:
        message = f"{path!r} of {whose} does not declare its items"
        hint = "add `items: {type: object, properties: …}` to the schema of the list"
        yield error_at(place, "untyped-items", message, hint)
    elif own is not None and any(_declares_input(each) for each in listed.alternatives):
        message = f"the items of {path!r} have a field 'input', which is the typed input of this "
        yield error_at(place, "reserved-field", message + "workflow", "rename the field")


def _declares_input(schema: Mapping[str, Any]) -> bool:
    items = (schema.get("items"), *as_list(schema.get("prefixItems")))
    inner = [shape for each in items for shape in alternatives(each)]
    return any(INPUT in as_mapping(each.get("properties")) for each in inner)


# -- the joint result ------------------------------------------------------------------------------


def _then(
    parsed: ParsedWorkflow,
    fan_out: ParsedFanOut,
    schemas: Mapping[str, RoleSchema],
    listed: ListType | None,
) -> Iterator[Problem]:
    """The edges of the joint result."""
    if fan_out.then is None:
        return
    name = f"{fan_out.source}/{fan_out.status}"
    possible = [each.status for each in role_variants(name, schemas)]
    edges = parsed.graph[name][1]
    known = [*_common(fan_out, schemas), MIXED, EMPTY]
    yield from _missing(fan_out, edges, known, listed)
    for edge in edges:
        if possible and edge.status not in possible:
            yield _impossible(fan_out, edge, possible, schemas, listed)
        elif calls_itself(parsed, fan_out) and edge.role is not None and edge.role.text == END:
            message = f"a branch of {fan_out.place} is a thread of this workflow, and its joint "
            message += "result would be a result of the workflow: its type would contain itself"
            hint = "lead this edge to a role, which delivers the result of the workflow"
            yield error_at(edge.role.place, "endless-type", message, hint)


def _missing(
    fan_out: ParsedFanOut,
    edges: Iterable[ParsedEdge],
    known: list[str],
    listed: ListType | None,
) -> Iterator[Problem]:
    given = {each.status if each.status in known else nearest(each.status, known) for each in edges}
    place = fan_out.node.keys["then"].place if "then" in fan_out.node.keys else fan_out.key.place
    where = f"{fan_out.place}.then"
    if MIXED not in given:
        message = f"{where} has no edge for {MIXED}, when branches end with different statuses"
        hint = f"add `{MIXED}: {{role: …, prompt: …}}`; it is also taken if a branch is cancelled"
        yield error_at(place, "status-without-edge", message, hint)
    if EMPTY not in given and listed is not None and not listed.items.least:
        assert fan_out.for_each is not None
        message = f"{where} has no edge for {EMPTY}: {fan_out.for_each.text!r} can be empty"
        hint = f"add `{EMPTY}: {{role: …, prompt: …}}`, or `minItems: 1` to the schema of the list"
        yield error_at(place, "status-without-edge", message, hint)


def _impossible(
    fan_out: ParsedFanOut,
    edge: ParsedEdge,
    possible: list[str],
    schemas: Mapping[str, RoleSchema],
    listed: ListType | None,
) -> Problem:
    """An edge for a joint status that the branches cannot have."""
    message = f"the branches of {fan_out.place} cannot all end with {edge.status!r}"
    hint = suggestion(edge.status, [*_common(fan_out, schemas), *possible])
    statuses = {
        branch.name or branch.role.text: [
            each.status for each in role_variants(branch.role.text, schemas)
        ]
        for branch in fan_out.branches
        if branch.role is not None
    }
    lacking = [name for name, each in statuses.items() if edge.status not in each]
    if edge.status == EMPTY:
        message = f"the branches of {fan_out.place} are never none"
        hint = "remove this edge"
        if listed is not None:
            hint += ", or `minItems` of the list"
    elif edge.status.startswith("$") and len(lacking) < len(statuses):
        message = f"{fan_out.place} has no joint status {edge.status!r}"
        hint = f"branches that end with it have the joint status {MIXED}"
    elif len(lacking) < len(statuses):
        message += f": {', '.join(map(repr, lacking))} cannot"
        hint = f"use the edge {MIXED} for it"
    return error_at(edge.key.place, "unknown-status", message, hint)


def _common(fan_out: ParsedFanOut, schemas: Mapping[str, RoleSchema]) -> list[str]:
    """The statuses that all branches can have."""
    roles = [branch.role.text for branch in fan_out.branches if branch.role is not None]
    return common_statuses([BranchType(name, role_variants(name, schemas)) for name in roles])


def _stored(fan_out: ParsedFanOut, joint: RoleSchema | None, budget: Budget) -> Iterator[Problem]:
    """Why the type of the joint result cannot be stored: types within types can be too deep."""
    if joint is None or not joint.analysis.variants or budget.is_spent:
        return
    for invalid in schema_problems(joint.schema, budget=budget)[:1]:
        message = f"the joint result of {fan_out.place}: {invalid.message}"
        yield error_at(fan_out.key.place, "invalid-schema", message, invalid.hint or "")


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
