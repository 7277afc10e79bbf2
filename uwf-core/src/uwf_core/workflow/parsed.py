"""The plain graph that the checks read: the parts of a workflow file with their places, and the
output that leads to each edge and branch, as templates and typed inputs see it. Fan-outs are nodes.

A name in a branch is looked up in the item of the list first, then in the output that took the
edge.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.fields.kinds import RecordOf
from uwf_core.fields.mismatch import nearest
from uwf_core.fields.records import shape_of
from uwf_core.workflow.definition import END, START, SUSPEND, Branch, Edge, JoinEdge, RoleText
from uwf_core.workflow.fan_out import ListType, branch_fields, listed_in
from uwf_core.workflow.fields import Fields, ValueShape, item_shape, output_schema
from uwf_core.workflow.lattice import properties_of
from uwf_core.workflow.variants import BODY, INDEX, Analysis, Variant, variant_of
from uwf_core.yaml.nodes import YamlMapping, YamlNode, YamlScalar
from uwf_core.yaml.problem import Place

if TYPE_CHECKING:
    from uwf_core.workflow.role_check import RoleSchema


class ParsedEdge(NamedTuple):
    """An edge as written, or one of the branches that an edge leads to; a value that is missing or
    not text is None.

    Attributes:
        source, status: the output that takes it.
        key: of the edge, or of the branch.
        branch: the name of a branch, "" for that of `forEach`; None for an edge.
    """

    source: str
    status: str
    key: YamlScalar
    role: YamlScalar | None
    prompt: YamlScalar | None
    location: YamlScalar | None
    branch: str | None = None

    @property
    def place(self) -> str:
        """Its path in the file."""
        role, _, status = self.source.partition("/")
        then = f".{status}.then" if status else ""
        branch = f".parallel.{self.branch}" if self.branch else ""
        return f"graph.{role}{then}.{self.status}{branch}"

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
    return edges


def _target(node: YamlNode) -> tuple[YamlScalar | None, YamlScalar | None, YamlScalar | None]:
    if not isinstance(node, YamlMapping):
        return None, None, None
    role, prompt, location = (meant_value(node, key) for key in ("role", "prompt", "location"))
    return _text(role), _text(prompt), _text(location)


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


# -- outputs ---------------------------------------------------------------------------------------


class Outputs:
    """The outputs of a file. `schemas`: of its roles and fan-outs; `own`: of its typed input.
    `is_read`: with what templates can read besides.
    """

    def __init__(
        self,
        parsed: ParsedWorkflow,
        schemas: "Mapping[str, RoleSchema]",
        own: dict[str, Any] | None = None,
        *,
        is_read: bool = False,
    ) -> None:
        self.parsed = parsed
        self.schemas = schemas
        self.own = own
        self._analyses = {
            name: each.as_read if is_read else each.analysis for name, each in schemas.items()
        }
        self._fields: dict[ParsedEdge, Fields | None] = {}

    def edges(self) -> Iterator[ParsedEdge]:
        """All edges, and all branches."""
        yield from self.parsed.edges()
        yield from self.parsed.branches()

    def leading_to(self, role: str) -> list[ParsedEdge]:
        """The edges and branches to a role."""
        return [each for each in self.edges() if each.role is not None and each.role.text == role]

    def analysis(self, role: str) -> Analysis | None:
        """The statuses of a role; None if its schema is unknown."""
        return self._analyses.get(role)

    def variants(self, role: str) -> Sequence[Variant]:
        """Its variants; none if its schema is unknown."""
        return self._analyses[role].variants if role in self._analyses else ()

    def statuses(self, role: str) -> list[str]:
        """The statuses of these."""
        return [each.status for each in self.variants(role)]

    def variant(self, edge: ParsedEdge | ParsedFanOut) -> Variant | None:
        """The output that takes an edge; None at $START, and if it is unknown."""
        return variant_of(self._analyses.get(edge.source), edge.status)

    def listed(self, fan_out: ParsedFanOut) -> ListType | None:
        """The list of a `forEach` in the output that takes its edge; None if that is unknown."""
        variant = self.variant(fan_out)
        if not fan_out.is_list or fan_out.for_each is None or variant is None:
            return None
        return listed_in(fan_out.for_each.text, variant)

    def items(self, edge: ParsedEdge) -> ValueShape | None:
        """The item of a branch of a `forEach`; empty if it has an error, None for other edges."""
        if edge.branch != "":
            return None
        listed = self.listed(self.parsed.fan_out_of(edge))
        return item_shape(listed.alternatives) if listed is not None and listed.is_typed else ()

    def fields(self, edge: ParsedEdge) -> Fields | None:
        """The names that the templates of an edge can use; None if they are unknown because of
        another error. Computed once for all of its templates.
        """
        if edge not in self._fields:
            self._fields[edge] = self._fields_of(edge)
        return self._fields[edge]

    def _fields_of(self, edge: ParsedEdge) -> Fields | None:
        variant = self.variant(edge)
        if edge.branch is None:
            is_known = variant is not None or edge.source == START
            return Fields(variant, self.own) if is_known else None
        items = self.items(edge)
        if variant is None or items == ():
            return None
        return branch_fields(variant, items, self.own)

    def names(self, edge: ParsedEdge) -> list[str]:
        """The names at the top, for suggestions."""
        variant = self.variant(edge)
        own = [] if variant is None else [*variant.properties, BODY]
        of_items = [name for each in self.items(edge) or () for name in properties_of(each)]
        return [*of_items, *own, *([] if edge.branch is None else [INDEX])]

    def words(self, edge: ParsedEdge) -> str:
        """The output that leads to an edge, for messages."""
        if edge.source == START:
            return "the input"
        output = f"the status {edge.status!r} of {edge.source!r}"
        if edge.branch != "":
            return output
        listed = self.parsed.fan_out_of(edge).for_each
        return output if listed is None else f"{output} (or an item of {listed.text!r})"

    def given(self, edge: ParsedEdge) -> Any:
        """The schema of what an edge gives to the typed input of a workflow; None if unknown."""
        items, variant = self.items(edge), self.variant(edge)
        if items is not None:
            return {"anyOf": [*items]} if items else None
        if edge.source == START:
            return output_schema(None) if self.own is None else self.own
        return None if variant is None else output_schema(variant)
