"""A workflow file as far as it can be understood, whatever is wrong with it: for the checks."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import islice

from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.problem import Place
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence

START, END, SUSPEND = "$START", "$END", "$SUSPEND"

_MOST_COMPARED, _LONGEST = 100, 64
"""Names, and characters of each, among which a suggestion is looked for."""


class Edge(NamedTuple):
    """An edge as written; what is missing or no text is None."""

    source: str
    status: str
    key: YamlScalar
    role: YamlScalar | None
    prompt: YamlScalar | None
    location: YamlScalar | None


class Sketch(NamedTuple):
    """The parts that the checks look at. `sources` has the text of every file.

    Attributes:
        roles: the key of each role, and its frontmatter (None: missing or no mapping).
        graph: the key of each node of the graph, and its edges.
        graph_place: where `graph` stands (None: there is none).
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


def sketch(root: YamlMapping, sources: dict[str, str]) -> Sketch:
    """What can be understood of a file's root mapping."""
    roles = _mapping(root.values.get("roles"))
    graph = _mapping(root.values.get("graph"))
    key = root.keys.get("graph")
    return Sketch(
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
    """The node at `path`, or the last one on the way that is there, and the key that leads to it.

    The key is None for the root and for what lies in a list.
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
    """Where `path` lies: the key that leads there if there is one, else the value."""
    node, key = node_at(root, path)
    return key.place if key is not None else node.place


def key_hint(root: YamlNode, path: tuple[str | int, ...], known: Iterable[str]) -> str:
    """A hint for a key that means nothing: the nearest known one, or the comma that made it one."""
    node, key = node_at(root, path)
    is_empty = isinstance(node, YamlScalar) and node.plain and node.text == ""
    if key is not None and key.plain and is_empty and " " in key.text:
        return "within {…}, text that holds a comma must be in quotes"
    return suggestion(str(path[-1]), known) if path else ""


def suggestion(word: str, known: Iterable[str]) -> str:
    """A hint with the nearest known name (capitals do not matter), or all of them."""
    some = islice(known, _MOST_COMPARED)
    names = {name.lower(): name for name in some if len(name) <= _LONGEST}
    near = get_close_matches(word.lower()[:_LONGEST], names, 1, 0.6)
    if near:
        return f"did you mean {names[near[0]]!r}?"
    shown = ", ".join(list(names.values())[:20]) + (", …" if len(names) > 20 else "")
    return f"known here: {shown}" if names else ""
