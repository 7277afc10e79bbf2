"""Fan-outs: an edge that leads to branches, as a further role with edges for their joint result.

The role is named `SOURCE/STATUS`. Its output is typed: the results of all branches in their order.
Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from uwf_core.workflow.definition import ANY, END, EXPIRED, START, Branch, Edge, Workflow
from uwf_core.workflow.fields import Fields, ValueShape
from uwf_core.workflow.lattice import (
    alternatives,
    as_list,
    as_mapping,
    properties_of,
    required_of,
    types_of,
)
from uwf_core.workflow.variants import (
    BODY,
    INDEX,
    INPUT,
    JOINED,
    STATUS,
    Analysis,
    Items,
    Variant,
    variants,
)

MIXED, EMPTY = JOINED
CANCELLED: Final = "$cancelled"
"""The status of a branch that was cancelled."""
RESULTS: Final = "results"
MAX_JOINT: Final = 25_000
"""The most values that the types of the joint results of files checked together may hold."""

ITEM: Final = "item"
OUTPUT: Final = "output"
"""The fields of the typed input of a generated workflow whose role a program plays."""
PROGRAM_INPUT: Final = {
    "type": "object",
    "properties": {OUTPUT: {"type": "object"}, ITEM: {}},
    "required": [OUTPUT],
}
ASKED: Final = "task"
PERSON_INPUT: Final = {
    "type": "object",
    "properties": {ASKED: {"type": "string"}},
    "required": [ASKED],
}
"""A person is asked with the instruction alone, so it is the prompt of the branch."""


def fan_out_name(source: str, status: str) -> str:
    """The role of the fan-out of an edge."""
    return f"{source}/{status}"


def flat_graph(
    graph: Mapping[str, Mapping[str, Edge]],
) -> tuple[dict[str, dict[str, Edge]], dict[str, Edge]]:
    """The graph in which each fan-out is a role, and the edges to branches by that role."""
    flat: dict[str, dict[str, Edge]] = {}
    found: dict[str, Edge] = {}
    for source, edges in graph.items():
        flat[source] = dict(edges)
        for status, edge in edges.items():
            if edge.then is not None:
                name = fan_out_name(source, status)
                found[name] = edge
                flat[source][status] = Edge(name)
                flat[name] = {key: Edge(**each._asdict()) for key, each in edge.then.items()}
    return flat, found


def with_failures(
    found: Workflow, graph: Mapping[str, Mapping[str, Edge]]
) -> dict[str, dict[str, Edge]]:
    """A graph with the edges for what a role does not deliver: after a failure and a deadline."""
    return {name: _with_failures(found, name, graph) for name in graph if name != ANY}


def _with_failures(
    found: Workflow, source: str, graph: Mapping[str, Mapping[str, Edge]]
) -> dict[str, Edge]:
    edges, role = graph[source], found.roles.get(source)
    expired = {f"{key}/{EXPIRED}": each.expired for key, each in edges.items() if each.expired}
    if role is not None and role.expired is not None:
        expired[EXPIRED] = role.expired
    own = {key: Edge(each.role, each.prompt, as_=each.as_) for key, each in expired.items()}
    if role is not None:
        own |= graph.get(ANY, {})
    own = {**own, **edges}
    return own | {each.as_: Edge(END, each.prompt) for each in own.values() if each.as_}


class NamedBranch(NamedTuple):
    """A branch; the one of `forEach` has no name."""

    name: str | None
    branch: Branch


class BranchTask(NamedTuple):
    """The task of a branch.

    Attributes:
        place: its number. name: its name in `parallel`, None for an item of a list.
        branch: what the workflow says of it.
        prompt, location: rendered; None without a location.
        contexts: what the names in its templates mean, the innermost last.
    """

    place: int
    name: str | None
    branch: Branch
    prompt: str
    location: str | None
    contexts: tuple[Any, ...]


def branches_of(edge: Edge) -> list[NamedBranch]:
    """The branches of a fan-out in the order of the file; one for `forEach`."""
    if edge.parallel is None:
        own = (name for name in Branch._fields if name in Edge._fields)
        one = Branch(**{name: getattr(edge, name) for name in own})
        return [NamedBranch(None, one)]
    named = [NamedBranch(name, branch) for name, branch in edge.parallel.items()]
    return sorted(named, key=lambda each: each.branch.place)


def fan_out_words(edge: Edge) -> str:
    """What an edge to branches leads to, in words."""
    roles = list(dict.fromkeys(each.branch.role for each in branches_of(edge)))
    if edge.for_each is not None:
        return f"the role {roles[0]}, once for each of `{edge.for_each}`, in parallel"
    names = " and ".join(filter(None, (", ".join(roles[:-1]), roles[-1])))
    return f"the role{'' if len(roles) == 1 else 's'} {names}, in parallel"


def joint_status(statuses: Sequence[str], then: Iterable[str]) -> str:
    """The status of a fan-out whose branches ended with these: the one that all have, if an edge of
    `then` is for it.
    """
    if not statuses:
        return EMPTY
    is_same = len(set(statuses)) == 1 and not statuses[0].startswith("$")
    return statuses[0] if is_same and statuses[0] in then else MIXED


def joint_output(
    status: str, results: Sequence[Mapping[str, Any]], names: Sequence[str | None]
) -> dict[str, Any]:
    """The output of a fan-out: the results of its branches in their order, and each by its name."""
    named = {name: each for name, each in zip(names, results, strict=True) if name is not None}
    return {STATUS: status, RESULTS: [*results], **named}


def branch_result(
    index: int,
    status: str,
    body: str,
    output: Mapping[str, Any] | None,
    place: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The result of a branch as a part of the joint output; no output if it was cancelled. `place`:
    the folder and git branch of one that worked in a worktree.
    """
    return {**(output or {}), **(place or {}), INDEX: index, STATUS: status, BODY: body}


