"""Compare two versions of a workflow: every change, and whom it breaks."""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.fields.records import camel, write_record
from uwf_core.workflow.changes import (
    Broken,
    Callers,
    Result,
    WorkflowChange,
    amount_changes,
    broken_results,
    deadline_changes,
    edge_changes,
    input_changes,
    key_changes,
    output_changes,
    result_of,
)
from uwf_core.workflow.definition import FAILED, START, Branch, Edge, JoinEdge, RoleText, Workflow
from uwf_core.workflow.fan_out import branch_fields, branches_of, listed_in
from uwf_core.workflow.fields import Presence, ValueShape, item_shape
from uwf_core.workflow.template import parse
from uwf_core.workflow.variants import Variant


def without_workflows(edge: Edge) -> Edge:
    """An edge without the workflows that uwf generates: a change of these is one of a role."""
    parallel = edge.parallel and {
        name: branch._replace(workflow=None) for name, branch in edge.parallel.items()
    }
    return edge._replace(workflow=None, parallel=parallel)


def with_roles(edge: Edge, names: Mapping[str, str]) -> Edge:
    """An edge that leads to renamed roles."""
    parallel = edge.parallel and {
        name: branch._replace(role=names.get(branch.role, branch.role))
        for name, branch in edge.parallel.items()
    }
    then = edge.then and {
        status: each._replace(role=names.get(each.role, each.role))
        for status, each in edge.then.items()
    }
    return edge._replace(role=names.get(edge.role, edge.role), parallel=parallel, then=then)


_COMPARED = {*JoinEdge._fields, "for_each", "parallel", "then", "frontmatter", "workflow"}
"""What `fan_out_changes` and others compare by themselves."""


def fan_out_changes(
    place: str, a: Edge, b: Edge, output: Variant | None
) -> Iterator[WorkflowChange]:
    """Every change of the branches of an edge that both versions have.

    Args:
        place: of the edge in the file. a: the old edge. b: the new one.
        output: the old variant that takes it: what a thread that continues has delivered.
    """
    if a.for_each != b.for_each:
        forks = _why_no_list(b, output)
        yield WorkflowChange("branches-changed", f"{place}.forEach", a.for_each, b.for_each, forks)
    items = _items(b, output)
    before, now = _named(place, a), _named(place, b)
    for where in dict.fromkeys((*before, *now)):
        old, new = before.get(where), now.get(where)
        if new is None:
            yield WorkflowChange("branches-removed", where, old and old.role, None)
        elif old is None:
            blank = _can_be_blank(new, output, items)
            yield WorkflowChange("branches-added", where, None, new.role, blank)
        else:
            yield from _branch(where, old, new, output, items)
    orders = [name for name in before if name in now], [name for name in now if name in before]
    if orders[0] != orders[1]:
        old_names, new_names = ([each.rpartition(".")[2] for each in order] for order in orders)
        yield WorkflowChange("branches-changed", f"{place}.parallel", old_names, new_names)
    for name in (name for name in Edge._fields if name not in _COMPARED):
        values = getattr(a, name), getattr(b, name)
        if values[0] != values[1]:
            kind = "workspace-changed" if name == "workspace" else "branches-changed"
            yield WorkflowChange(kind, f"{place}.{camel(name)}", *values)


def added(place: str, edge: Edge, output: Variant | None) -> WorkflowChange:
    """An edge to branches that led to a role before; the thread that continues takes it."""
    items = _items(edge, output)
    blank = [_can_be_blank(each.branch, output, items) for each in branches_of(edge)]
    forks = _why_no_list(edge, output) or next(filter(None, blank), None)
    return WorkflowChange("branches-added", place, None, _words(edge), forks)


def removed(place: str, edge: Edge) -> WorkflowChange:
    """An edge that does not lead to branches any more: a thread can stand after their joint result,
    whose edges are gone.
    """
    why = f"a thread that stopped at the joint result of {place} has no edge"
    return WorkflowChange("branches-removed", place, _words(edge), None, why)


