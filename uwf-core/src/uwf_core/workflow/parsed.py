"""A workflow file parsed as far as possible despite its errors, for the checks."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import islice

from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.problem import Place
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence

START, END, SUSPEND = "$START", "$END", "$SUSPEND"

_MOST_COMPARED, _LONGEST = 100, 64
"""The limits of a suggestion: names to compare, and characters of each."""


class Edge(NamedTuple):
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
    graph: dict[str, tuple[YamlScalar, list[Edge]]]
    graph_place: Place | None
    sources: dict[str, str]

    def edges(self) -> Iterator[Edge]:
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


def _edges(source: str, node: YamlNode) -> list[Edge]:
    if not isinstance(node, YamlMapping):
        return []
    edges = []
    for status, target in node.values.items():
        parts = target.values if isinstance(target, YamlMapping) else {}
        role, prompt, location = (_text(parts.get(key)) for key in ("role", "prompt", "location"))
        edges.append(Edge(source, status, node.keys[status], role, prompt, location))
    return edges


def _text(node: YamlNode | None) -> YamlScalar | None:
    if isinstance(node, YamlScalar) and node.tag is None and isinstance(node.value, str):
        return node
    return None


def node_at(root: YamlNode, path: Iterable[str | int]) -> tuple[YamlNode, YamlScalar | None]:
    """The node at `path`, or the last existing one on the path, and its key.

    The key is None for the root and for items of a list.
    """
    node: YamlNode = root
    key: YamlScalar | None = None
    for step in path:
        if isinstance(node, YamlMapping) and step in node.values:
            key = node.keys[str(step)]
            node = node.values[str(step)]
        elif isinstance(node, YamlSequence) and isinstance(step, int) and step < len(node.items):
            key = None
            node = node.items[step]
        else:
            break
    return node, key


def place_at(root: YamlNode, path: tuple[str | int, ...]) -> Place:
    """The place of `path`: of its key if it has one, else of the value."""
    node, key = node_at(root, path)
    return key.place if key is not None else node.place


def key_hint(root: YamlNode, path: tuple[str | int, ...], known: Iterable[str]) -> str:
    """A hint for an unknown key: the nearest known one, or the comma that made it a key."""
    node, key = node_at(root, path)
    is_empty = isinstance(node, YamlScalar) and node.plain and node.text == ""
    if key is not None and key.plain and is_empty and " " in key.text:
        return "put text with a comma within {…} in quotes"
    return suggestion(str(path[-1]), known) if path else ""


def suggestion(word: str, known: Iterable[str]) -> str:
    """A hint with the nearest known name (case-insensitive), or all of them."""
    some = islice(known, _MOST_COMPARED)
    names = {name.lower(): name for name in some if len(name) <= _LONGEST}
    near = get_close_matches(word.lower()[:_LONGEST], names, 1, 0.6)
    if near:
        return f"did you mean {names[near[0]]!r}?"
    shown = ", ".join(list(names.values())[:20]) + (", …" if len(names) > 20 else "")
    return f"known: {shown}" if names else ""
