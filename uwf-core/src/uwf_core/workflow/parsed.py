"""A workflow file parsed as far as possible despite its errors, for the checks."""

from collections.abc import Iterator

from uwf_core.named_tuple import NamedTuple
from uwf_core.shape.mismatch import nearest
from uwf_core.workflow.definition import ROLE_KEYS
from uwf_core.workflow.problem import Place
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlNode, YamlScalar


class ParsedEdge(NamedTuple):
    """An edge as written; a value that is missing or not text is None."""

    source: str
    status: str
    key: YamlScalar
    role: YamlScalar | None
    prompt: YamlScalar | None
    location: YamlScalar | None


class ParsedRole(NamedTuple):
    """A role as written: its key, and its parts; None where one is missing or of a wrong type."""

    key: YamlScalar
    node: YamlMapping | None
    frontmatter: YamlMapping | None
    workflow: YamlScalar | None

    def misspells(self, key: str) -> bool:
        """Whether an unknown key of the role means this one: then it is one error."""
        known = ROLE_KEYS
        given = () if self.node is None else self.node.values
        return any(nearest(each, known) == key for each in given if each not in known)


class ParsedWorkflow(NamedTuple):
    """The parts that the checks read. `sources` has the text of every file.

    Attributes:
        graph: the key of each node of the graph, and its edges.
        graph_place: the place of `graph`, or None.
        input: the schema of the typed input, or None.
    """

    root: YamlMapping
    roles: dict[str, ParsedRole]
    graph: dict[str, tuple[YamlScalar, list[ParsedEdge]]]
    graph_place: Place | None
    input: YamlMapping | None
    sources: dict[str, str]

    def edges(self) -> Iterator[ParsedEdge]:
        """All edges, in the order of the file."""
        for _, edges in self.graph.values():
            yield from edges


def parse_workflow(root: YamlMapping, sources: dict[str, str]) -> ParsedWorkflow:
    """Parse the root mapping of a file."""
    roles = _mapping(root.values.get("roles"))
    graph = _mapping(root.values.get("graph"))
    key = root.keys.get("graph")
    return ParsedWorkflow(
        root,
        {name: _role(roles.keys[name], role) for name, role in roles.values.items()}
        if roles
        else {},
        {name: (graph.keys[name], _edges(name, node)) for name, node in graph.values.items()}
        if graph
        else {},
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


def _edges(source: str, node: YamlNode) -> list[ParsedEdge]:
    if not isinstance(node, YamlMapping):
        return []
    edges = []
    for status, target in node.values.items():
        parts = target.values if isinstance(target, YamlMapping) else {}
        role, prompt, location = (_text(parts.get(key)) for key in ("role", "prompt", "location"))
        edges.append(ParsedEdge(source, status, node.keys[status], role, prompt, location))
    return edges


def _text(node: YamlNode | None) -> YamlScalar | None:
    if isinstance(node, YamlScalar) and node.tag is None and isinstance(node.value, str):
        return node
    return None
