"""How many agent calls and leaf steps a workflow takes at most, with all that it calls. Pure.

Counted are the leaf steps from the start to an end or a suspension, without failed attempts and
corrections. Every status is taken to be possible. On a graph without cycles and without limits of
calls the bound is exact; elsewhere it may be too high, but never too low.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal

from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.cycles import Targets, components, discovered, longest, shortest_cycle
from uwf_core.workflow.definition import END, SELF, START

UNLIMITED: Final = float("inf")

Count = float
"""An int, or UNLIMITED."""


class Bound(NamedTuple):
    """The bound of a workflow.

    Attributes:
        agent_calls: the steps of agents, None if there is no bound.
        steps: these with the steps of persons and programs.
        cycle: the roles that can repeat without a bound, as paths from the root; empty if bounded.
    """

    agent_calls: int | None
    steps: int | None
    cycle: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The bound, for programs."""
        return {"agentCalls": self.agent_calls, "steps": self.steps, "cycle": [*self.cycle]}

    def words(self) -> str:
        """The bound, for people."""
        again = self.cycle * 2 if len(self.cycle) == 1 else self.cycle
        unbounded = f"unbounded: {' -> '.join(again)}"
        if self.agent_calls is None:
            return unbounded
        calls = f"at most {self.agent_calls} agent call{'' if self.agent_calls == 1 else 's'}"
        if self.steps is None:
            return f"{calls}; steps {unbounded}"
        if self.steps == self.agent_calls:
            return calls
        return f"{calls} ({self.steps} step{'' if self.steps == 1 else 's'})"


def bound_of(
    workflow: Mapping[str, Any], read: Callable[[str], Mapping[str, Any]], depth: int
) -> Bound:
    """The bound of a workflow.

    Args:
        workflow: its completed mapping (`Checked.workflow`). read: the same of a reference.
        depth: how deep calls may go; a deeper one suspends the thread.
    """
    once = cache(read)  # one mapping for each reference: they are compared by identity
    steps = _Counter(once, lambda _: True, None)
    agents = _Counter(once, lambda role: role["program"] is None and not role["human"], steps)
    run = _Entered(workflow, depth)
    most = steps.walks(run).most
    calls = agents.walks(run).most
    unlimited = agents if calls == UNLIMITED else steps if most == UNLIMITED else None
    cycle = () if unlimited is None else unlimited.cycle(run)
    return Bound(_whole(calls), _whole(most), cycle)


def _whole(count: Count) -> int | None:
    return None if count == UNLIMITED else int(count)


class _Entered(NamedTuple):
    """A thread of a workflow from an entry. `depth`: the levels of calls below it. `again`: how
    often it is resumed after an end.
    """

    workflow: Mapping[str, Any]
    depth: int
    entry: Literal["new", "resume"] = "new"
    again: Count = 0


class _Walks(NamedTuple):
    """The longest walk, and the longest to an end by its status."""

    most: Count
    ending: Mapping[str, Count]


class _Visit(NamedTuple):
    """What one visit of a role counts, and to leave it by each status. `runs`: how often it can
    run. `total`: what all its visits count.
    """

    most: Count
    ending: Mapping[str, Count]
    runs: Count
    total: Count


_RESUMED: Final = _Visit(0, {"resume": 0}, UNLIMITED, 0)


class _Graph(NamedTuple):
    """The part of a workflow's graph that can be followed. `$START` is a resume after an end."""

    first: str
    visits: Mapping[str, _Visit]
    edges: Mapping[str, Mapping[str, str]]
    after: Targets


