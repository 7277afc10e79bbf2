"""The edges to branches of a file: their errors, the types of the joint results, and the workflows
of the branches.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from uwf_core.cas.bounds import Budget, values_in
from uwf_core.cas.schemas import schema_problems
from uwf_core.fields.mismatch import name_fault, nearest, suggestion
from uwf_core.workflow.definition import END, SELF, START
from uwf_core.workflow.fan_out import (
    EMPTY,
    MAX_JOINT,
    MIXED,
    RESULTS,
    BranchType,
    ListType,
    branch_workflow,
    common_statuses,
    join_analysis,
    join_schema,
)
from uwf_core.workflow.fields import Fields, Presence, WorkLeft, item_shape
from uwf_core.workflow.lattice import alternatives, as_list, properties_of, types_of
from uwf_core.workflow.outputs import Outputs
from uwf_core.workflow.parsed import (
    ParsedEdge,
    ParsedFanOut,
    ParsedRole,
    ParsedWorkflow,
    is_true,
    is_worktree,
)
from uwf_core.workflow.role_check import NO_SCHEMA, RoleSchema
from uwf_core.workflow.structure import check_name, kind_of
from uwf_core.workflow.template import TemplateError, TemplateName, parse
from uwf_core.workflow.variants import FOLDER, GIT_BRANCH, INDEX, PLACE, Items
from uwf_core.yaml.nodes import YamlMapping, YamlScalar, YamlSequence
from uwf_core.yaml.problem import Problem, error_at, warning_at

_FILES = 3
"""The joint results of a file may have as many values as the schemas of so many files."""


def check_fan_outs(outputs: Outputs) -> Iterator[Problem]:
    """Every error of the edges to branches."""
    graph, budget = outputs.parsed.root.values.get("graph"), Budget(files=_FILES)
    for name, fan_out in outputs.parsed.fan_outs.items():
        key = getattr(graph, "keys", {}).get(name)
        if key is not None:
            message = f"unknown role {name!r} at graph.{name}"
            hint = f"the edges after the branches belong in `{fan_out.place}.then`"
            yield error_at(key.place, "unknown-role", message, hint)
        if fan_out.source == START:
            message = f"{START} leads to branches before any role has run ({fan_out.place})"
            hint = "use the name of the first role; an edge of that role can lead to branches"
            yield error_at(fan_out.key.place, "start-target", message, hint)
        listed = outputs.listed(fan_out)
        wrong = [] if listed is None else [*_list(fan_out, listed, outputs.reserved)]
        yield from wrong
        check = _FanOutCheck(name, fan_out, outputs, None if wrong else listed)
        yield from check.branches()
        yield from check.folder()
        yield from check.then()
        yield from _stored(fan_out, outputs.schemas.get(name), budget)


def _list(
    fan_out: ParsedFanOut, listed: ListType, reserved: Mapping[str, str]
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
    else:
        fields = _fields_of_items(listed)
        for field in filter(fields.__contains__, reserved):
            message = f"the items of {path!r} have a field {field!r}, which is {reserved[field]}"
            yield error_at(place, "reserved-field", message, "rename the field")


def _fields_of_items(listed: ListType) -> set[str]:
    lists = listed.alternatives
    items = [
        item for each in lists for item in (each.get("items"), *as_list(each.get("prefixItems")))
    ]
    return {name for each in items for shape in alternatives(each) for name in properties_of(shape)}


def _stored(fan_out: ParsedFanOut, joint: RoleSchema | None, budget: Budget) -> Iterator[Problem]:
    """Why the type of the joint result cannot be stored: types within types can be too deep."""
    if joint is None or not joint.analysis.variants or budget.is_spent:
        return
    for invalid in schema_problems(joint.schema, budget=budget)[:1]:
        message = f"the joint result of {fan_out.place}: {invalid.message}"
        yield error_at(fan_out.key.place, "invalid-schema", message, invalid.hint or "")


class _FanOutCheck:
    """The check of the branches of an edge, and of the edges after them. `listed` is the list of a
    `forEach`, None if it has an error.
    """

    def __init__(
        self, name: str, fan_out: ParsedFanOut, outputs: Outputs, listed: ListType | None
    ) -> None:
        self._name = name
        self._fan_out = fan_out
        self._parsed = outputs.parsed
        self._outputs = outputs
        self._listed = listed
        roles = [each.role.text for each in fan_out.branches if each.role is not None]
        self._common = common_statuses([BranchType(each, outputs.variants(each)) for each in roles])

    def branches(self) -> Iterator[Problem]:
        """Every error of the branches."""
        fan_out = self._fan_out
        if isinstance(fan_out.node.values.get("parallel"), YamlMapping) and not fan_out.branches:
            place = fan_out.node.keys["parallel"].place
            message = f"{fan_out.place}.parallel has no branch"
            yield error_at(place, "no-branches", message, "add `NAME: {role: …, prompt: …}`")
        for branch in fan_out.branches:
            yield from self._branch_name(branch)
            yield from self._result(branch)

    def _branch_name(self, branch: ParsedEdge) -> Iterator[Problem]:
        """Each branch is a field of the joint result."""
        name, place, where = branch.branch or "", branch.key.place, branch.place
        if name and name_fault(name) is not None:
            yield from check_name(name, "branch", place)
        elif name == RESULTS:
            message = f"{where}: the joint result has the field {RESULTS!r} already"
            yield error_at(place, "reserved-field", message, "rename the branch")
        elif name in self._outputs.reserved:
            message = f"{where}: {name!r} is {self._outputs.reserved[name]}"
            yield error_at(place, "reserved-field", message, "rename the branch")

    def _result(self, branch: ParsedEdge) -> Iterator[Problem]:
        """Fields of a role that uwf adds to the result of a branch."""
        role = branch.role
        if role is None:
            return
        is_apart = works_apart(self._fan_out, branch, self._outputs)
        taken = {INDEX, *(PLACE if is_apart else ())}
        fields = {name for each in self._outputs.variants(role.text) for name in each.properties}
        for field in sorted(taken & fields):
            where = f"which is {_TAKEN[field]} ({branch.place})"
            message = f"{role.text!r} has a field {field!r}, {where}"
            yield error_at(role.place, "reserved-field", message, "rename the field of the role")

    def folder(self) -> Iterator[Problem]:
        """An error if the edge says two things about folders; a warning if several branches that
        run at a time may write in one.
        """
        fan_out, listed = self._fan_out, self._listed
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
            if _may_write(each, self._parsed) and not works_apart(fan_out, each, self._outputs)
        ]
        if not fan_out.is_list:
            is_one = len({_folder_text(each) for each in writing}) < len(writing)
        else:
            is_one = bool(writing) and listed is not None and not _one_each(writing[0], listed)
        if is_one:
            message = f"the branches of {fan_out.place} may write in the same folder at the same "
            hint = "write `workspace: worktree`, or give each its own `location`, or write "
            hint += "`shared: true` (or `tools: []` in the role)"
            yield warning_at(fan_out.key.place, "shared-folder", message + "time", hint)

    def then(self) -> Iterator[Problem]:
        """The edges of the joint result."""
        fan_out = self._fan_out
        if fan_out.then is None:
            return
        edges, possible = self._parsed.graph[self._name][1], self._outputs.statuses(self._name)
        yield from self._missing(edges)
        for edge in edges:
            if possible and edge.status not in possible:
                yield self._impossible(edge, possible)
            elif calls_itself(self._parsed, fan_out) and edge.role and edge.role.text == END:
                message = f"a branch of {fan_out.place} is a thread of this workflow, and its "
                message += "joint result would be a result of the workflow: its type would "
                message += "contain itself"
                hint = "lead this edge to a role, which delivers the result of the workflow"
                yield error_at(edge.role.place, "endless-type", message, hint)

    def _missing(self, edges: Sequence[ParsedEdge]) -> Iterator[Problem]:
        fan_out, known = self._fan_out, [*self._common, MIXED, EMPTY]
        given = {
            each.status if each.status in known else nearest(each.status, known) for each in edges
        }
        place = fan_out.node.keys.get("then", fan_out.key).place
        where = f"{fan_out.place}.then"
        if MIXED not in given:
            message = f"{where} has no edge for {MIXED}, when branches end with different statuses"
            hint = f"add `{MIXED}: {{role: …, prompt: …}}`; it is also taken if a branch is "
            yield error_at(place, "status-without-edge", message, hint + "cancelled")
        if EMPTY not in given and self._listed is not None and not self._listed.items.least:
            assert fan_out.for_each is not None
            message = f"{where} has no edge for {EMPTY}: {fan_out.for_each.text!r} can be empty"
            hint = f"add `{EMPTY}: {{role: …, prompt: …}}`, or `minItems: 1` to the schema of the "
            yield error_at(place, "status-without-edge", message, hint + "list")

    def _impossible(self, edge: ParsedEdge, possible: list[str]) -> Problem:
        """An edge for a joint status that the branches cannot have."""
        where = self._fan_out.place
        message = f"the branches of {where} cannot all end with {edge.status!r}"
        hint = suggestion(edge.status, [*self._common, *possible])
        statuses = {
            each.branch or each.role.text: self._outputs.statuses(each.role.text)
            for each in self._fan_out.branches
            if each.role is not None
        }
        lacking = [name for name, each in statuses.items() if edge.status not in each]
        if edge.status == EMPTY:
            message, hint = f"the branches of {where} are never none", "remove this edge"
            if self._listed is not None:
                hint += ", or `minItems` of the list"
        elif edge.status.startswith("$") and len(lacking) < len(statuses):
            message = f"{where} has no joint status {edge.status!r}"
            hint = f"branches that end with it have the joint status {MIXED}"
        elif len(lacking) < len(statuses):
            message += f": {', '.join(map(repr, lacking))} cannot"
            hint = f"use the edge {MIXED} for it"
        return error_at(edge.key.place, "unknown-status", message, hint)


_TAKEN = {
    INDEX: "the number of a branch",
    FOLDER: "the folder of a branch",
    GIT_BRANCH: "the git branch of a branch",
}


def _may_write(branch: ParsedEdge, parsed: ParsedWorkflow) -> bool:
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


def _folder_text(branch: ParsedEdge) -> str | None:
    """The template of the folder of a named branch; two equal ones can mean one folder."""
    text = None if branch.location is None else branch.location.text.strip()
    return f"{branch.branch}/{text}" if INDEX in _names(branch) else text or None


def _one_each(branch: ParsedEdge, listed: ListType) -> bool:
    """Whether every item has its own folder, as far as a template can tell."""
    if listed.items.most == 1:
        return True
    item = Fields(None, None, {INDEX: {}}, [item_shape(listed.alternatives)])
    return any(item.presence(name) is not Presence.NEVER for name in _template(branch))


def _template(branch: ParsedEdge) -> list[TemplateName]:
    try:
        return [] if branch.location is None else parse(branch.location.text).names()
    except TemplateError:
        return []


def _names(branch: ParsedEdge) -> set[str]:
    return {name.path[0] for name in _template(branch) if name.path}


# -- joint results ---------------------------------------------------------------------------------


def calls_itself(parsed: ParsedWorkflow, fan_out: ParsedFanOut) -> bool:
    """Whether one of the branches is a further thread of the workflow itself."""
    roles = (parsed.roles.get(branch.role.text) for branch in fan_out.branches if branch.role)
    words = (role.workflow.text.strip() for role in roles if role and role.workflow)
    return SELF in words


_RESULT_VALUES: Final = 15
"""Those of the type of a result besides its fields."""


def join_schemas(outputs: Outputs, work: WorkLeft, *, of_self: bool) -> dict[str, RoleSchema]:
    """The types of the joint results, by the name of the fan-out.

    Args:
        outputs: of the roles. work: the values that the types may still have. Beyond it, which is
            reported once, no type is made.
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


def _join(fan_out: ParsedFanOut, outputs: Outputs, work: WorkLeft) -> RoleSchema:
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
        named = edge["parallel"]
        for index, branch in enumerate([edge] if named is None else named.values()):
            role = workflow["roles"][branch["role"]]
            called = role["workflow"]
            if called is None:
                name, record = workflow["name"], workflow["record"]
                called = branch_workflow(name, branch["role"], role, record=record)
            branch["workflow"] = called
            if named is not None:
                branch["place"] = index
