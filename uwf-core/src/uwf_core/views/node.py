"""Nodes and types of the store, as `cas` reads and stores them."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.cas.hashing import META, PRIMITIVES
from uwf_core.errors import AmbiguousIdError, UnknownIdError
from uwf_core.ids import Ref

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

SHORTEST_PREFIX = 4


def show_node(engine: "Engine", ref: str) -> Mapping[str, Any]:
    """Its type, payload and the time at which it was stored; verifies reference and digest.

    Raises:
        UnknownIdError, AmbiguousIdError: not one node has this reference or prefix.
        CorruptNodeError: it is damaged.
    """
    node = engine.store.get(find_node(engine, ref))
    return {
        "ref": node.ref,
        "type": node.type,
        "createdAtMs": node.created_ms,
        "payload": node.payload,
    }


def has_node(engine: "Engine", ref: str) -> Mapping[str, Any]:
    """Whether a node is there, by its full reference."""
    return {"ref": ref.upper(), "has": engine.store.has(Ref.parse(ref.upper()))}


def refs_of_node(engine: "Engine", ref: str) -> Mapping[str, Any]:
    """The nodes that its payload refers to."""
    node = find_node(engine, ref)
    return {"ref": node, "refs": engine.store.refs(node)}


def walk_from_node(engine: "Engine", ref: str) -> Mapping[str, Any]:
    """It and all nodes reachable from it, types included, each once."""
    from uwf_core.cas.walk import stored_below

    node = find_node(engine, ref)
    return {"ref": node, "refs": [each.ref for each in stored_below(engine.store, [node])]}


def hash_payload(engine: "Engine", type: str, payload: Callable[[], Any]) -> Mapping[str, Any]:
    """The reference that a payload of a type has."""
    from uwf_core.cas.codec import encode
    from uwf_core.cas.hashing import ref_of

    return {"ref": ref_of(find_type(engine, type), encode(payload()))}


def put_payload(engine: "Engine", type: str, payload: Callable[[], Any]) -> Mapping[str, Any]:
    """Store a payload as a node of a type."""
    return {"ref": engine.store.put(find_type(engine, type), payload())}


def put_type(engine: "Engine", schema: Callable[[], Any]) -> Mapping[str, Any]:
    """Store a JSON Schema as a type."""
    return {"type": engine.store.put_schema(schema())}


def show_type(engine: "Engine", type: str) -> Mapping[str, Any]:
    """The JSON Schema of a type."""
    ref = find_type(engine, type)
    return {"type": ref, "schema": engine.store.schema(ref)}


def list_types(engine: "Engine") -> Iterator[dict[str, Any]]:
    """The types in the store, with their titles."""
    names: dict[str, str] = {ref: name for name, ref in PRIMITIVES.items()}
    for record in sorted(engine.store.records(META)):
        schema = engine.store.schema(record.ref)
        title = names.get(record.ref) or schema.get("title")
        yield {"type": record.ref, "title": title if isinstance(title, str) else None}


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
