"""Graphs without recursion: cycles, longest walks, and the counts of a bound. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from uwf_core.cas.walk import reached
from uwf_core.workflow.definition import Branch, Edge, Limits, RoleLimits
from uwf_core.workflow.fan_out import branches_of, most_items

Targets = Mapping[str, Sequence[str]]
"""The targets of each node."""

UNLIMITED: Final = float("inf")

Count = float
"""An int, or UNLIMITED."""


class Visit(NamedTuple):
    """What one visit of a role counts, and to leave it by each status. `runs`: how often it can
    run. `total`: what all its visits count.
    """

    most: Count
    ending: Mapping[str, Count]
    runs: Count
    total: Count


RESUMED: Final = Visit(0, {"resume": 0}, UNLIMITED, 0)


class WalkGraph(NamedTuple):
    """The part of a workflow's graph that can be followed. `$START` is a resume after an end."""

    first: str
    visits: Mapping[str, Visit]
    edges: Mapping[str, Mapping[str, str]]
    after: Targets


class CalledBranch(NamedTuple):
    """A branch of a fan-out: `times` is how often it runs at most in one visit, `again` whether a
    later visit calls the same thread again.
    """

    branch: Branch
    times: Count
    again: bool


def called_by(edge: Edge, schema: Mapping[str, Any]) -> list[CalledBranch]:
    """The branches of a fan-out, whose joint result has this schema."""
    if edge.parallel is not None:
        return [CalledBranch(each.branch, 1, again=True) for each in branches_of(edge)]
    most = most_items(schema)
    times = UNLIMITED if most is None else most
    return [CalledBranch(each.branch, times, again=False) for each in branches_of(edge)]


def laps(graph: WalkGraph, members: list[str], arrived: Mapping[str, Count]) -> Iterator[Count]:
    """Bounds of the walks to and in a component with cycles. Each takes away some of the roles
    that cannot always run or take steps again: between two visits of these, a walk takes what is
    left.
    """
    within, after = set(members), graph.after
    visits = [(name, graph.visits[name]) for name in members]
    scarce = sorted(
        (name for name, visit in visits if min(visit.runs, visit.total) < UNLIMITED),
        key=lambda name: graph.visits[name].runs,
    )
    weights = {name: visit.most for name, visit in visits}
    for number in range(len(scarce) + 1):
        taken = scarce[:number]
        left = within.difference(taken)
        rest = longest(
            {name: [each for each in after[name] if each in left] for name in left}, weights
        )
        total: Count = max(
            add(count, rest.get(name, 0)) for name, count in arrived.items() if name in within
        )
        for name in taken:
            visit = graph.visits[name]
            next_ = max((rest.get(each, 0) for each in after[name]), default=0)
            own = min(visit.total, multiply(visit.runs, visit.most))
            total = add(total, add(own, multiply(visit.runs, next_)))
        yield total


def max_steps(limits: Limits | RoleLimits | None) -> Count:
    """The limit of steps."""
    found = None if limits is None else limits.max_steps
    return UNLIMITED if found is None else found


def max_visits(limits: RoleLimits | None) -> Count:
    """How often a role may run."""
    found = None if limits is None else limits.max_visits
    return UNLIMITED if found is None else found


def add(one: Count, other: Count) -> Count:
    """The sum, without a conversion of large ints to float."""
    return UNLIMITED if UNLIMITED in (one, other) else one + other


def multiply(one: Count, other: Count) -> Count:
    """The product; nothing, however often, is nothing."""
    if not one or not other:
        return 0
    return UNLIMITED if UNLIMITED in (one, other) else one * other


def components(roots: Iterable[str], after: Targets) -> list[list[str]]:
    """The strongly connected components that `roots` reach; edges lead to later ones only."""
    finished = list(postorder(roots, after))
    before: dict[str, list[str]] = {name: [] for name in finished}
    for name in finished:
        for target in after[name]:
            before[target].append(name)
    found: list[list[str]] = []
    placed: set[str] = set()
    for name in reversed(finished):
        if name not in placed:
            members = list(postorder([name], before, placed))
            found.append(members)
    return found


def postorder(roots: Iterable[str], after: Targets, seen: set[str] | None = None) -> Iterator[str]:
    """Every node that `roots` reach and that is not in `seen`, after its targets."""
    seen = set() if seen is None else seen
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(after[root]))]
        while stack:
            name, rest = stack[-1]
            target = next((each for each in rest if each not in seen), None)
            if target is None:
                stack.pop()
                yield name
            else:
                seen.add(target)
                stack.append((target, iter(after[target])))


def longest(after: Targets, weights: Mapping[str, float]) -> dict[str, float]:
    """The weight of the longest walk from each node, infinite if it can repeat a weight."""
    endless = float("inf")
    found: dict[str, float] = {}
    for members in reversed(components(after, after)):
        weight = max(weights[name] for name in members)
        if weight and (len(members) > 1 or members[0] in after[members[0]]):
            weight = endless
        beyond = max((found.get(to, 0) for name in members for to in after[name]), default=0)
        total = endless if endless in (weight, beyond) else weight + beyond
        found.update(dict.fromkeys(members, total))
    return found


def discovered(first: str, after: Targets) -> list[str]:
    """The nodes that `first` reaches, the nearest first."""
    return list(reached([first] if first in after else [], after.__getitem__))


def shortest_cycle(name: str, after: Targets) -> list[str]:
    """The nodes of a shortest cycle, from `name`; empty if there is none."""
    came: dict[str, str] = {}
    for each in (order := [name]):  # grows: breadth first
        for target in after[each]:
            if target == name:
                path = [each]
                while path[-1] != name:
                    path.append(came[path[-1]])
                return path[::-1]
            if target not in came:
                came[target] = each
                order.append(target)
    return []