# -- types -----------------------------------------------------------------------------------------


class BranchType(NamedTuple):
    """What a branch can deliver: its name, None for `forEach`, its variants, and the types of what
    a result has besides, if the branch works in a worktree.
    """

    name: str | None
    variants: Sequence[Variant]
    place: Mapping[str, Any] = {}


def most_items(schema: Mapping[str, Any]) -> int | None:
    """How many results the type of a joint result allows at most, None without a bound."""
    mixed = next(each for each in variants(schema) if each.status == MIXED)
    found: int | None = mixed.properties[RESULTS].get("maxItems")
    return found


def join_analysis(
    branches: Sequence[BranchType], then: Iterable[str], items: Items | None = None
) -> Analysis:
    """The variants of a fan-out: one for each status of `then` that all branches can have,
    `$mixed`, and for a list that can be empty `$empty`. `items` is for `forEach`.
    """
    common = common_statuses(branches)
    found = [_variant(status, branches, items) for status in then if status in common]
    found.append(_variant(MIXED, branches, items))
    if items is not None and not items.least:
        found.append(_empty())
    return Analysis(tuple(found), (), complete=True)


def common_statuses(branches: Sequence[BranchType]) -> list[str]:
    """The statuses that every branch can have, in their order; those of a join are `$mixed`."""
    first = branches[0].variants if branches else ()
    others = [{each.status for each in branch.variants} for branch in branches]
    return [
        each.status
        for each in first
        if not each.status.startswith("$") and all(each.status in some for some in others)
    ]


def _variant(status: str, branches: Sequence[BranchType], items: Items | None) -> Variant:
    of_each = [
        [
            _result_type(each, branch.place)
            for each in branch.variants
            if status in (each.status, MIXED)
        ]
        for branch in branches
    ]
    if status == MIXED:
        of_each = [[*types, _CANCELLED_TYPE] for types in of_each]
    every: list[dict[str, Any]] = []
    for types in of_each:
        every += [each for each in types if each not in every]
    count = items or Items(len(branches), len(branches))
    properties: dict[str, Any] = {
        STATUS: {"const": status},
        RESULTS: {"type": "array", "items": _any_of(every), **count.schema()},
    }
    for branch, types in zip(branches, of_each, strict=True):
        if branch.name is not None:
            properties[branch.name] = _any_of(types)
    return _closed(status, properties)


