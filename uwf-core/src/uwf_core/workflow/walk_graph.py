"""The graph whose longest walk is the bound of a workflow, and counts without a bound. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from uwf_core.workflow.cycles import Targets, longest
from uwf_core.workflow.result_type import mapped_fan_outs

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


class FlatGraph(NamedTuple):
    """A workflow's graph in which each fan-out is a node, and the edges to branches by that."""

    graph: Mapping[str, Mapping[str, Mapping[str, Any]]]
    fan_outs: Mapping[str, Mapping[str, Any]]


class WalkGraph(NamedTuple):
    """The part of a workflow's graph that can be followed. `$START` is a resume after an end."""

    first: str
    visits: Mapping[str, Visit]
    edges: Mapping[str, Mapping[str, str]]
    after: Targets


def flattened(graph: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> FlatGraph:
    """The graph of a completed mapping, flat."""
    fan_outs = dict(mapped_fan_outs(graph))
    if not fan_outs:
        return FlatGraph(graph, {})
    flat: dict[str, dict[str, Mapping[str, Any]]] = {
        source: {
            status: {"role": f"{source}/{status}", "limits": None}
            if f"{source}/{status}" in fan_outs
            else edge
            for status, edge in edges.items()
        }
        for source, edges in graph.items()
    }
    return FlatGraph(flat | {name: edge["then"] for name, edge in fan_outs.items()}, fan_outs)


def branches(edge: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The branches of a fan-out, each with how often it runs at most in one visit (`times`), and
    whether a later visit calls the same thread again.
    """
    if edge["parallel"] is not None:
        return [{**branch, "times": 1, "again": True} for branch in edge["parallel"].values()]
    from uwf_core.workflow.fan_out import most_items  # not for every workflow

    most = most_items(edge["frontmatter"])
    return [{**edge, "times": UNLIMITED if most is None else most, "again": False}]


def laps(graph: WalkGraph, members: list[str], arrived: Mapping[str, Count]) -> Iterator[Count]:
    """Bounds of the walks to and in a component with cycles. Each takes away some of the roles
    that cannot always run again: between two visits of these, a walk takes what is left.
    """
    within, after = set(members), graph.after
    scarce = sorted(
        (name for name in members if graph.visits[name].runs < UNLIMITED),
        key=lambda name: graph.visits[name].runs,
    )
    weights = {name: graph.visits[name].most for name in members}
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


def limit_in(limits: Mapping[str, Any] | None, name: str) -> Count:
    """A limit of a completed mapping."""
    value: Count | None = None if limits is None else limits[name]
    return UNLIMITED if value is None else value


def add(one: Count, other: Count) -> Count:
    """The sum, without a conversion of large ints to float."""
    return UNLIMITED if UNLIMITED in (one, other) else one + other


def multiply(one: Count, other: Count) -> Count:
    """The product; nothing, however often, is nothing."""
    if not one or not other:
        return 0
    return UNLIMITED if UNLIMITED in (one, other) else one * other