def _words(edge: Edge) -> str:
    if edge.for_each is not None:
        return f"{edge.role} for each of {edge.for_each}"
    return "parallel: " + ", ".join(str(each.name) for each in branches_of(edge))


def _named(place: str, edge: Edge) -> dict[str, Branch]:
    """The branches by their place in the file."""
    return {
        place if each.name is None else f"{place}.parallel.{each.name}": each.branch
        for each in branches_of(edge)
    }


def _branch(
    place: str, a: Branch, b: Branch, output: Variant | None, items: ValueShape | None
) -> Iterator[WorkflowChange]:
    if a.role != b.role:
        yield WorkflowChange("branches-changed", f"{place}.role", a.role, b.role)
    if a.prompt != b.prompt:
        blank = _can_be_blank(b, output, items)
        yield WorkflowChange("prompt-changed", f"{place}.prompt", a.prompt, b.prompt, blank)
    yield from key_changes(place, a, b)


# -- what an old output lacks ----------------------------------------------------------------------


def _why_no_list(edge: Edge, output: Variant | None) -> str | None:
    """Why an old output may have no list for a `forEach`. Such a thread cannot continue."""
    if edge.for_each is None or output is None:
        return None
    listed = listed_in(edge.for_each, output)
    is_list = all(each.get("type") in ("array", ["array"]) for each in listed.alternatives)
    if listed.alternatives and listed.required and is_list:
        return None
    return f"an old output may have no list {edge.for_each}"


def _items(edge: Edge, output: Variant | None) -> ValueShape | None:
    if edge.for_each is None or output is None:
        return None
    return item_shape(listed_in(edge.for_each, output).alternatives)


def _can_be_blank(branch: Branch, output: Variant | None, items: ValueShape | None) -> str | None:
    """Why the prompt of a branch can be blank for an old output. Such a thread cannot continue."""
    template = parse(branch.prompt)
    if output is None or template.render({}).strip():
        return None
    fields, names = branch_fields(output, items), template.names()
    if any(
        name.kind == "variable"
        and not name.section_stack
        and fields.presence(name) is Presence.ALWAYS
        for name in names
    ):
        return None
    words = ", ".join(dict.fromkeys(".".join(name.path) or "." for name in names))
    return f"the prompt can be blank for an old output: it consists of {words} alone"


_TEXTS = ("description", "goal", "capabilities", "procedure", "output", "skills", "memory")
_PLAYERS = ("workflow", "program", "human", "agent", "model")


def compare_workflows(a: Workflow, b: Workflow) -> list[WorkflowChange]:
    """Every change from the old version `a` to the new version `b`, both checked.

    The order is that of the file: the workflow, its roles with their outputs and edges.
    """
    a, b = _of_file(a), _of_file(b)
    renamed = _renamed(a, b)
    old, new = result_of(_with_names(a, renamed)), result_of(b)
    broken = broken_results(old.type, new.type)
    found = list(_workflow(a, b))
    found += [
        WorkflowChange("role-renamed", f"roles.{after}", before, after, _gone(before, a))
        for before, after in renamed.items()
    ]
    for name in dict.fromkeys((*old.workflow.graph, *new.workflow.graph, *a.roles, *b.roles)):
        if name in old.fan_outs or name in new.fan_outs:
            found += _fan_out(name, old, new, broken)
        else:
            found += _role(name, old, new, broken)
    return [*found, *_failures(old, new, broken)]


