"""A workflow file parsed as far as possible despite its errors, for the checks."""

from collections.abc import Iterator

from uwf_core.named_tuple import NamedTuple
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


class ParsedWorkflow(NamedTuple):
    """The parts that the checks read. `sources` has the text of every file.

    Attributes:
        roles: the key of each role, and its frontmatter (None: missing or not a mapping).
        graph: the key of each node of the graph, and its edges.
        graph_place: the place of `graph`, or None.
    """

    root: YamlMapping
    roles: dict[str, tuple[YamlScalar, YamlMapping | None]]
    graph: dict[str, tuple[YamlScalar, list[ParsedEdge]]]
    graph_place: Place | None
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
        {name: (roles.keys[name], _frontmatter(role)) for name, role in roles.values.items()}
        if roles
        else {},
        {name: (graph.keys[name], _edges(name, node)) for name, node in graph.values.items()}
        if graph
        else {},
        key.place if key and graph else None,
        sources,
    )


def _mapping(node: YamlNode | None) -> YamlMapping | None:
    return node if isinstance(node, YamlMapping) else None


def _frontmatter(role: YamlNode) -> YamlMapping | None:
    return _mapping(role.values.get("frontmatter")) if isinstance(role, YamlMapping) else None


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
