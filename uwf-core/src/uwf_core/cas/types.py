"""Use a type: validate payloads, and find the references in them."""

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from uwf_core.cas.codec import (
    MAX_DEPTH,
    SAFE_INTEGER,
    SIMPLE,
    WIDTHS,
    PayloadReader,
    decode,
    decode_text,
    encode,
)
from uwf_core.cas.encoder import MAP, TEXT_0, head
from uwf_core.cas.hashing import META, META_SCHEMA, PRIMITIVES
from uwf_core.cas.references import finder
from uwf_core.errors import CorruptNodeError, PayloadError, StoreError
from uwf_core.ids import Ref, known_number, number_of

if TYPE_CHECKING:
    from uwf_core.cas.schemas import CompiledSchema, Violation

_FEW = 8
"""How many payloads of a type are checked before jsonschema-rs is loaded for them, or decoded
before their type is looked up. A process that runs one step checks two of a type.
"""


class KnownType:
    """A schema, made ready when it is first needed.

    Attributes:
        prefix: the bytes before a payload in what is hashed.
        decode: `codec.decode`, the quickest way for this type.
    """

    __slots__ = ("_checked", "_compiled", "_number", "_references", "_schema", "decode", "prefix")

    def __init__(self, ref: str, schema: Mapping[str, Any]) -> None:
        number = number_of(ref)
        assert number is not None, "a type is a node"
        self.prefix = ref.encode("ascii")
        self._number = number
        self._schema = schema
        self._references = finder(schema)
        self.decode = _decoder(schema)
        self._compiled: CompiledSchema | None = None
        self._checked = 0

    @property
    def compiled(self) -> "CompiledSchema":
        """For payloads that `decode` gave.

        Raises:
            PayloadError: the schema is invalid.
        """
        if self._compiled is None:
            from uwf_core.cas.schemas import CompiledSchema  # what only reads checks nothing

            self._compiled = CompiledSchema(self._schema)
        return self._compiled

    def violations(self, payload: Any, size: int | None = None) -> "Sequence[Violation]":
        """What is wrong with a payload that `decode` gave from `size` bytes; raises as `compiled`.

        The first ones are checked without jsonschema-rs if they can be.
        """
        if self._checked < _FEW:
            from uwf_core.cas.simple_check import fits

            self._checked += 1
            if fits(self._schema, payload):
                return ()
        compiled = self._compiled or self.compiled
        return (
            () if compiled.accepts_sized(payload, size) else compiled.violations_of_plain(payload)
        )

    def edges(self, payload: Any) -> tuple[int, ...]:
        """The references in a payload, and the type: as numbers, sorted.

        Raises:
            PayloadError: one of them has more bits than a reference.
        """
        numbers: Any = map(known_number, self._references(payload))
        edges = {self._number, *numbers}
        if None in edges:  # a text that is not a reference
            _check_form(self._references(payload))
            edges.remove(None)
        return tuple(sorted(edges))


def _check_form(texts: Iterable[str]) -> None:
    for text in texts:
        if Ref.matches(text) and number_of(text) is None:
            raise PayloadError(
                f"{text!r} is not a reference",
                hint="the first character of a reference is 0 to F",
            )


def _decoder(schema: Mapping[str, Any]) -> Callable[[bytes], Any]:
    if schema.get("type") == "string":
        return decode_text
    keys = schema.get("properties", {})
    if keys and schema.get("additionalProperties") is False:
        return MappingDecoder(keys).decode
    return decode


class Types:
    """Schemas by their reference, which identifies their content: a process may share them between
    its stores.

    Attributes:
        schemas: the known ones. kinds: the references of those that have a short name.
    """

    def __init__(self) -> None:
        self.schemas: dict[str, Mapping[str, Any]] = {META: META_SCHEMA}
        for name, ref in PRIMITIVES.items():
            self.schemas[ref] = {"type": name}
        self.kinds: dict[str, Ref] = {}
        self._known: dict[str, KnownType] = {}
        self._data: dict[str, bytes] = {}
        self._decoded: Counter[str] = Counter()
        self._decoders: dict[str, Callable[[bytes], Any]] = {}

    def data(self, ref: str) -> bytes:
        """A known schema as it is stored."""
        found = self._data.get(ref)
        if found is None:
            found = self._data[ref] = encode(self.schemas[ref])
        return found

    def decode(self, ref: str, data: bytes, schema: Callable[[str], Mapping[str, Any]]) -> Any:
        """As `codec.decode`, quicker where the type `ref` is known; after a few payloads `schema`
        is asked for it.
        """
        known = self._decoders.get(ref)
        if known is not None:
            return known(data)
        payload = decode(data)
        self._decoded[ref] += 1
        if self._decoded[ref] == _FEW:
            with suppress(StoreError, PayloadError):  # a damaged type is reported where it matters
                self._decoders[ref] = _decoder(schema(ref))
        return payload

    def of(self, ref: str, schema: Mapping[str, Any]) -> KnownType:
        """The type `ref`, whose schema is `schema`."""
        found = self._known.get(ref)
        if found is None:
            found = self._known[ref] = KnownType(ref, schema)
            self._decoders[ref] = found.decode
        return found


