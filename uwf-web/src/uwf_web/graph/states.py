"""What a thread did at each node and edge of its graph, from its documents. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from uwf_web.graph.shape import START, Shape

NodeState = Literal["default", "completed", "active", "suspended", "failed"]

SYMBOLS: Final[Mapping[NodeState, str]] = {
    "default": "",
    "completed": "✓",
    "active": "▶",
    "suspended": "‖",
    "failed": "✗",
}
"""So that colour is not the only sign."""


class NodeVisit(NamedTuple):
    """A step of a role and its number, or a thread that ran it as a branch (both are None)."""

    step: str | None
    thread: str
    number: int | None = None


class NodeStatus(NamedTuple):
    """The state of a node, its visits, oldest first, and whether its role runs next."""

    state: NodeState = "default"
    visits: tuple[NodeVisit, ...] = ()
    is_next: bool = False


class GraphStatus(NamedTuple):
    """The states of nodes by name, and how often each edge was taken, by source and status."""

    nodes: Mapping[str, NodeStatus]
    taken: Mapping[tuple[str, str], int]

    def node(self, name: str) -> NodeStatus:
        """The status of a node; default where the thread has not been."""
        return self.nodes.get(name, NodeStatus())


def graph_status(
    shape: Shape, thread: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]
) -> GraphStatus:
    """The status of a thread's graph.

    Args:
        shape: of the workflow of the thread.
        thread: the document of `thread show`.
        steps: the rows of `step list`; the first is the start.
    """
    visits: dict[str, list[NodeVisit]] = {START: []}
    for role, visit in _visits(shape, thread, steps[1:]):
        visits.setdefault(role, []).append(visit)
    nodes = {role: NodeStatus("completed", tuple(made)) for role, made in visits.items()}
    if thread["status"] == "completed":
        nodes["$END"] = NodeStatus("completed")
    for name, change in _now(shape, thread, steps[-1]):
        nodes[name] = nodes.get(name, NodeStatus())._replace(**change)
    return GraphStatus(nodes, _taken(shape, steps[1:]))


def _visits(
    shape: Shape, thread: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, NodeVisit]]:
    for row in steps:
        yield row["role"], NodeVisit(row["step"], thread["thread"], row["number"])
        for branch in row["branches"] or ():
            yield branch["role"], NodeVisit(None, branch["thread"])
    for role, branch in _open_branches(shape, thread):
        yield role, NodeVisit(None, branch["thread"])


def _open_branches(
    shape: Shape, thread: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The roles and the branches of a fan-out that runs or waits."""
    frame = thread["stack"][0] if thread["stack"] else {"branches": None}
    roles = {
        name: edge.target
        for edge in shape.edges
        if edge.is_branch and edge.source == frame.get("role")
        for name in edge.statuses or (None,)
    }
    for branch in frame["branches"] or ():
        if branch["name"] in roles:
            yield roles[branch["name"]], branch


def _now(
    shape: Shape, thread: Mapping[str, Any], last: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The nodes at which the thread is, and what changes there."""
    stack = thread["stack"]
    role = stack[0]["role"] if stack else thread["currentRole"] or thread["suspendedRole"]
    status, reason = thread["status"], thread["suspendReason"]
    state = _state(status, reason)
    if role is not None and (state is not None or status == "idle"):
        yield role, {"is_next": True} if state is None else {"state": state}
    if status == "suspended" and reason == "role" and _leads_to_suspend(shape, last):
        yield "$SUSPEND", {"state": "suspended"}
    for name, branch in _open_branches(shape, thread):
        found = _state(branch["status"], branch["reason"])
        if found is not None:
            yield name, {"state": found}


def _leads_to_suspend(shape: Shape, last: Mapping[str, Any]) -> bool:
    """Whether the edge of the last step asks a person; otherwise a role asks by itself."""
    return any(
        edge.target == "$SUSPEND"
        and edge.source == last["role"]
        and last["status"] in edge.statuses
        for edge in shape.edges
    )


def _state(status: str, reason: str | None) -> NodeState | None:
    if status == "running":
        return "active"
    if status != "suspended":
        return None
    return "failed" if reason in ("failure", "interrupted") else "suspended"


def _taken(shape: Shape, steps: Sequence[Mapping[str, Any]]) -> Counter[tuple[str, str]]:
    """How often each edge was taken. After an end, a resume leads on."""
    ends = {
        (edge.source, status)
        for edge in shape.edges
        if edge.target == "$END"
        for status in edge.statuses
    }
    taken: Counter[tuple[str, str]] = Counter()
    before: tuple[str, str] | None = None
    for row in steps:
        if before is None:
            taken[START, "new"] += 1
        elif before in ends:
            taken[START, "resume"] += 1
        before = (row["role"], row["status"] or "")
        taken[before] += 1
        for branch in row["branches"] or ():
            taken[row["role"], branch["name"] or ""] += 1
    return taken