class _Counter:
    """Counts the roles that `counts` selects. `steps` counts all, None in that one itself."""

    def __init__(
        self,
        read: Callable[[str], Mapping[str, Any]],
        counts: Callable[[Mapping[str, Any]], bool],
        steps: "_Counter | None",
    ) -> None:
        self._read = read
        self._counts = counts
        self._steps = steps or self
        self._known: dict[tuple[int, int, str, Count], _Walks] = {}

    def walks(self, run: _Entered) -> _Walks:
        """The longest walks of a thread."""
        key = (id(run.workflow), *run[1:])
        if key not in self._known:
            self._known[key] = self._walked(run)
        return self._known[key]

    def cycle(self, run: _Entered) -> tuple[str, ...]:
        """The roles that can repeat, of a thread whose longest walk is unlimited."""
        graph = self._graph(run)
        names = discovered(graph.first, graph.after)
        for name in names:
            often = bool(shortest_cycle(name, graph.after))
            if self._visit(run, name, often=often).most == UNLIMITED:
                called = next(
                    each for each in self._calls(run, name) if self.walks(each).most == UNLIMITED
                )
                return tuple(f"{name}/{each}" for each in self.cycle(called))
        free = [name for name in names if graph.visits[name].runs == UNLIMITED]
        after = {name: [each for each in graph.after[name] if each in free] for name in free}
        cycles = (shortest_cycle(name, after) for name in free if graph.visits[name].most)
        found = next(each for each in cycles if each)
        return (found[-1], *found[:-1])  # the edge back comes first

    def _walked(self, run: _Entered) -> _Walks:
        graph = self._graph(run)
        arrived: dict[str, Count] = {graph.first: 0}
        most: Count = 0
        ending: dict[str, Count] = {}
        for members in components([graph.first], graph.after) if graph.first in graph.edges else ():
            if arrived.keys().isdisjoint(members):  # only a later call leads there
                continue
            inside, leaving = self._through(run, graph, members, arrived)
            most = max(most, inside)
            for name, status, count in leaving:
                target = graph.edges[name][status]
                if target == END:
                    ending[status] = max(ending.get(status, 0), count)
                arrived[target] = max(arrived.get(target, 0), count)
        ceiling = _limit(run.workflow["limits"], "maxSteps")
        return _Walks(min(most, ceiling), {key: min(each, ceiling) for key, each in ending.items()})

    def _through(
        self, run: _Entered, graph: _Graph, members: list[str], arrived: Mapping[str, Count]
    ) -> tuple[Count, Iterator[tuple[str, str, Count]]]:
        """The longest walk that stops in a component, and those that leave it."""
        name = members[0]
        if len(members) == 1 and name not in graph.after[name]:
            visit, before = self._visit(run, name, often=False), arrived[name]
            ways = [each for each in visit.ending.items() if each[0] in graph.edges[name]]
            leaving = ((name, status, _sum(before, count)) for status, count in ways)
            return _sum(before, visit.most), leaving
        inside = min(_laps(graph, members, arrived))
        return inside, ((name, each, inside) for name in members for each in graph.edges[name])

    def _graph(self, run: _Entered) -> _Graph:
        graph = run.workflow["graph"]
        first = graph[START][run.entry]["role"]
        visits = {name: self._visit(run, name, often=True) for name in run.workflow["roles"]}
        edges = {
            name: {
                status: edge["role"]
                for status, edge in graph.get(name, {}).items()
                if status in visit.ending
            }
            for name, visit in visits.items()
        }
        if run.again:
            visits[START] = _RESUMED._replace(runs=run.again)
            edges = {
                name: {status: START if to == END else to for status, to in each.items()}
                for name, each in edges.items()
            }
            edges[START] = {"resume": graph[START]["resume"]["role"]}
        after = {name: [to for to in each.values() if to in edges] for name, each in edges.items()}
        return _Graph(first, visits, edges, after)

    def _visit(self, run: _Entered, name: str, *, often: bool) -> _Visit:
        if name == START:
            return _RESUMED
        role = run.workflow["roles"][name]
        steps = _limit(role["limits"], "maxSteps")
        runs = min(steps, _limit(role["limits"], "maxVisits"))
        if role["workflow"] is None:
            each: Count = 1 if self._counts(role) else 0
            statuses = run.workflow["graph"].get(name, ())
            return _Visit(each, dict.fromkeys(statuses, each), runs, _product(runs, each))
        if run.depth == 0:  # the call suspends the thread
            return _Visit(0, {}, 1, 0)
        calls = list(self._calls(run, name))
        walks = [self.walks(call) for call in calls[: 2 if often else 1]]
        ceiling = min(steps, _limit_of_calls(run, name))
        ending: dict[str, Count] = {}
        for status, count in (item for each in walks for item in each.ending.items()):
            ending[status] = max(ending.get(status, 0), min(count, ceiling))
        most = min(ceiling, max(each.most for each in walks))
        whole = calls[0]._replace(again=max(0, runs - 1))
        total = min(steps, self.walks(whole).most)
        # Each call takes a step, so a thread that cannot take more of them ends the calls.
        return _Visit(most, ending, min(runs, self._steps.walks(whole).most), total)

    def _calls(self, run: _Entered, name: str) -> Iterator[_Entered]:
        """The first call of a role that a workflow plays, and a later one."""
        word = run.workflow["roles"][name]["workflow"]
        if word is None:
            return
        called = word
        if isinstance(word, str):
            called = run.workflow if word == SELF else self._read(word)
        yield _Entered(called, run.depth - 1)
        yield _Entered(called, run.depth - 1, "resume")


def _laps(graph: _Graph, members: list[str], arrived: Mapping[str, Count]) -> Iterator[Count]:
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
            _sum(count, rest.get(name, 0)) for name, count in arrived.items() if name in within
        )
        for name in taken:
            visit = graph.visits[name]
            next_ = max((rest.get(each, 0) for each in after[name]), default=0)
            own = min(visit.total, _product(visit.runs, visit.most))
            total = _sum(total, _sum(own, _product(visit.runs, next_)))
        yield total


def _limit(limits: Mapping[str, Any] | None, name: str) -> Count:
    value: Count | None = None if limits is None else limits[name]
    return UNLIMITED if value is None else value


def _limit_of_calls(run: _Entered, role: str) -> Count:
    """The largest limit on an edge to a role."""
    graph = run.workflow["graph"]
    entries = {run.entry, "resume"} if run.again else {run.entry}
    edges = [edge for name in run.workflow["roles"] for edge in graph.get(name, {}).values()]
    edges += [graph[START][entry] for entry in entries]
    limits = (_limit(edge["limits"], "maxSteps") for edge in edges if edge["role"] == role)
    return max(limits, default=UNLIMITED)


def _sum(one: Count, other: Count) -> Count:
    """Without a conversion of large ints to float."""
    return UNLIMITED if UNLIMITED in (one, other) else one + other


def _product(one: Count, other: Count) -> Count:
    if not one or not other:
        return 0
    return UNLIMITED if UNLIMITED in (one, other) else one * other
