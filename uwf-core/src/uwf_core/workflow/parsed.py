"""The plain graph that the checks read: the parts of a workflow file with their places. Fan-outs
are nodes, and what follows a question that nobody answers is an edge.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from uwf_core.fields.kinds import RecordOf
from uwf_core.fields.mismatch import nearest
from uwf_core.fields.records import shape_of
from uwf_core.workflow.definition import (
    END,
    EXPIRED,
    SUSPEND,
    Branch,
    Edge,
    JoinEdge,
    RoleText,
)
from uwf_core.yaml.nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence
from uwf_core.yaml.problem import Place


class ParsedEdge(NamedTuple):
    """An edge as written, or one of the branches that an edge leads to; a value that is missing or
    not text is None.

    Attributes:
        source, status: the output that takes it.
        key: of the edge, or of the branch.
        ends_as: the status with which the workflow ends, after a failure.
        branch: the name of a branch, "" for that of `forEach`; None for an edge.
    """

    source: str
    status: str
    key: YamlScalar
    role: YamlScalar | None
    prompt: YamlScalar | None
    location: YamlScalar | None
    ends_as: YamlScalar | None = None
    branch: str | None = None

    @property
    def place(self) -> str:
        """Its path in the file."""
        role, _, status = self.source.partition("/")
        if self.status == EXPIRED:
            return f"roles.{role}.expired"
        then = f".{status}.then" if status else ""
        if self.is_expiry:
            return f"graph.{role}{then}.{self.output_status}.expired"
        branch = f".parallel.{self.branch}" if self.branch else ""
        return f"graph.{role}{then}.{self.status}{branch}"

    @property
    def is_expiry(self) -> bool:
        """Whether it is taken when nobody answers in time."""
        return self.status.endswith(EXPIRED)

    @property
    def output_status(self) -> str:
        """The status of the output whose fields its templates read."""
        return self.status.removesuffix(f"/{EXPIRED}")

    @property
    def leads_to_role(self) -> bool:
        """Whether a role gets its prompt."""
        return self.role is not None and self.role.text not in (END, SUSPEND)


OLDER_ROLE_KEYS = {
    "meta": "frontmatter",
    "outputSchema": "frontmatter",
    "identity": "goal",
    "systemPrompt": "goal",
}
"""Keys of roles in older versions, and today's."""


class ParsedFanOut(NamedTuple):
    """An edge to branches as written: its source, status and key, and what it leads to. A key that
    is misspelt, which is an error already, counts as the one that it means.
    """

    source: str
    status: str
    key: YamlScalar
    node: YamlMapping
    for_each: YamlScalar | None
    branches: list[ParsedEdge]

    @property
    def place(self) -> str:
        """Its path in the file."""
        return f"graph.{self.source}.{self.status}"

    @property
    def is_list(self) -> bool:
        """Whether it is a `forEach`."""
        return meant_value(self.node, "parallel") is None

    @property
    def then(self) -> YamlMapping | None:
        """The edges of the joint result."""
        return _mapping(meant_value(self.node, "then"))


class ParsedRole(NamedTuple):
    """A role as written: its key, and its parts; None where one is missing or of a wrong type."""

    key: YamlScalar
    node: YamlMapping | None
    frontmatter: YamlMapping | None
    workflow: YamlScalar | None

    @property
    def arguments(self) -> list[YamlScalar]:
        """The templates of the arguments of its program."""
        given = None if self.node is None else self.node.values.get("program")
        argv = given.values.get("argv") if isinstance(given, YamlMapping) else None
        items = argv.items[1:] if isinstance(argv, YamlSequence) else ()
        scalars = [each for each in items if isinstance(each, YamlScalar)]
        return [each for each in scalars if isinstance(each.value, str)]

    @property
    def older(self) -> dict[str, str]:
        """The keys of older versions that the role has, and today's."""
        given = () if self.node is None else self.node.values
        return {key: OLDER_ROLE_KEYS[key] for key in given if key in OLDER_ROLE_KEYS}

    def misspells(self, key: str) -> bool:
        """Whether an unknown key of the role means this one: then it is one error."""
        known = keys_of(RoleText)
        given = () if self.node is None else self.node.values
        meant = (
            self.older.get(each) or nearest(each, known) for each in given if each not in known
        )
        return key in meant