def _empty() -> Variant:
    return _closed(EMPTY, {STATUS: {"const": EMPTY}, RESULTS: {"type": "array", "maxItems": 0}})


def _closed(status: str, properties: dict[str, dict[str, Any]]) -> Variant:
    schema = {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }
    return Variant(status, schema, properties, frozenset(properties), open=False)


_FIELDS: Final = {INDEX: {"type": "integer", "minimum": 0}, BODY: {"type": "string"}}


def _result_type(variant: Variant, place: Mapping[str, Any]) -> dict[str, Any]:
    """The type of a branch's result: a variant of its role, with its index and text."""
    own = {**place, **_FIELDS, STATUS: {"const": variant.status}}
    return {
        "type": "object",
        "properties": {**variant.properties, **own},
        "required": sorted({*variant.required, *own}),
    }


_CANCELLED_TYPE: Final = {
    "type": "object",
    "properties": {**_FIELDS, STATUS: {"const": CANCELLED}},
    "required": sorted([*_FIELDS, STATUS]),
    "additionalProperties": False,
}


def _any_of(types: list[dict[str, Any]]) -> dict[str, Any]:
    return types[0] if len(types) == 1 else {"anyOf": types}


def join_schema(analysis: Analysis) -> dict[str, Any]:
    """The JSON Schema of the output of a fan-out."""
    schemas = [each.schema for each in analysis.variants]
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}


class ListType(NamedTuple):
    """What is known of the list of a `forEach`.

    Attributes:
        alternatives: its schema, flat; none if the output has no such field.
        required: whether every such output has it.
        known: the fields of the mapping that should have it.
    """

    alternatives: Sequence[dict[str, Any]]
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


def _bound(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) else None


def listed_in(path: str, variant: Variant) -> ListType:
    """The list at a path of an output, through mappings alone."""
    required, known = sorted(variant.required), tuple[str, ...]()
    found = [{"type": "object", "properties": variant.properties, "required": required}]
    is_sure = True
    for part in path.split("."):
        known = tuple(dict.fromkeys(name for each in found for name in properties_of(each)))
        is_sure = is_sure and all(
            types_of(each) == {"object"} and part in required_of(each) for each in found
        )
        inner = (properties_of(each)[part] for each in found if part in properties_of(each))
        found = [shape for each in inner for shape in alternatives(each)]
    return ListType(found, is_sure, known)


def branch_fields(
    variant: Variant,
    items: ValueShape | None,
    input_schema: dict[str, Any] | None = None,
    others: Mapping[str, Any] = {},
) -> Fields:
    """The names in a branch; `items` is the item of a list, None for `parallel`. For `others` see
    `Fields`.
    """
    inner = () if items is None else (items,)
    return Fields(variant, input_schema, {INDEX: {"type": "integer"}, **others}, inner)


# -- the workflow of a branch ----------------------------------------------------------------------

TASK: Final = "Do the task."
FURTHER_TASK: Final = "There is a further task:"


def branch_workflow(
    name: str, role_name: str, role: Mapping[str, Any], *, record: bool
) -> dict[str, Any]:
    """The completed mapping of a workflow with one role, every status of which ends it.

    Args:
        name, record: of the workflow whose branch it is.
        role_name, role: the role, completed, with its schema. Its limits hold in the caller.
    """
    from uwf_core.fields.records import write_record
    from uwf_core.workflow.definition import END, Workflow

    statuses = [each.status for each in variants(role["frontmatter"])]
    task, schema = TASK, None
    if role["program"] is not None:
        schema = dict(PROGRAM_INPUT)
    elif role["human"]:
        task, schema = f"{{{{{INPUT}.{ASKED}}}}}", dict(PERSON_INPUT)
    whole = Workflow(
        name=name,
        roles={},
        graph={
            START: {
                "new": Edge(role_name, task),
                "resume": Edge(role_name, FURTHER_TASK),
            },
            role_name: {status: Edge(END) for status in statuses},
        },
        input=schema,
        record=record,
        branch=True,
    )
    mapping: dict[str, Any] = write_record(whole)
    return {
        **mapping,
        "roles": {role_name: {**role, "limits": None, "within": None, "expired": None}},
    }
