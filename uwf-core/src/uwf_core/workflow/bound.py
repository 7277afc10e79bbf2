"""How many agent calls and leaf steps a workflow takes at most, with all that it calls. Pure.

Counted are the leaf steps from the start to an end or a suspension, and the attempts at them that
follow without a person; corrections do not count. Every status is taken to be possible. On a
graph without cycles, branches and limits of calls the bound is exact; elsewhere it may be too high,
but never too low.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, reduce
from typing import Literal, NamedTuple

from uwf_core.ids import Ref
from uwf_core.workflow.definition import (
    END,
    FAILED,
    SELF,
    START,
    Definition,
    Edge,
    Limits,
    Role,
    RoleLimits,
)
from uwf_core.workflow.variants import JOINED
from uwf_core.workflow.walk_graph import (
    RESUMED,
    UNLIMITED,
    CalledBranch,
    Count,
    Visit,
    WalkGraph,
    add,
    called_by,
    components,
    discovered,
    laps,
    max_steps,
    max_visits,
    multiply,
    shortest_cycle,
)

MIXED, EMPTY = JOINED


class Factor(NamedTuple):
    """How many attempts a visit of a role takes at most, without a person and without kills.

    Attributes:
        role: its path from the root.
        max_attempts: the attempts of each agent, and the origin of the number: `role`, `config`, or
            the usual one of workers and `uwf tick` (`default`).
        agents: how many agents take over from each other: the longest `anyOf`.
    """

    role: str
    max_attempts: int
    origin: Literal["role", "config", "default"]
    agents: int = 1

    @property
    def attempts(self) -> int:
        """The attempts of one visit."""
        return self.max_attempts * self.agents


class Bound(NamedTuple):
    """The bound of a workflow.

    Attributes:
        agent_calls: the steps of agents, None if there is no bound.
        steps: these with the steps of persons and programs.
        cycle: the roles that can repeat without a bound, as paths from the root; empty if bounded.
        open_list: in place of a cycle, the path of a `forEach` whose list has no `maxItems`.
        attempts: at all steps, the first at each included; None if there is no bound.
        factors: how many at one step of each role that these threads run.
    """

    agent_calls: int | None
    steps: int | None
    cycle: tuple[str, ...]
    open_list: str | None = None
    attempts: int | None = None
    factors: tuple[Factor, ...] = ()

    def attempt_words(self) -> str:
        """The bound of the attempts with the origin of its factors, for people."""
        alike: dict[str, list[str]] = {}
        for each in self.factors:
            agents = f" x {each.agents} agents (anyOf)" if each.agents > 1 else ""
            text = f"{each.max_attempts} ({_ORIGINS[each.origin]}){agents}"
            alike.setdefault(text, []).append(each.role)
        most = "no bound" if self.attempts is None else f"at most {self.attempts}"
        factors = "; ".join(f"{', '.join(roles)} x {text}" for text, roles in alike.items())
        return f"{most}: {factors}"

    def words(self) -> str:
        """The bound, for people."""
        again = self.cycle * 2 if len(self.cycle) == 1 else self.cycle
        unbounded = f"unbounded: {' -> '.join(again)}"
        if self.open_list is not None:
            unbounded = f"unbounded: {self.open_list} (a list without maxItems)"
        if self.agent_calls is None:
            return unbounded
        calls = f"at most {self.agent_calls} agent call{'' if self.agent_calls == 1 else 's'}"
        if self.steps is None:
            return f"{calls}; steps {unbounded}"
        if self.steps == self.agent_calls:
            return calls
        return f"{calls} ({self.steps} step{'' if self.steps == 1 else 's'})"


_ORIGINS = {"role": "its retry", "config": "configuration", "default": "usual of workers and tick"}


def bound_of(
    workflow: Definition,
    read: Callable[[Ref], Definition],
    depth: int,
    factor: Callable[[str, Role], Factor],
) -> Bound:
    """The bound of a workflow.

    Args:
        workflow: it. read: reads a called one.
        depth: how deep calls may go; a deeper one suspends the thread.
        factor: that of a leaf role with a path.
    """
    once = cache(read)
    steps = _Counter(once, lambda _: 1, None)
    agents = _Counter(once, lambda role: role.program is None and not role.human, steps)
    run = _Entered(workflow, depth)
    factors = (*_factors(steps, run, factor),)
    largest = max((each.attempts for each in factors), default=1)
    attempts = _Counter(
        once, lambda role: 1 if role.human else factor("", role).attempts, steps, largest
    )
    most = steps.walks(run).most
    calls = agents.walks(run).most
    unlimited = agents if calls == UNLIMITED else steps if most == UNLIMITED else None
    endless = _Endless(()) if unlimited is None else unlimited.endless(run)
    tries = _whole(attempts.walks(run).most)
    return Bound(_whole(calls), _whole(most), *endless, tries, factors)


def _factors(
    steps: "_Counter", run: "_Entered", factor: Callable[[str, Role], Factor]
) -> Iterator[Factor]:
    """The factor of each agent and program that a thread can run, each workflow once."""
    seen, waiting = {run.workflow.ref}, [("", run)]
    for path, entered in waiting:  # grows: breadth first
        for name, role in entered.workflow.roles.items():
            if not role.calls and not role.human:
                yield factor(path + name, role)
            for plays, thread in steps.calls(entered, name) if entered.depth else ():
                if thread.workflow.ref not in seen:
                    seen.add(thread.workflow.ref)
                    waiting.append((f"{path}{plays}/", thread))


def _whole(count: Count) -> int | None:
    return None if count == UNLIMITED else int(count)


class _Entered(NamedTuple):
    """A thread of a workflow from an entry. `depth`: the levels of calls below it. `again`: how
    often it is resumed after an end.
    """

    workflow: Definition
    depth: int
    entry: Literal["new", "resume"] = "new"
    again: Count = 0


class _Walks(NamedTuple):
    """The longest walk, and the longest to an end by its status."""

    most: Count
    ending: Mapping[str, Count]


class _Endless(NamedTuple):
    """Why a walk is unlimited: a cycle, or a list without a bound."""

    cycle: tuple[str, ...]
    open_list: str | None = None

    def below(self, role: str) -> "_Endless":
        """The same as a path from the caller."""
        listed = self.open_list and f"{role}/{self.open_list}"
        return _Endless(tuple(f"{role}/{each}" for each in self.cycle), listed)


class _Called(NamedTuple):
    """A thread that a role or a branch calls. `role` plays it."""

    role: str
    thread: "_Entered"


def _failing(graph: WalkGraph, members: Collection[str], again: Count) -> Count:
    """What failing visits add to a limit of steps, for which they do not count."""
    added: Count = 0
    for name in members:
        target = graph.edges[name].get(FAILED)
        times = add(again, 1) if target == START else 1
        if target in members and target != START:
            times = graph.visits[name].runs
        added = add(added, multiply(times, graph.visits[name].most if target else 0))
    return added


class _Counter:
    """Counts each step of a role as `counts` says, at most `largest`. `steps` counts each once,
    None in that one itself.
    """

    def __init__(
        self,
        read: Callable[[Ref], Definition],
        counts: Callable[[Role], int],
        steps: "_Counter | None",
        largest: int = 1,
    ) -> None:
        self._read = read
        self._counts = counts
        self._largest = largest
        self._steps = steps or self
        self._known: dict[tuple[Ref, int, str, Count], _Walks] = {}

    def walks(self, run: _Entered) -> _Walks:
        """The longest walks of a thread."""
        key = (run.workflow.ref, *run[1:])
        if key not in self._known:
            self._known[key] = self._walked(run)
        return self._known[key]

    def endless(self, run: _Entered) -> _Endless:
        """Why the longest walk of a thread is unlimited."""
        graph = self._graph(run)
        names = discovered(graph.first, graph.after)
        for name in names:
            often = bool(shortest_cycle(name, graph.after))
            if self._visit(run, name, often=often).most == UNLIMITED:
                for role, called in self.calls(run, name):
                    if self.walks(called).most == UNLIMITED:
                        return self.endless(called).below(role)
                return _Endless((), name)
        free = [name for name in names if graph.visits[name].runs == UNLIMITED]
        after = {name: [each for each in graph.after[name] if each in free] for name in free}
        cycles = (shortest_cycle(name, after) for name in free if graph.visits[name].most)
        found = next(each for each in cycles if each)
        return _Endless((found[-1], *found[:-1]))  # the edge back comes first

    def _walked(self, run: _Entered) -> _Walks:
        graph = self._graph(run)
        arrived: dict[str, Count] = {graph.first: 0}
        most: Count = 0
        ending: dict[str, Count] = {}
        ceiling = self._ceiling(run.workflow.limits)
        for members in components([graph.first], graph.after) if graph.first in graph.edges else ():
            ceiling = add(ceiling, _failing(graph, members, run.again))
            if arrived.keys().isdisjoint(members):  # only a later call leads there
                continue
            inside, leaving = self._through(run, graph, members, arrived)
            most = max(most, inside)
            for name, status, count in leaving:
                target = graph.edges[name][status]
                if target == END:
                    ending[status] = max(ending.get(status, 0), count)
                arrived[target] = max(arrived.get(target, 0), count)
        return _Walks(min(most, ceiling), {key: min(each, ceiling) for key, each in ending.items()})

    def _through(
        self, run: _Entered, graph: WalkGraph, members: list[str], arrived: Mapping[str, Count]
    ) -> tuple[Count, Iterator[tuple[str, str, Count]]]:
        """The longest walk that stops in a component, and those that leave it."""
        name = members[0]
        if len(members) == 1 and name not in graph.after[name]:
            visit, before = self._visit(run, name, often=False), arrived[name]
            ways = [each for each in visit.ending.items() if each[0] in graph.edges[name]]
            leaving = ((name, status, add(before, count)) for status, count in ways)
            return add(before, visit.most), leaving
        inside = min(laps(graph, members, arrived))
        return inside, ((name, each, inside) for name in members for each in graph.edges[name])

    def _graph(self, run: _Entered) -> WalkGraph:
        graph = run.workflow.graph
        first = graph[START][run.entry].role
        visits = {name: self._visit(run, name, often=True) for name in run.workflow.roles}
        edges = {
            name: {
                status: edge.role
                for status, edge in graph.get(name, {}).items()
                if status in visit.ending
            }
            for name, visit in visits.items()
        }
        if run.again:
            visits[START] = RESUMED._replace(runs=run.again)
            edges = {
                name: {status: START if to == END else to for status, to in each.items()}
                for name, each in edges.items()
            }
            edges[START] = {"resume": graph[START]["resume"].role}
        after = {name: [to for to in each.values() if to in edges] for name, each in edges.items()}
        return WalkGraph(first, visits, edges, after)

    def _visit(self, run: _Entered, name: str, *, often: bool) -> Visit:
        if name == START:
            return RESUMED
        role = run.workflow.roles[name]
        if role.fan_out is not None:
            return self._fan_out(run, role, role.fan_out, often=often)
        steps = max_steps(role.limits)
        statuses = run.workflow.graph.get(name, {})
        # A visit that fails takes no step, so no limit of steps ends these visits.
        runs = min(UNLIMITED if FAILED in statuses else steps, max_visits(role.limits))
        if role.workflow is None:
            each: Count = self._counts(role)
            most = UNLIMITED if FAILED in statuses else self._ceiling(role.limits)
            total = min(most, multiply(runs, each))
            return Visit(each, dict.fromkeys(statuses, each), runs, total)
        if run.depth == 0:  # the call suspends the thread
            return Visit(0, {}, 1, 0)
        steps = self._ceiling(role.limits)
        calls = [each.thread for each in self.calls(run, name)]
        walks = [self.walks(call) for call in calls[: 2 if often else 1]]
        ceiling = min(steps, self._limit_of_calls(run, name))
        ending: dict[str, Count] = {}
        for status, count in (item for each in walks for item in each.ending.items()):
            ending[status] = max(ending.get(status, 0), min(count, ceiling))
        most = min(ceiling, max(each.most for each in walks))
        if FAILED in statuses:  # the next call creates a new thread
            ending |= {FAILED: most}
            return Visit(most, ending, runs, multiply(runs, most))
        whole = calls[0]._replace(again=max(0, runs - 1))
        total = min(steps, self.walks(whole).most)
        # Each call takes a step, so a thread that cannot take more of them ends the calls.
        return Visit(most, ending, min(runs, self._steps.walks(whole).most), total)

    def _fan_out(self, run: _Entered, fan_out: Role, edge: Edge, *, often: bool) -> Visit:
        """A visit of a fan-out: that of all its branches."""
        if run.depth == 0:  # the calls suspend the thread
            return Visit(0, {}, 1, 0)
        then, played = edge.then or {}, dict[str, list[_Walks]]()
        for called in called_by(edge, fan_out.schema):
            walks = self._branch(run, called, often=often and called.again)
            played.setdefault(called.branch.role, []).append(walks)
        ceilings = {role: self._ceiling(run.workflow.roles[role].limits) for role in played}

        def together(count: Callable[[_Walks], Count]) -> Count:
            """Of all branches; the steps of a role have a limit for all its branches."""
            result: Count = 0
            for role, each in played.items():
                own: Count = 0
                for walks in each:
                    own = add(own, count(walks))
                result = add(result, min(own, ceilings[role]))
            return result

        most = together(lambda walks: walks.most)
        ending = {
            status: together(lambda walks, status=status: walks.ending[status])  # type: ignore[misc]
            for status in then
            if all(status in walks.ending for each in played.values() for walks in each)
        }
        # A branch that is cancelled may have taken any of its steps.
        ending |= {MIXED: most, **({EMPTY: 0} if EMPTY in then else {})}
        # Branches that a limit holds up can be cancelled, so no limit of a role ends the visits.
        return Visit(most, ending, UNLIMITED, reduce(add, ceilings.values()))

    def _branch(self, run: _Entered, called: CalledBranch, *, often: bool) -> _Walks:
        """The longest walks of a branch, for a list of all its items."""
        branch, times = called.branch, called.times
        ceiling = self._ceiling(branch.limits)
        calls = [*_called_again(self._called(run, str(branch.workflow), branch.role))]
        walks = [self.walks(each.thread) for each in calls[: 2 if often else 1]]
        ending: dict[str, Count] = {}
        for status, count in (item for each in walks for item in each.ending.items()):
            one = multiply(times, min(count, ceiling))
            ending[status] = max(ending.get(status, 0), one)
        return _Walks(multiply(times, min(ceiling, max(each.most for each in walks))), ending)

    def calls(self, run: _Entered, name: str) -> Iterator[_Called]:
        """The first call of a role that a workflow plays, and a later one; those of the branches of
        a fan-out.
        """
        role = run.workflow.roles[name]
        if role.fan_out is not None:
            for each in called_by(role.fan_out, role.schema):
                first = self._called(run, str(each.branch.workflow), each.branch.role)
                yield from _called_again(first) if each.again else (first,)
        elif role.workflow is not None:
            yield from _called_again(self._called(run, role.workflow, name))

    def _ceiling(self, limits: Limits | RoleLimits | None) -> Count:
        """How much the steps that a limit allows count at most."""
        return multiply(max_steps(limits), self._largest)

    def _called(self, run: _Entered, word: str, role: str) -> _Called:
        called = run.workflow if word == SELF else self._read(Ref(word))
        return _Called(role, _Entered(called, run.depth - 1))

    def _limit_of_calls(self, run: _Entered, role: str) -> Count:
        """The largest limit on an edge to a role."""
        graph = run.workflow.graph
        entries = {run.entry, "resume"} if run.again else {run.entry}
        edges = [edge for name in graph if name != START for edge in graph[name].values()]
        edges += [graph[START][entry] for entry in entries]
        limits = (self._ceiling(edge.limits) for edge in edges if edge.role == role)
        return max(limits, default=UNLIMITED)


def _called_again(first: _Called) -> Iterator[_Called]:
    yield first
    yield first._replace(thread=first.thread._replace(entry="resume"))
