"""Use a type: validate payloads, and find the references in them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from uwf_core.cas.codec import MappingDecoder, decode, encode
from uwf_core.cas.hashing import META, PRIMITIVES
from uwf_core.cas.references import finder
from uwf_core.cas.schemas import META_SCHEMA, CompiledSchema, Violation
from uwf_core.cas.simple_check import fits
from uwf_core.errors import PayloadError, StoreError
from uwf_core.ids import Ref, known_number, number_of

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
    def compiled(self) -> CompiledSchema:
        """For payloads that `decode` gave.

        Raises:
            PayloadError: the schema is invalid.
        """
        if self._compiled is None:
            self._compiled = CompiledSchema(self._schema)
        return self._compiled

    def violations(self, payload: Any, size: int | None = None) -> Sequence[Violation]:
        """What is wrong with a payload that `decode` gave from `size` bytes; raises as `compiled`.

        The first ones are checked without jsonschema-rs if they can be.
        """
        if self._checked < _FEW:
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