def _failures(old: Result, new: Result, broken: Broken) -> Iterator[WorkflowChange]:
    """The edges of failures that only one version has, and the statuses with which they end it."""
    for name in dict.fromkeys((*old.workflow.graph, *new.workflow.graph)):
        before, now = (each.workflow.graph.get(name, {}).get(FAILED) for each in (old, new))
        if (before is None) != (now is None):
            lost = None if now else f"a thread that continues after a failure of {name} has no edge"
            targets = before and before.role, now and now.role
            yield WorkflowChange("failure-changed", f"graph.{name}.{FAILED}", *targets, lost)
    for status in sorted(old.failures ^ new.failures):
        a, b = (status if status in each.failures else None for each in (old, new))
        why = _first(reason for (each, _), reason in broken.items() if each == status)
        yield WorkflowChange("failure-changed", "graph.as", a, b, callers=why)


def _of_file(workflow: Workflow) -> Workflow:
    graph = {
        name: {status: without_workflows(edge) for status, edge in edges.items()}
        for name, edges in workflow.graph.items()
    }
    return workflow._replace(graph=graph)


def _workflow(a: Workflow, b: Workflow) -> Iterator[WorkflowChange]:
    if a.name != b.name:
        yield WorkflowChange("name-changed", "name", a.name, b.name)
    if a.description != b.description:
        yield WorkflowChange("description-changed", "description", a.description, b.description)
    yield from amount_changes("limit-changed", "limits", a.limits, b.limits)
    yield from input_changes(a.input, b.input)
    if a.workspace != b.workspace:
        gone = None if b.workspace else "its results have no $folder and $gitBranch any more"
        places = a.workspace, b.workspace
        yield WorkflowChange("workspace-changed", "workspace", *places, callers=gone)
    if a.record != b.record:
        yield WorkflowChange("workspace-changed", "record", a.record, b.record)


def _role(name: str, old: Result, new: Result, broken: Broken) -> Iterator[WorkflowChange]:
    """The changes of one role, or of `$START`."""
    before, now = old.workflow.roles.get(name), new.workflow.roles.get(name)
    callers = _callers(name, old, new, broken)
    if before is not None and now is None:
        breaks = _first(callers(status, None) for status in old.variants[name])
        yield WorkflowChange(
            "role-removed", f"roles.{name}", name, None, _gone(name, old.workflow), breaks
        )
        return
    if before is None and now is not None:
        breaks = _first(callers(status, None) for status in new.variants[name])
        yield WorkflowChange("role-added", f"roles.{name}", None, name, callers=breaks)
        return
    if before is not None and now is not None:
        yield from _texts(name, before, now)
        outputs, stopped_at = (
            f"roles.{name}.frontmatter",
            name if name in old.workflow.graph else None,
        )
        both = old.variants[name], new.variants[name]
        yield from output_changes(outputs, *both, callers, stopped_at)
    edges = old.workflow.graph.get(name, {}), new.workflow.graph.get(name, {})
    yield from edge_changes(name, *edges, old.variants.get(name, {}), callers)


def _fan_out(name: str, old: Result, new: Result, broken: Broken) -> Iterator[WorkflowChange]:
    """The changes of one edge to branches."""
    source, _, status = name.partition("/")
    place, callers = f"graph.{source}.{status}", _callers(name, old, new, broken)
    a, b = old.fan_outs.get(name), new.fan_outs.get(name)
    if source not in old.workflow.graph or source not in new.workflow.graph:
        return  # the role is new, or gone
    output = old.variants.get(source, {}).get(status)
    joint = old.variants.get(name, {}), new.variants.get(name, {})
    if a is None or b is None:
        before = _callers(source, old, new, broken)(status, None)
        breaks = before or _first(callers(each, None) for each in (*joint[0], *joint[1]))
        if b is not None and (output is not None or source == START):
            yield added(place, b, output)._replace(callers=breaks)
        elif a is not None and status in new.variants.get(source, {}):
            yield removed(place, a)._replace(callers=breaks)
        return
    yield from fan_out_changes(place, a, b, output)
    for change in output_changes(f"{place}.then", *joint, callers, name):
        if change.kind.startswith("status-") or change.callers is not None:
            yield change  # other changes are those of the branches
    edges = old.workflow.graph[name], new.workflow.graph[name]
    yield from edge_changes(name, *edges, joint[0], callers, f"{place}.then")