class ParsedWorkflow(NamedTuple):
    """The parts that the checks read. `sources` has the text of every file.

    Attributes:
        graph: the key of each node of the graph, and its edges; a fan-out is a node.
        fan_outs: by the name of that node.
        graph_place: the place of `graph`, or None.
        input: the schema of the typed input, or None.
    """

    root: YamlMapping
    roles: dict[str, ParsedRole]
    graph: dict[str, tuple[YamlScalar, list[ParsedEdge]]]
    fan_outs: dict[str, ParsedFanOut]
    graph_place: Place | None
    input: YamlMapping | None
    sources: dict[str, str]

    def has_edges(self, source: str) -> bool:
        """Whether the edges of a source are a mapping; anything else is an error already."""
        graph = _mapping(self.root.values.get("graph"))
        return source in self.fan_outs or (
            graph is not None and isinstance(graph.values.get(source), YamlMapping)
        )

    def edges(self) -> Iterator[ParsedEdge]:
        """All edges, in the order of the file."""
        for _, edges in self.graph.values():
            yield from edges

    def branches(self) -> Iterator[ParsedEdge]:
        """All branches."""
        for fan_out in self.fan_outs.values():
            yield from fan_out.branches

    def fan_out_of(self, branch: ParsedEdge) -> ParsedFanOut:
        """The edge to branches that one of them belongs to."""
        return self.fan_outs[f"{branch.source}/{branch.status}"]


def parse_workflow(root: YamlMapping, sources: dict[str, str]) -> ParsedWorkflow:
    """Parse the root mapping of a file."""
    roles = _mapping(root.values.get("roles"))
    graph = _mapping(root.values.get("graph"))
    key = root.keys.get("graph")
    nodes: dict[str, tuple[YamlScalar, list[ParsedEdge]]] = {}
    fan_outs: dict[str, ParsedFanOut] = {}
    for name, node in graph.values.items() if graph else ():
        assert graph is not None
        nodes[name] = graph.keys[name], _edges(name, node)
        for found in _fan_outs(name, node):
            inner = f"{name}/{found.status}"
            fan_outs[inner] = found
            nodes[inner] = found.key, _edges(inner, found.then, to_branches=False)
    for name, node in roles.values.items() if roles else ():
        if name in nodes:
            nodes[name][1].extend(_expiry(name, EXPIRED, node))
    return ParsedWorkflow(
        root,
        {name: _role(roles.keys[name], role) for name, role in roles.values.items()}
        if roles
        else {},
        nodes,
        fan_outs,
        key.place if key and graph else None,
        _mapping(root.values.get("input")),
        sources,
    )


def _mapping(node: YamlNode | None) -> YamlMapping | None:
    return node if isinstance(node, YamlMapping) else None


def _role(key: YamlScalar, node: YamlNode) -> ParsedRole:
    parts = node.values if isinstance(node, YamlMapping) else {}
    frontmatter, workflow = _mapping(parts.get("frontmatter")), _text(parts.get("workflow"))
    return ParsedRole(key, _mapping(node), frontmatter, workflow)


FAN_OUT_KEYS = ("forEach", "parallel", "then")
"""Each of these makes an edge one to branches."""


@cache
def keys_of(part: Any) -> tuple[str, ...]:
    """The keys of a part of a file."""
    shape = shape_of(part)
    assert isinstance(shape, RecordOf)
    return tuple(key for key in shape.fields if key not in shape.set_by_uwf)


