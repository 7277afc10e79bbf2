"""Nodes and types of the store, as `cas` reads and stores them."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, PRIMITIVES, ref_of
from uwf_core.errors import AmbiguousIdError, UnknownIdError
from uwf_core.ids import Ref

if TYPE_CHECKING:
    from uwf_core.cas.records import Node
    from uwf_core.engine.engine import Engine

SHORTEST_PREFIX = 4


class HasNode(NamedTuple):
    """Whether a node is there."""

    ref: str
    has: bool


class Related(NamedTuple):
    """A node and others, which it refers to or leads to."""

    ref: str
    refs: Sequence[str]


class NodeType(NamedTuple):
    """A type and its JSON Schema."""

    type: str
    schema: Any


class TypeRow(NamedTuple):
    """A type in a list."""

    type: str
    title: str | None


def show_node(engine: "Engine", ref: str) -> "Node":
    """Its type, payload and the time at which it was stored; verifies reference and digest.

    Raises:
        UnknownIdError, AmbiguousIdError: not one node has this reference or prefix.
        CorruptNodeError: it is damaged.
    """
    return engine.store.get(find_node(engine, ref))


def has_node(engine: "Engine", ref: str) -> HasNode:
    """Whether a node is there, by its full reference."""
    return HasNode(ref.upper(), engine.store.has(Ref.parse(ref.upper())))


def refs_of_node(engine: "Engine", ref: str) -> Related:
    """The nodes that its payload refers to."""
    node = find_node(engine, ref)
    return Related(node, engine.store.refs(node))


def walk_from_node(engine: "Engine", ref: str) -> Related:
    """It and all nodes reachable from it, types included, each once."""
    from uwf_core.cas.walk import stored_below

    node = find_node(engine, ref)
    return Related(node, [each.ref for each in stored_below(engine.store, [node])])


def hash_payload(engine: "Engine", type: str, payload: Callable[[], Any]) -> Ref:
    """The reference that a payload of a type has."""
    return ref_of(find_type(engine, type), encode(payload()))


def put_payload(engine: "Engine", type: str, payload: Callable[[], Any]) -> Ref:
    """Store a payload as a node of a type."""
    return engine.store.put(find_type(engine, type), payload())


def put_type(engine: "Engine", schema: Callable[[], Any]) -> Ref:
    """Store a JSON Schema as a type."""
    return engine.store.put_schema(schema())


def show_type(engine: "Engine", type: str) -> NodeType:
    """The JSON Schema of a type."""
    ref = find_type(engine, type)
    return NodeType(ref, engine.store.schema(ref))


def list_types(engine: "Engine") -> Iterator[TypeRow]:
    """The types in the store, with their titles."""
    names: dict[str, str] = {ref: name for name, ref in PRIMITIVES.items()}
    for record in sorted(engine.store.records(META)):
        schema = engine.store.schema(record.ref)
        title = names.get(record.ref) or schema.get("title")
        yield TypeRow(record.ref, title if isinstance(title, str) else None)


def find_node(engine: "Engine", word: str) -> Ref:
    """Find the node by its reference, or by a unique prefix of at least four characters.

    Raises:
        UnknownIdError: none matches. AmbiguousIdError: several match.
    """
    store, text = engine.store, word.upper()
    found = [Ref(text)] if Ref.matches(text) and store.has(text) else []
    if not found and SHORTEST_PREFIX <= len(text) < Ref.LENGTH:
        found = store.find(text, 3)
    if not found:
        raise UnknownIdError(
            f"unknown node {word!r} in {store.location()}",
            hint=f"give its reference, or at least {SHORTEST_PREFIX} of its first characters",
        )
    if len(found) > 1:
        raise AmbiguousIdError(
            f"{word!r} matches several nodes: {', '.join(found)}", hint="give more characters"
        )
    return found[0]


def find_type(engine: "Engine", word: str) -> Ref:
    """Find the type by the name of a primitive, a reference or a prefix of one.

    Raises:
        UnknownIdError: none matches. AmbiguousIdError: several match.
    """
    if word in PRIMITIVES:
        return PRIMITIVES[word]
    builtin = (META, *PRIMITIVES.values())  # known without being stored
    return Ref(word.upper()) if word.upper() in builtin else find_node(engine, word)