class MappingDecoder:
    """`decode` for mappings that nearly always have the same keys: in a fifth of the time.

    A mapping differs from the one before in few values, also of the mappings in it. The bytes
    between two that differ are one piece, which is compared and not read: its values are those of
    the mapping before.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._names = set(keys)
        self._reads = 0
        self._inner: dict[str, tuple[str, ...] | None] = {}
        self._encoded: dict[_Path, bytes] = {}
        self._varying: set[_Path] = set()
        self._plan: _Plan = {}, (), (), b"", ()

    def decode(self, data: bytes) -> Any:
        """As `decode`."""
        try:
            found = self._planned(data)
        except (CorruptNodeError, IndexError, struct.error, UnicodeDecodeError):
            found = None
        return found or self._read(data)

    def _planned(self, data: bytes) -> dict[str, Any] | None:
        """The mapping if it is as planned."""
        known, inner, pieces, last, copied = self._plan
        found, at = known.copy(), 0
        into: dict[str | None, dict[str, Any]] = {None: found}
        for key, values in inner:
            into[key] = found[key] = values.copy()
        for piece, size, outer, key in pieces:
            if not data.startswith(piece, at):
                return None
            at += size
            first, start = data[at], at + 1
            at = start + first - TEXT_0
            if start <= at < start + 24:  # what is short is read without a call
                value: Any = data[start:at].decode()
            elif first in SIMPLE:
                value, at = SIMPLE[first], start
            elif first in WIDTHS:
                width, least = WIDTHS[first]
                at = start + width
                value = int.from_bytes(data[start:at], "big")
                if not least <= value <= SAFE_INTEGER:
                    return None
            else:
                reader = PayloadReader(data, start - 1)
                value = reader.value(MAX_DEPTH - (1 if outer is None else 2))
                at = reader.position
            into[outer][key] = value
        if at > len(data) or data[at:] != last:
            return None
        for outer, key, kind in copied:
            into[outer][key] = kind(into[outer][key])
        return found

    def _read(self, data: bytes) -> Any:
        """Read everything; from the third mapping on, learn in what it differs."""
        found = decode(data)
        self._reads += 1
        if self._reads >= _FIRST_LEARNT and type(found) is dict and found.keys() == self._names:
            self._learn(found)
        return found

    def _learn(self, found: dict[str, Any]) -> None:
        values = dict(self._values_in(found))
        encoded = {path: encode(value) for path, value in values.items()}
        for path, value in values.items():
            if encoded[path] != self._encoded.get(path, encoded[path]) or not _is_flat(value):
                self._varying.add(path)
        self._encoded = encoded
        known, copied = found.copy(), []
        inner = {key: found[key].copy() for key, names in self._inner.items() if names}
        for path in values.keys() - self._varying:
            outer, key = path
            kind = type(values[path])
            if kind in _MUTABLE:
                copied.append((outer, key, kind))
                (known if outer is None else inner[outer])[key] = kind(values[path])
        pieces, last = self._pieces(found)
        self._plan = known, tuple(inner.items()), pieces, last, tuple(copied)

    def _values_in(self, found: dict[str, Any]) -> Iterator[tuple["_Path", Any]]:
        """The values of a mapping, and those of a mapping in it that always has the same keys."""
        for key, value in found.items():
            names = tuple(value) if type(value) is dict and 0 < len(value) <= _MOST_INNER else None
            if self._inner.setdefault(key, names) != names:
                self._inner[key] = None
            if self._inner[key] is None:
                yield (None, key), value
            else:
                yield from (((key, name), each) for name, each in value.items())

    def _pieces(self, found: dict[str, Any]) -> tuple[tuple["_Piece", ...], bytes]:
        pieces: list[_Piece] = []
        piece, before = head(MAP, len(found)), None
        for path, data in self._encoded.items():
            outer, key = path
            if outer is not None and outer != before:
                piece += encode(outer) + head(MAP, len(found[outer]))
            before = outer
            piece += encode(key)
            if path in self._varying:
                pieces.append((piece, len(piece), outer, key))
                piece = b""
            else:
                piece += data
        return tuple(pieces), piece


_Path = tuple[str | None, str]
"""The key of a value, after that of the mapping in which it is if that is an inner one."""

_Piece = tuple[bytes, int, str | None, str]
"""Bytes with their size, and the path of the value after them."""

_Plan = tuple[
    dict[str, Any],
    tuple[tuple[str, dict[str, Any]], ...],
    tuple[_Piece, ...],
    bytes,
    tuple[tuple[str | None, str, type], ...],
]
"""The values of the mapping before, and of those in it; the pieces, and the last one; the paths of
values that can be changed, and so are copied, with their types.
"""

_MOST_INNER = 32
"""How many keys an inner mapping can have whose values are compared one by one."""

_FIRST_LEARNT = 3
"""A process that runs one step decodes two mappings of a type, and to learn takes as long as to
read three.
"""


_MUTABLE = frozenset((dict, list))


def _is_flat(value: Any) -> bool:
    """Whether a copy shares nothing that can be changed."""
    if type(value) not in _MUTABLE:
        return True
    return _MUTABLE.isdisjoint(map(type, value.values() if type(value) is dict else value))
