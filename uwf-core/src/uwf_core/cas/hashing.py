"""Names and proofs of nodes: XXH64 for the reference, SHA-256 over the same bytes beside it.

`ref(type, payload) = B32(XXH64(seed 0, ASCII(type) ++ CBOR(payload)))`, as in ocas 0.4. The
meta-schema's node types itself and has no prefix. XXH64 is a name, not a proof: two payloads with
one reference can be made in a millisecond, hence the digest.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_128_digest, xxh64_intdigest

from uwf_core.api.store import Content
from uwf_core.cas.encoder import text_bytes
from uwf_core.ids import Ref, ref_text

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

FORMAT = "ocas_ref"
"""`{"type": "string", "format": "ocas_ref"}` marks a reference (ocas 0.4)."""

CLAIMS = (FORMAT, "cas_ref")
"""The formats of values that are to name a node; only the first makes an edge."""

FILE_FORMAT = "file"
"""`{"type": "string", "format": "file"}` marks the path of a file that a role delivers."""

META = Ref("CTS5P6RD8HMCS")
"""The type of every schema node, and of itself."""

PRIMITIVES: dict[str, Ref] = {
    "string": Ref("7VQ43ZSJTEWA7"),
    "number": Ref("BEAZQGKVXMZT8"),
    "integer": Ref("B26JM4PBHPAFK"),
    "boolean": Ref("1AVHCXEJVDCPP"),
    "object": Ref("944RT37WX1PQ5"),
    "array": Ref("D45CW047XS17Y"),
    "null": Ref("8E33KAS0HMAZ7"),
}
"""The types whose schema is `{"type": name}`."""


def _meta_schema() -> dict[str, Any]:
    text, number, truth = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
    one = {"type": "object", "additionalProperties": False}
    many = {"type": "array", "items": one}
    named = {"type": "object", "additionalProperties": one}
    type_name = {"type": "string", "enum": [*PRIMITIVES]}
    keywords: dict[str, dict[str, Any]] = {
        "type": {"anyOf": [type_name, {"type": "array", "items": type_name}]},
        "properties": named,
        "required": {"type": "array", "items": text},
        "additionalProperties": {"anyOf": [truth, one]},
        "anyOf": many,
        "oneOf": many,
        "items": one,
        "format": text,
        "title": text,
        "enum": {"type": "array"},
        "const": {},
        "description": text,
        "minimum": number,
        "maximum": number,
        "exclusiveMinimum": number,
        "exclusiveMaximum": number,
        "minLength": number,
        "maxLength": number,
        "pattern": text,
        "minItems": number,
        "maxItems": number,
        "uniqueItems": truth,
        "allOf": many,
        "if": one,
        "then": one,
        "else": one,
        "patternProperties": named,
        "prefixItems": many,
        "multipleOf": number,
        "minProperties": number,
        "maxProperties": number,
        "default": {},
        "not": one,
        "contains": one,
        "propertyNames": one,
        "examples": {"type": "array"},
        "readOnly": truth,
        "writeOnly": truth,
        "deprecated": truth,
        "$comment": text,
    }
    return {**one, "description": "ocas JSON Schema meta-schema", "properties": keywords}


META_SCHEMA: Mapping[str, Any] = _meta_schema()
"""The payload of the node that types all schema nodes, and itself (ocas 0.4)."""

_HALF = 1 << 63
_META_XXH64 = 0xCD64B6361A88D199
"""XXH64 of the meta-schema's own bytes: the one payload that is hashed without a prefix."""


def hashed_bytes(type_: str, data: bytes) -> bytes:
    """What is hashed for the payload whose bytes are `data`, typed by `type_`."""
    if type_ == META and xxh64_intdigest(data) == _META_XXH64:
        return data
    return type_.encode("ascii") + data


def ref_of(type_: str, data: bytes) -> Ref:
    """The reference of the payload whose bytes are `data`, typed by `type_`."""
    return Ref.of_hash(xxh64_intdigest(hashed_bytes(type_, data)))


def ref_of_text(text: str) -> Ref:
    """The reference of a text as a node of the type `string`."""
    return ref_of(PRIMITIVES["string"], text_bytes(text)[0])


def number_of_hashed(data: bytes) -> int:
    """The reference, as a number (`ids.number_of`), of a node whose type and payload are `data`."""
    return xxh64_intdigest(data) - _HALF


def sha256_of(type_: str, data: bytes) -> bytes:
    """The 32 bytes of SHA-256 over exactly the bytes that `ref_of` hashes."""
    return _sha256()(hashed_bytes(type_, data)).digest()


@cache
def _sha256() -> "Callable[[bytes], Hash]":
    from hashlib import sha256  # loads OpenSSL: not worth it for commands that read no node

    return sha256


def names_of(type_: str, data: bytes) -> tuple[Ref, bytes]:
    """`ref_of` and `sha256_of` at once."""
    hashed = hashed_bytes(type_, data) if type_ == META else type_.encode("ascii") + data
    return Ref(ref_text(xxh64_intdigest(hashed))), _sha256()(hashed).digest()


def has_digests(type_: str, data: bytes, ref: str, sha256: bytes) -> tuple[bool, bool]:
    """Whether the payload has this reference, and whether it has this SHA-256."""
    hashed = hashed_bytes(type_, data)
    return ref_text(xxh64_intdigest(hashed)) == ref, _sha256()(hashed).digest() == sha256


def intact(contents: Iterable[Content]) -> dict[str, Content]:
    """The contents whose reference and SHA-256 are those of their bytes, by reference."""
    return {
        each.ref: each
        for each in contents
        if has_digests(each.type, each.data, each.ref, each.sha256) == (True, True)
    }


def variable_text(
    name: str, value: str, tags: Mapping[str, str], created_ms: int, updated_ms: int
) -> str:
    """All columns of a variable, joined by NUL (which none may hold)."""
    columns = (name, value, str(created_ms), str(updated_ms))
    return "\0".join((*columns, *chain.from_iterable(sorted(tags.items()))))


def variable_checksum(
    name: str, value: str, tags: Mapping[str, str], created_ms: int, updated_ms: int
) -> bytes:
    """16 bytes of XXH3 over the text of a variable. Finds damage, proves nothing against an
    attacker.
    """
    text = variable_text(name, value, tags, created_ms, updated_ms)
    return xxh3_128_digest(text.encode("utf-8", "surrogatepass"))


def checked_texts(found: Sequence[tuple[bytes, bytes]]) -> list[str] | None:
    """Texts of variables, given with their checksums; None if one does not match."""
    try:
        if [xxh3_128_digest(text) for text, _ in found] != [checksum for _, checksum in found]:
            return None
        return [text.decode() for text, _ in found]
    except (TypeError, UnicodeDecodeError):  # damage has turned a text into something else
        return None