def _gone(role: str, workflow: Workflow) -> str | None:
    if role not in workflow.graph:  # only branches play it
        return None
    return f"a thread that stopped at {role} cannot continue: the role does not exist"


def _texts(name: str, a: RoleText, b: RoleText) -> Iterator[WorkflowChange]:
    for field in _TEXTS:
        before, now = getattr(a, field), getattr(b, field)
        if before != now:
            yield WorkflowChange(
                "text-changed", f"roles.{name}.{field}", _listed(before), _listed(now)
            )
    before, now = a.skill_texts or {}, b.skill_texts or {}
    for skill in sorted({*before, *now}):
        if before.get(skill) != now.get(skill):
            place = f"roles.{name}.skills.{skill}"
            yield WorkflowChange("text-changed", place, before.get(skill), now.get(skill))
    for field in _PLAYERS:
        before, now = getattr(a, field), getattr(b, field)
        if before != now:
            yield WorkflowChange(
                "player-changed", f"roles.{name}.{field}", write_record(before), write_record(now)
            )
    if a.tools != b.tools:
        yield WorkflowChange(
            "tools-changed", f"roles.{name}.tools", _listed(a.tools), _listed(b.tools)
        )
    if a.timeout != b.timeout:
        yield WorkflowChange("timeout-changed", f"roles.{name}.timeout", a.timeout, b.timeout)
    yield from deadline_changes(f"roles.{name}", a, b)
    yield from amount_changes("retry-changed", f"roles.{name}.retry", a.retry, b.retry)
    yield from amount_changes("limit-changed", f"roles.{name}.limits", a.limits, b.limits)
    yield from amount_changes("reserve-changed", f"roles.{name}.reserve", a.reserve, b.reserve)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _callers(role: str, old: Result, new: Result, broken: Broken) -> Callers:
    """Why a change in a status of this role breaks callers: only statuses that end the workflow
    concern them. For a field `None` the change concerns the whole status, `*` any part of it.
    """

    def why(status: str, field: str | None) -> str | None:
        if not (old.ends(role, status) or new.ends(role, status)):
            return None
        if field == "*":
            return f"callers get the $status {status}, whose schema has changed"
        if field is not None:
            return broken.get((status, field))
        return _first(reason for (each, _), reason in broken.items() if each == status)

    return why


def _first(reasons: Iterator[str | None]) -> str | None:
    return next((reason for reason in reasons if reason), None)


# -- renamed roles ---------------------------------------------------------------------------------


def _renamed(a: Workflow, b: Workflow) -> dict[str, str]:
    """Roles that probably have a new name: the same schema and the same edges, and no other role
    with both.
    """
    gone = [name for name in a.roles if name not in b.roles]
    added = [name for name in b.roles if name not in a.roles]
    pairs = [(old, new) for old in gone for new in added if _is_same(a, b, old, new)]
    olds, news = [old for old, _ in pairs], [new for _, new in pairs]
    return {old: new for old, new in pairs if olds.count(old) == 1 and news.count(new) == 1}


def _is_same(a: Workflow, b: Workflow, old: str, new: str) -> bool:
    names = {old: new}
    edges = {status: with_roles(edge, names) for status, edge in a.graph.get(old, {}).items()}
    return a.roles[old].frontmatter == b.roles[new].frontmatter and edges == b.graph.get(new, {})


def _with_names(workflow: Workflow, names: Mapping[str, str]) -> Workflow:
    """The workflow with its renamed roles under their new names."""
    return workflow._replace(
        roles={names.get(name, name): role for name, role in workflow.roles.items()},
        graph={
            names.get(name, name): {
                status: with_roles(edge, names) for status, edge in edges.items()
            }
            for name, edges in workflow.graph.items()
        },
    )
