"""The moderator of a fan-out: the output that took the edge -> the task of each branch. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from uwf_core.errors import RoutingFailed
from uwf_core.moderator.next import rendered
from uwf_core.workflow.definition import Edge
from uwf_core.workflow.fan_out import BranchTask, NamedBranch, branches_of
from uwf_core.workflow.variants import INDEX

_HINT = "change the output of the role (`uwf thread poke`), or the edge in the workflow"


def branch_tasks(
    edge: Edge, place: str, data: Mapping[str, Any], *, most: int
) -> Sequence[BranchTask]:
    """The tasks of the branches of a fan-out, in their order.

    Args:
        edge: the edge to branches. place: its path in the file.
        data: what the names in templates mean after the output that took the edge.
        most: how many items a list may have (`limits.branches`).

    Raises:
        RoutingFailed: there is no such list, it is too long, or a prompt renders blank.
    """
    if edge.for_each is None:
        named = branches_of(edge)
        return [_task(each, number, place, data) for number, each in enumerate(named)]
    items = _items(edge.for_each, place, data)
    if len(items) > most:
        raise RoutingFailed(
            f"{place}: the list {edge.for_each!r} has {len(items)} items; the most is {most}",
            hint="shorten the list, or raise it: uwf config set limits.branches N",
        )
    [each] = branches_of(edge)
    return [_task(each, n, place, data, _numbered(item, n)) for n, item in enumerate(items)]


def branch_count(edge: Edge, place: str, data: Mapping[str, Any]) -> int:
    """How many branches an edge leads to; the arguments and errors are those of `branch_tasks`."""
    if edge.for_each is None:
        return len(branches_of(edge))
    return len(_items(edge.for_each, place, data))


def _items(path: str, place: str, data: Mapping[str, Any]) -> Sequence[Any]:
    value: Any = data
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if not isinstance(value, list):
        what = "is missing" if value is None else "is not a list"
        raise RoutingFailed(f"{place}: forEach: {path!r} {what} in the output", hint=_HINT)
    return value


def _numbered(item: Any, number: int) -> Any:
    """An item whose own `$index` does not hide that of its branch, which may keep folders apart."""
    return {**item, INDEX: number} if isinstance(item, Mapping) and INDEX in item else item


def _task(
    named: NamedBranch, number: int, place: str, data: Mapping[str, Any], *item: Any
) -> BranchTask:
    branch = named.branch
    if named.name is not None:
        place = f"{place}.parallel.{named.name}"
    contexts = ({**data, INDEX: number}, *item)
    prompt = rendered(branch.prompt, f"{place}.prompt", *contexts)
    location = rendered(branch.location or "", f"{place}.location", *contexts).strip()
    if not prompt.strip():
        raise RoutingFailed(
            f"{place}.prompt renders blank for branch {number}, so {branch.role!r} would get no "
            "task",
            hint="the prompt uses fields that are empty; add fixed text to the prompt",
        )
    return BranchTask(number, named.name, branch, prompt, location or None, contexts)