@cache
def edge_keys(kind: str = "") -> tuple[str, ...]:
    """The keys of an edge in a file: all, or those of one to a `role`, which are the keys of an
    edge of `then`, or to branches: `forEach`, whose branch it describes, or `parallel`.
    """
    plain, every = keys_of(JoinEdge), keys_of(Edge)
    joint = [key for key in every if key not in plain]
    return {
        "": every,
        "role": plain,
        "forEach": (*keys_of(Branch), *(key for key in joint if key != "parallel")),
        "parallel": tuple(key for key in joint if key != "forEach"),
    }[kind]


def meant_value(node: YamlMapping, key: str) -> YamlNode | None:
    """The value of a key of an edge, or of one that means it."""
    if key in node.values:
        return node.values[key]
    known = edge_keys()
    unknown = (each for each in node.values if each not in known)
    return next((node.values[each] for each in unknown if nearest(each, known) == key), None)


def is_true(node: YamlMapping, key: str) -> bool:
    """Whether a key is set."""
    value = node.values.get(key)
    return isinstance(value, YamlScalar) and value.value is True


def is_worktree(node: YamlMapping) -> bool:
    """Whether an edge or a workflow says `workspace: worktree`."""
    value = node.values.get("workspace")
    return isinstance(value, YamlScalar) and value.value == "worktree"


def is_fan_out(node: YamlNode | None) -> bool:
    """Whether an edge leads to branches."""
    return isinstance(node, YamlMapping) and not node.values.keys().isdisjoint(FAN_OUT_KEYS)


def _edges(source: str, node: YamlNode | None, *, to_branches: bool = True) -> list[ParsedEdge]:
    if not isinstance(node, YamlMapping):
        return []
    edges = []
    for status, target in node.values.items():
        key = node.keys[status]
        if to_branches and is_fan_out(target):
            to = YamlScalar(key.place, f"{source}/{status}")
            edges.append(ParsedEdge(source, status, key, to, None, None))
        else:
            edges.append(ParsedEdge(source, status, key, *_target(target)))
            edges += _expiry(source, f"{status}/{EXPIRED}", target)
    return edges


def _expiry(source: str, status: str, node: YamlNode) -> Iterator[ParsedEdge]:
    """The edge that a role of a person, or an edge to `$SUSPEND`, has for the end of its time."""
    target = _mapping(node.values.get("expired")) if isinstance(node, YamlMapping) else None
    if isinstance(node, YamlMapping) and target is not None:
        yield ParsedEdge(source, status, node.keys["expired"], *_target(target))


_Target = tuple[YamlScalar | None, YamlScalar | None, YamlScalar | None, YamlScalar | None]


def _target(node: YamlNode) -> _Target:
    if not isinstance(node, YamlMapping):
        return None, None, None, None
    role, prompt, location = (meant_value(node, key) for key in ("role", "prompt", "location"))
    return _text(role), _text(prompt), _text(location), _text(node.values.get("as"))


def _fan_outs(source: str, node: YamlNode) -> Iterator[ParsedFanOut]:
    for status, target in node.values.items() if isinstance(node, YamlMapping) else ():
        assert isinstance(node, YamlMapping)
        if isinstance(target, YamlMapping) and is_fan_out(target):
            key, parallel = node.keys[status], meant_value(target, "parallel")
            listed: dict[str, tuple[YamlScalar, YamlNode]] = {"": (key, target)}
            if isinstance(parallel, YamlMapping):
                listed = {
                    name: (parallel.keys[name], each) for name, each in parallel.values.items()
                }
            branches = [
                ParsedEdge(source, status, at, *_target(each), name)
                for name, (at, each) in listed.items()
            ]
            for_each = _text(meant_value(target, "forEach"))
            yield ParsedFanOut(source, status, key, target, for_each, branches)


def _text(node: YamlNode | None) -> YamlScalar | None:
    if isinstance(node, YamlScalar) and node.tag is None and isinstance(node.value, str):
        return node
    return None
