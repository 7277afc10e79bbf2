"""Whatever is changed in a node is noticed, and what is intact is believed."""

from hashlib import sha256
from itertools import product

import pytest
from collisions import colliding_texts
from xxhash import xxh64_intdigest

from uwf_core.api.store import Record
from uwf_core.cas.check import NodeCheck
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, PRIMITIVES
from uwf_core.cas.schemas import META_SCHEMA
from uwf_core.errors import CorruptNodeError
from uwf_core.ids import Ref, number_of

TEXT = PRIMITIVES["string"]
OTHER = Ref("0123456789ABC")
REF = {"type": "string", "format": "ocas_ref"}
PLAIN = {"type": "object", "properties": {"to": REF, "n": {}}, "additionalProperties": False}
NESTED = {"type": "object", "properties": {"to": {"type": "array", "items": REF}}}


@pytest.fixture
def records(store, backend):
    """A record of each kind, by its name."""
    text = store.put_text("x" * 300)
    plain, nested = store.put_schema(PLAIN), store.put_schema(NESTED)
    refs = {
        "text": text,
        "short text": store.put_text("short"),
        "number": store.put(PRIMITIVES["number"], 5),
        "object": store.put(plain, {"to": text, "n": [1, "two"]}),
        "nested": store.put(nested, {"to": [text, text]}),
        "schema": plain,
        "meta-schema": store.put_schema(META_SCHEMA, trusted=True),
    }
    found = {name: backend.get(ref) for name, ref in refs.items()}
    orphan = store.put(store.put_schema({"type": "integer", "minimum": 3}), 4)
    found["of a missing type"] = backend.get(orphan)
    backend.delete([found["of a missing type"].type], 10**15)
    return found


KINDS = [
    "text", "short text", "number", "object", "nested", "schema", "meta-schema",
    "of a missing type",
]  # fmt: skip
CHANGES = {
    "another reference": lambda each: {"ref": OTHER},
    "not a reference": lambda each: {"ref": "none"},
    "another digest": lambda each: {"sha256": bytes(32)},
    "no digest": lambda each: {"sha256": b""},
    "another type": lambda each: {"type": OTHER},
    "the type of schemas": lambda each: {"type": META if each.type != META else TEXT},
    "the type of texts": lambda each: {"type": TEXT if each.type != TEXT else META},
    "a byte more": lambda each: {"data": each.data + b"\0"},
    "a byte less": lambda each: {"data": each.data[:-1]},
    "no bytes": lambda each: {"data": b""},
    "another byte": lambda each: {"data": each.data[:-1] + bytes([each.data[-1] ^ 1])},
    "an edge more": lambda each: {"edges": tuple(sorted((*each.edges, 7)))},
    "an edge less": lambda each: {"edges": each.edges[1:]},
}


def checked(store, record, *, has_edges=True):
    return NodeCheck(store.schema, has_edges).node(record)


@pytest.mark.parametrize("kind", KINDS)
def test_an_intact_node_gives_its_reference_and_edges(store, records, kind):
    record = records[kind]
    store.types.schemas.pop(records["of a missing type"].type)
    for found in (
        checked(store, record),
        checked(store, record._replace(edges=()), has_edges=False),
    ):
        assert found == (number_of(record.ref), record.edges, 0)


# The edges of a node whose type is missing cannot be checked: it is the type that is damaged.
NOTICED = [
    each for each in product(KINDS, CHANGES) if each != ("of a missing type", "an edge more")
]


@pytest.mark.parametrize(("kind", "change"), NOTICED)
def test_whatever_is_changed_in_a_node_is_noticed(store, records, kind, change):
    if kind == "of a missing type":
        store.types.schemas.pop(records[kind].type)
    record = records[kind]
    with pytest.raises(CorruptNodeError):
        checked(store, record._replace(**CHANGES[change](record)))


def named(type_: str, data: bytes, edges: tuple[int, ...]) -> Record:
    """A record whose digests fit, whatever it holds."""
    hashed = type_.encode() + data
    ref = Ref.of_hash(xxh64_intdigest(hashed))
    return Record(ref, type_, sha256(hashed).digest(), data, edges, 1, 1)


@pytest.mark.parametrize(
    ("kind", "data", "why"),
    [
        ("text", encode(5), "not text"),
        ("text", b"\x78\x05short", "not text"),
        ("text", b"\x61\xff", "not text"),
        ("number", encode("five"), "rejects it"),
        ("object", encode({"to": 5}), "to: "),
        ("object", encode({"to": "0" * 13, "more": 1}), "rejects it"),
        ("object", encode({"to": "Z" * 13}), "not a reference"),
        ("nested", encode({"to": ["0" * 13, "Z" * 13]}), "not a reference"),
        ("object", b"\xbf\xff", "not a payload"),
        ("schema", encode({"$ref": "#"}), "not a valid schema"),
        ("schema", encode(META_SCHEMA), "do not match its reference"),
    ],
)
def test_digests_that_fit_make_no_node_of_what_is_none(store, records, kind, data, why):
    """The last one: the meta-schema has one name, without a prefix, and no other."""
    record = records[kind]
    with pytest.raises(CorruptNodeError, match=why):
        checked(store, named(record.type, data, record.edges), has_edges=False)


def test_a_payload_of_the_same_reference_is_told_by_its_sha256(store, backend):
    approved, rejected = colliding_texts(TEXT, b"approved", b"rejected")
    record = backend.get(store.put_text(approved))
    with pytest.raises(CorruptNodeError, match="SHA-256"):
        checked(store, record._replace(data=encode(rejected)))
