"""An interpreter of workflows that only counts, and random workflows for it."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random
from typing import Any

from hypothesis import strategies as st

from uwf_core.ids import Ref
from uwf_core.workflow.bound import Bound, Factor, bound_of
from uwf_core.workflow.definition import (
    Branch,
    Definition,
    Edge,
    JoinEdge,
    Limits,
    Role,
    RoleLimits,
    RoleProgram,
    Workflow,
)
from uwf_core.workflow.fan_out import flat_graph, most_items

DEPTH = 3
Choose = Callable[[int], int]
"""A number below the argument."""

_ROLE = {"workflow": None, "program": None, "human": False, "limits": None}
_PLAYERS: list[dict[str, Any]] = [{}, {}, {}, {"human": True}, {"program": {"argv": ["true"]}}]


class Stopped(Exception):
    """A limit, the depth, a suspension, or enough steps."""


class Thread:
    """A thread; `above` are the thread that called it, the role there and its call."""

    def __init__(self, workflow: dict[str, Any], above: "tuple[Call, Thread, str] | None") -> None:
        self.workflow = workflow
        self.above = above
        self.depth: int = above[1].depth + 1 if above else 0
        self.steps = 0
        self.of_role: dict[str, int] = {}
        self.visits: dict[str, int] = {}
        self.children: dict[str, Thread] = {}


class Call:
    """A call, with what its edge allows."""

    def __init__(self, limits: dict[str, Any] | None) -> None:
        self.most: int | None = (limits or {}).get("maxSteps")
        self.steps = 0


class Walk:
    """One run: `steps` and `agent_calls` are its leaf steps, `attempts` those that these take."""

    def __init__(self, choose: Choose, enough: int) -> None:
        self.choose = choose
        self.enough = enough
        self.steps = 0
        self.agent_calls = 0
        self.attempts = 0

    def run(self, workflow: dict[str, Any]) -> "Walk":
        with suppress(Stopped):
            self.thread(Thread(workflow, None), "new")
        return self

    def thread(self, thread: Thread, entry: str) -> str:
        graph = thread.workflow["graph"]
        edge = graph["$START"][entry]
        while True:
            name = edge["role"]
            status = self.role(thread, name, edge)
            thread.visits[name] = thread.visits.get(name, 0) + 1
            edge = graph[name][status]
            if edge.get("then"):
                status = self.fan_out(thread, f"{name}/{status}", edge)
                edge = edge["then"][status]
            if edge["role"] == "$END":
                return status
            if edge["role"] == "$SUSPEND":
                raise Stopped

    def role(self, thread: Thread, name: str, edge: dict[str, Any]) -> str:
        role = thread.workflow["roles"][name]
        if role["workflow"] is None:
            self.leaf(thread, name)
            statuses = sorted(thread.workflow["graph"][name])
            return statuses[self.choose(len(statuses))]
        if thread.depth >= DEPTH:
            raise Stopped
        again = name in thread.children
        call = Call(edge["limits"])
        called = thread.workflow if role["workflow"] == "$SELF" else role["workflow"]
        child = thread.children.setdefault(name, Thread(called, None))
        child.above, child.depth = (call, thread, name), thread.depth + 1
        status = self.thread(child, "resume" if again else "new")
        if status not in thread.workflow["graph"][name]:
            raise Stopped
        return status

    def fan_out(self, thread: Thread, name: str, edge: dict[str, Any]) -> str:
        """The joint status of the branches. One that stops does not stop the others, and may be
        cancelled: then it counts as ended.
        """
        if thread.depth >= DEPTH:
            raise Stopped
        branches = [*(edge["parallel"] or {}).items()]
        if not branches:
            most = most_items(edge["frontmatter"])
            least = 0 if "$empty" in edge["then"] else 1
            count = least + self.choose((4 if most is None else most) + 1 - least)
            branches = [("", edge)] * count
        ends = [self.branch(thread, name, key, each) for key, each in branches]
        for _, each in branches:
            thread.visits[each["role"]] = thread.visits.get(each["role"], 0) + 1
        if None in ends:
            raise Stopped
        if not ends:
            return "$empty"
        is_joint = len(set(ends)) == 1 and ends[0] in edge["then"]
        return str(ends[0]) if is_joint else "$mixed"

    def branch(self, thread: Thread, name: str, key: str, edge: dict[str, Any]) -> str | None:
        word = edge["workflow"]
        called = thread.workflow if word == "$SELF" else word
        old = thread.children.get(f"{name}:{key}") if key else None
        child = old or Thread(called, None)
        child.above, child.depth = (Call(edge["limits"]), thread, edge["role"]), thread.depth + 1
        thread.children[f"{name}:{key}"] = child
        try:
            return self.thread(child, "resume" if old else "new")
        except Stopped:
            if self.choose(2):
                return None
            del thread.children[f"{name}:{key}"]
            return "$cancelled"

    def leaf(self, thread: Thread, name: str) -> None:
        levels = list(_levels(thread, name))
        if self.steps == self.enough or not all(_has_room(*level) for level in levels):
            raise Stopped
        for each, role, call in levels:
            each.steps += 1
            each.of_role[role] = each.of_role.get(role, 0) + 1
            if call:
                call.steps += 1
        self.steps += 1
        played = thread.workflow["roles"][name]
        self.agent_calls += not played["human"] and played["program"] is None
        self.attempts += 1 if played["human"] else most_attempts(name)


def most_attempts(role: str) -> int:
    """How many attempts a step of a role takes."""
    return 1 + sum(role.encode()) % 3


def _levels(thread: Thread, name: str) -> Iterator[tuple[Thread, str, Call | None]]:
    yield thread, name, None
    while thread.above is not None:
        call, thread, name = thread.above
        yield thread, name, call


def _has_room(thread: Thread, name: str, call: Call | None) -> bool:
    limits = thread.workflow["roles"][name]["limits"] or {}
    return (
        _below(thread.steps, thread.workflow["limits"]["maxSteps"])
        and _below(thread.of_role.get(name, 0), limits.get("maxSteps"))
        and _below(thread.visits.get(name, 0), limits.get("maxVisits"))
        and (call is None or _below(call.steps, call.most))
    )


def _below(count: int, limit: int | None) -> bool:
    return limit is None or count < limit


def random_walk(workflow: dict[str, Any], seed: int, enough: int = 200) -> Walk:
    return Walk(Random(seed).randrange, enough).run(workflow)


def every_walk(workflow: dict[str, Any]) -> Iterator[Walk]:
    """All walks of a workflow in which nothing repeats."""
    script: list[tuple[int, int]] = []
    while True:
        place = 0

        def choose(size: int) -> int:
            nonlocal place
            if place == len(script):
                script.append((0, size))
            place += 1
            return script[place - 1][0]

        yield Walk(choose, 10_000).run(workflow)
        while script and script[-1][0] + 1 == script[-1][1]:
            script.pop()
        if not script:
            return
        script[-1] = script[-1][0] + 1, script[-1][1]


@st.composite
def workflows(
    draw: st.DrawFn,
    *,
    forward: bool = False,
    limited: bool = True,
    branching: bool = False,
    below: int = 2,
) -> dict[str, Any]:
    """Workflows that call others and themselves.

    Args:
        draw: of Hypothesis. forward: without cycles. limited: with limits of roles and calls.
        branching: with edges to branches of the roles so far.
        below: the levels of other workflows.
    """
    names = [f"r{number}" for number in range(draw(st.integers(1, 3 if forward else 4)))]
    few = st.none() | st.integers(1, 4) if limited else st.none()
    roles, graph = {}, {}
    for number, name in enumerate(names):
        kind = draw(st.sampled_from(["leaf", "leaf", "call", "$SELF"][: 4 if below else 2]))
        limits = {"maxSteps": draw(few), "maxVisits": draw(few)}
        role = {**_ROLE, **draw(st.sampled_from(_PLAYERS)), "limits": limits}
        if kind == "$SELF":
            role = {**_ROLE, "workflow": "$SELF", "limits": limits}
        elif kind == "call":
            inner = workflows(
                forward=forward, limited=limited, branching=branching, below=below - 1
            )
            called = draw(inner)
            role = {**_ROLE, "workflow": called, "limits": limits}
        roles[name] = role
        targets = [*names[number + 1 if forward else 0 :], "$END", "$END", "$SUSPEND"]
        graph[name] = {
            status: _edge(draw(st.sampled_from(targets)), draw(few)) for status in ("a", "b")
        }
        if branching and draw(st.booleans()):
            graph[name]["a"] = draw(_fan_outs(roles, few, targets))
    starts = {word: _edge(draw(st.sampled_from(names)), None) for word in ("new", "resume")}
    most = draw(st.none() | st.integers(1, 8)) if limited else None
    return {"limits": {"maxSteps": most}, "roles": roles, "graph": {"$START": starts, **graph}}


def _edge(role: str, most: int | None) -> dict[str, Any]:
    return {"role": role, "limits": None if most is None else {"maxSteps": most}}


@st.composite
def _fan_outs(
    draw: st.DrawFn, roles: dict[str, Any], few: st.SearchStrategy[Any], targets: list[str]
) -> dict[str, Any]:
    """An edge to branches of these roles, each as a completed mapping."""

    def branch() -> dict[str, Any]:
        name = draw(st.sampled_from(sorted(roles)))
        called = roles[name]["workflow"] or _one_role(name, roles[name])
        return {**_edge(name, draw(few)), "workflow": called}

    then = {each: _edge(draw(st.sampled_from(targets)), draw(few)) for each in ("a", "$mixed")}
    if draw(st.booleans()):
        del then["a"]
    if draw(st.booleans()):
        names = draw(st.sampled_from([("x",), ("x", "y"), ("x", "y", "z")]))
        parallel = {name: branch() for name in names}
        return {"role": "", "limits": None, "parallel": parallel, "forEach": None, "then": then}
    most = draw(st.none() | st.integers(1, 3))
    if draw(st.booleans()):
        then["$empty"] = _edge(draw(st.sampled_from(targets)), draw(few))
    results = {"type": "array", **({} if most is None else {"maxItems": most})}
    mixed = {"$status": {"const": "$mixed"}, "results": results}
    schema = {"properties": mixed, "required": ["$status", "results"]}
    of_list = {"forEach": "tasks", "parallel": None, "then": then, "frontmatter": schema}
    return {**branch(), **of_list}


def _one_role(name: str, role: dict[str, Any]) -> dict[str, Any]:
    """The workflow that uwf generates for a branch."""
    start = {word: _edge(name, None) for word in ("new", "resume")}
    ends = {status: _edge("$END", None) for status in ("a", "b")}
    roles = {name: {**role, "limits": None}}
    return {"limits": {"maxSteps": None}, "roles": roles, "graph": {"$START": start, name: ends}}


def bound(workflow: dict[str, Any], depth: int = DEPTH) -> Bound:
    """The bound of a workflow as drawn here, of which only what counts is filled in."""
    made: dict[Ref, Definition] = {}
    refs: dict[int, Ref] = {}

    def called(word: Any) -> str | None:
        if not isinstance(word, dict):
            return str(word) if word else None
        if id(word) not in refs:
            ref = refs[id(word)] = Ref(f"{len(refs) + 1:013d}")
            made[ref] = definition(ref, word)
        return refs[id(word)]

    def branch(each: dict[str, Any]) -> Branch:
        return Branch(each["role"], "", None, limits(each), called(each["workflow"]))

    def edge(each: dict[str, Any]) -> Edge:
        if not each.get("then"):
            return Edge(each["role"], "", None, limits(each))
        then = {
            name: JoinEdge(to["role"], "", None, limits(to)) for name, to in each["then"].items()
        }
        if each["parallel"]:
            named = {name: branch(one) for name, one in each["parallel"].items()}
            return Edge(parallel=named, then=then)
        one = branch(each)
        return Edge(
            *one[:4],
            for_each=each["forEach"],
            then=then,
            frontmatter=each["frontmatter"],
            workflow=one.workflow,
        )

    def definition(ref: Ref, whole: dict[str, Any]) -> Definition:
        written = {
            name: {status: edge(each) for status, each in edges.items()}
            for name, edges in whole["graph"].items()
        }
        graph, fan_outs = flat_graph(written)
        fixed = ("", "", (), "", "", ref)
        roles = {}
        for name, role in whole["roles"].items():
            most, program = role["limits"], RoleProgram(("true",), {})
            roles[name] = Role(
                *(name, *fixed, {}, None, None),
                workflow=called(role["workflow"]),
                program=program if role["program"] else None,
                human=role["human"],
                limits=most and RoleLimits(most["maxSteps"], max_visits=most["maxVisits"]),
            )
        roles |= {
            name: Role(name, *fixed, each.frontmatter or {}, None, None, fan_out=each)
            for name, each in fan_outs.items()
        }
        top, empty = Limits(whole["limits"]["maxSteps"]), Workflow("example", {}, {})
        return Definition(ref, "example", "", roles, graph, top, str, empty)

    first = Ref(str(called(workflow)))
    factor = lambda path, role: Factor(path, most_attempts(role.name), "role")  # noqa: E731
    return bound_of(made[first], made.__getitem__, depth, factor)


def limits(edge: dict[str, Any]) -> Limits | None:
    return Limits(edge["limits"]["maxSteps"]) if edge["limits"] else None
