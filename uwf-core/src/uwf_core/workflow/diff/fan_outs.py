"""Changes of the edges to branches: the list, the branches, and where their joint result leads."""

from collections.abc import Iterator, Mapping

from uwf_core.workflow.definition import Branch, Edge
from uwf_core.workflow.diff.changes import WorkflowChange, amount_changes
from uwf_core.workflow.fan_out import branches_of
from uwf_core.workflow.fields import Presence, ValueShape, item_shape
from uwf_core.workflow.outputs import branch_fields, listed_in
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
    if a.max_parallel != b.max_parallel:
        values = a.max_parallel, b.max_parallel
        yield WorkflowChange("branches-changed", f"{place}.maxParallel", *values)
    if a.shared != b.shared:
        yield WorkflowChange("branches-changed", f"{place}.shared", a.shared, b.shared)
    if a.workspace != b.workspace:
        where = f"{place}.workspace"
        yield WorkflowChange("workspace-changed", where, a.workspace, b.workspace)


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
    yield from amount_changes("limit-changed", f"{place}.limits", a.limits, b.limits)
    if a.location != b.location:
        yield WorkflowChange("location-changed", f"{place}.location", a.location, b.location)


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
