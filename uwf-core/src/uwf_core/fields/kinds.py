"""The kinds of shapes."""

# Every method is described once, at `Shape`.
# ruff: noqa: D102

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from operator import itemgetter
from typing import Any, Final, NamedTuple

from uwf_core.fields.mismatch import ABSENT, FieldFault, Path, Reading, Rule, To, nearest, shown

JsonSchema = dict[str, Any]
Build = Callable[[Any], Any]
SET_BY_UWF: Final = "Set by uwf"  # how the description of such a field begins

SCALARS: Final[Mapping[Any, tuple[str, str]]] = {
    str: ("text", "string"),
    int: ("a whole number", "integer"),
    float: ("a number", "number"),
    bool: ("true or false", "boolean"),
    type(None): ("null", "null"),
}


class Shape:
    """What a value may be. `wanted` names it in messages."""

    wanted = "anything"
    blank: Any = ABSENT
    """Replaces a required value that does not fit, so that the rest can be checked."""
    takes_null = False
    is_text = False
    rules: tuple[Rule, ...] = ()
    to: To | None = None

    def read(self, value: Any, path: Path, reading: Reading) -> Any:
        """The typed value, or `ABSENT`."""
        return value

    def schema(self, *, stored: bool = False) -> JsonSchema:
        """The JSON Schema: of a file, or of a node's payload, which has all keys (`stored`)."""
        return (
            {"type": "string", "format": "ocas_ref"} if self.to and stored else self._schema(stored)
        )

    def _schema(self, stored: bool) -> JsonSchema:
        return {}

    @property
    def build(self) -> Build | None:
        """Makes the typed value from a valid payload; None if that is the payload itself."""
        return None

    def at(self, name: str) -> "Shape | None":
        """The shape of the value of a key; None if the key is unknown."""
        return None

    def parts(self, value: Any) -> "Iterator[tuple[Shape, Any]]":
        """The parts of a valid value, each with its shape."""
        yield from ()

    def wrong(self, value: Any, path: Path, reading: Reading) -> Any:
        """Record a value of a wrong type."""
        named = next((rule.message for rule in self.rules if rule.names_type), None)
        message = named or f"must be {self.wanted}"
        is_plain = self.is_text and isinstance(value, int | float)
        hint = "put it in quotes" if is_plain else ""
        return reading.reject(path, "wrong-type", message, hint, value)

    def obeying(self, value: Any, path: Path, reading: Reading) -> Any:
        """`value` if it satisfies every rule."""
        for rule in self.rules:
            if not rule.accepts(value):
                return reading.reject(path, rule.code, rule.message, rule.hint)
        return value


class Anything(Shape):
    """Any JSON value."""

    takes_null = True

    def at(self, name: str) -> Shape | None:
        return self


class Scalar(Shape):
    """Text, a number, a truth value or null."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.wanted, self._type = SCALARS[kind]
        self.takes_null = kind is type(None)
        self.is_text = kind is str
        self.blank = "" if kind is str else ABSENT

    def read(self, value: Any, path: Path, reading: Reading) -> Any:
        if type(value) is self.kind is not float and not self.rules:
            return value
        if self.kind is float:
            fits = isinstance(value, int | float) and not isinstance(value, bool)
            if fits and (isinstance(value, int) or math.isfinite(value)) and abs(value) < 1e308:
                return self.obeying(float(value), path, reading)
        elif isinstance(value, self.kind) and (self.kind is not int or not isinstance(value, bool)):
            return self.obeying(value, path, reading)
        return self.wrong(value, path, reading)

    def _schema(self, stored: bool) -> JsonSchema:
        schema: JsonSchema = {"type": self._type}
        for rule in () if stored else self.rules:
            schema |= dict(rule.keywords)
        return schema


class OneOf(Shape):
    """One of some words."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values
        words = ("false" if each is False else str(each) for each in values)
        self.wanted = f"one of {', '.join(words)}"

    def read(self, value: Any, path: Path, reading: Reading) -> Any:
        for each in self.values:
            if type(each) is type(value) and each == value:
                return value
        known = map(str, self.values) if isinstance(value, str) else ()
        message = f"must be {self.wanted}"
        return reading.reject(path, "wrong-type", message, "", value, tuple(known))

    def _schema(self, stored: bool) -> JsonSchema:
        only_words = all(isinstance(each, str) for each in self.values)
        return {**({"type": "string"} if only_words else {}), "enum": list(self.values)}


class ListOf(Shape):
    """A list, given as `make`; `items` are the shapes of its items, the last one of all others,
    unless it is a tuple of `exactly` those.
    """

    wanted = "a list"
    blank: Any = ()

    def __init__(self, make: Callable[[Any], Any], items: tuple[Shape, ...], exactly: bool) -> None:
        self.make = make
        self.items = items
        self.exactly = exactly

    def read(self, value: Any, path: Path, reading: Reading) -> Any:
        if not isinstance(value, list | tuple):
            return self.wrong(value, path, reading)
        if self.exactly and len(value) != len(self.items):
            message = f"must have {len(self.items)} items, and has {len(value)}"
            return reading.reject(path, "bad-value", message)
        shapes = self.items if self.exactly else self.items * len(value)
        read = (
            shape.read(item, (*path, index), reading)
            for index, (shape, item) in enumerate(zip(shapes, value, strict=True))
        )
        return self.make(item for item in read if item is not ABSENT)

    def _schema(self, stored: bool) -> JsonSchema:
        return {"type": "array", "items": self.items[0].schema(stored=stored)}

    @cached_property
    def build(self) -> Build | None:
        make, item = self.make, self.items[0].build
        return make if item is None else lambda values: make(map(item, values))

    def parts(self, value: Any) -> Iterator[tuple[Shape, Any]]:
        yield from ((self.items[0], item) for item in value)


class MapOf(Shape):
    """A mapping from names to values of one shape; `Anything` as the value: not checked."""

    wanted = "a mapping"

    def __init__(self, value: Shape, what: str | None = None) -> None:
        self.value = value
        self.what = what
        self.blank: Any = {}

    def read(self, value: Any, path: Path, reading: Reading) -> Any:
        if not isinstance(value, Mapping):
            return self.wrong(value, path, reading)
        found = {}
        for key, each in value.items():
            if not isinstance(key, str):
                return reading.reject(path, "key", f"has the key {shown(key)}, which is not text")
            if self.what and not key.strip():
                reading.reject((*path, key), "name", f"{self.what} needs a name")
            elif each is None and self.what and reading.null_unset:
                continue
            else:
                found[key] = self.value.read(each, (*path, key), reading)
        return {key: each for key, each in found.items() if each is not ABSENT}

    def at(self, name: str) -> Shape | None:
        return self.value if name else None

    def _schema(self, stored: bool) -> JsonSchema:
        inner = self.value.schema(stored=stored)
        return {"type": "object", **({"additionalProperties": inner} if inner else {})}

    @cached_property
    def build(self) -> Build | None:
        make = self.value.build
        return make and (lambda values: {key: make(each) for key, each in values.items()})

    def parts(self, value: Any) -> Iterator[tuple[Shape, Any]]:
        yield from ((self.value, each) for each in value.values())


class AnyOf(Shape):
    """A value of any of several shapes; null is tried first."""

    def __init__(self, members: tuple[Shape, ...]) -> None:
        self.members = members
        self.wanted = " or ".join(member.wanted for member in members)
        self.takes_null = any(each.takes_null for each in members)
        self.others = [each for each in members if each.wanted != "null"]
        self.only = self.others[0] if len(self.others) == 1 else None
        self.is_text = self.others[0].is_text

    def read(self, value: Any, path: Path, reading: Reading) -> Any:
        if value is None and self.takes_null:
            return None
        if self.only is not None:
            return self.only.read(value, path, reading)
        for member in self.others:
            trial = Reading(closed=reading.closed, null_unset=reading.null_unset)
            found = member.read(value, path, trial)
            if not trial.mismatches:
                return found
        return self.wrong(value, path, reading)

    def at(self, name: str) -> Shape | None:
        return self.others[0].at(name)

    def _schema(self, stored: bool) -> JsonSchema:
        schemas = [member.schema(stored=stored) for member in self.members]
        if all(list(each) == ["type"] for each in schemas):
            return {"type": [each["type"] for each in schemas]}
        return {"anyOf": schemas}

    @cached_property
    def build(self) -> Build | None:
        make = next((found for each in self.others if (found := each.build)), None)
        return make and (lambda value: None if value is None else make(value))

    def parts(self, value: Any) -> Iterator[tuple[Shape, Any]]:
        if value is not None:
            yield from ((each, value) for each in self.others)


class Unsayable(Shape):
    """A type that JSON cannot say: the error of the class's author."""

    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation

    def read(self, value: Any, path: Path, reading: Reading) -> Any:
        field = path[-1] if path else ""
        raise TypeError(
            f"the type {self.annotation!r} of the field {field!r} cannot be said in JSON"
        )


class Field(NamedTuple):
    """A field of a class; `key` is its name in the data, `about` its description."""

    name: str
    key: str
    shape: Shape
    required: bool
    default: Any
    about: str

    def is_meant(self, unknown: Iterable[str], known: Iterable[str]) -> bool:
        """Whether an unknown key is a misspelling of this required one: then it is one error."""
        return self.required and any(nearest(key, known) == self.key for key in unknown)


class RecordOf(Shape):
    """A mapping with the fields of a class."""

    wanted = "a mapping"

    def __init__(self, cls: Any, fields: Callable[[Any], Iterable[Field]]) -> None:
        self.cls = cls
        self._fields = fields

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """The fields by key."""
        return {each.key: each for each in self._fields(self.cls)}

    @cached_property
    def set_by_uwf(self) -> frozenset[str]:
        """The keys that only uwf sets, in a node: a file must not have them."""
        return frozenset(k for k, each in self.fields.items() if each.about.startswith(SET_BY_UWF))

    def read(self, value: Any, path: Path, reading: Reading) -> Any:
        if type(value) is not dict and not isinstance(value, Mapping):
            return self.wrong(value, path, reading)
        before = len(reading.mismatches)
        known, own = self.fields, self.set_by_uwf
        unknown = list[str]()
        if reading.closed and not known.keys() >= value.keys():
            unknown = [str(key) for key in value if key not in known]
            written = [key for key in known if key not in own]
            for key in unknown:
                where = (*path, key)
                reading.reject(where, "unknown-key", "is not a known key", "", ABSENT, written)
        found = {}
        for key, field in known.items():
            if key in own and key in value:
                where, hint = (*path, key), f"remove `{key}`"
                each = reading.reject(where, "set-by-uwf", "is set by uwf", hint)
            elif key in value:
                each = self._read_field(field, value[key], path, reading)
            elif not field.required:
                continue
            else:
                is_typo = field.is_meant(unknown[:20], known)
                where = (*path, key)
                each = ABSENT if is_typo else reading.reject(where, "missing-key", "is missing")
            if each is ABSENT and field.required:
                each = field.shape.blank
            if each is not ABSENT:
                found[field.name] = each
        return self._made(found, path, reading, valid=len(reading.mismatches) == before)

    def _read_field(self, field: Field, value: Any, path: Path, reading: Reading) -> Any:
        if value is None and reading.null_unset and not (field.required or field.shape.takes_null):
            return ABSENT
        return field.shape.read(value, (*path, field.key), reading)

    def _made(self, found: dict[str, Any], path: Path, reading: Reading, *, valid: bool) -> Any:
        """The object; what its class itself rejects concerns the whole mapping."""
        try:
            made = self.cls(**found)
            conflict = made.conflict() if valid and hasattr(self.cls, "conflict") else None
            return made if conflict is None else reading.reject(path, "entry", conflict)
        except (ValueError, TypeError) as error:
            if not valid:
                return ABSENT
            if not isinstance(error, ValueError):
                raise
            if isinstance(error, FieldFault):
                return reading.reject(
                    (*path, *error.path), "entry", error.message, error.hint or ""
                )
            return reading.reject(path, "entry", str(error))

    def at(self, name: str) -> Shape | None:
        field = self.fields.get(name)
        return None if field is None else field.shape

    def _schema(self, stored: bool) -> JsonSchema:
        properties = {}
        for key, field in self.fields.items():
            properties[key] = field.shape.schema(stored=stored)
            if not stored:
                properties[key] |= {"description": field.about} if field.about else {}
                properties[key] |= {} if field.required else {"default": field.default}
        return {
            "type": "object",
            "properties": properties,
            "required": [key for key, each in self.fields.items() if stored or each.required],
            "additionalProperties": False,
        }

    @cached_property
    def build(self) -> Build:
        keys = tuple(self.fields)
        values_of = itemgetter(*keys) if len(keys) > 1 else lambda value: (value[keys[0]],)
        names = tuple(each.name for each in self.fields.values())
        makes = [(each.name, make) for each in self.fields.values() if (make := each.shape.build)]
        cls = self.cls

        def built(payload: Mapping[str, Any]) -> Any:
            values = dict(zip(names, values_of(payload), strict=True))
            for name, make in makes:
                values[name] = make(values[name])
            if not hasattr(cls, "__dataclass_fields__"):
                return cls(**values)
            instance = object.__new__(cls)  # five times as quick as a call
            instance.__dict__.update(values)
            return instance

        return built

    def parts(self, value: Any) -> Iterator[tuple[Shape, Any]]:
        if isinstance(value, Mapping):
            yield from ((each.shape, value.get(key)) for key, each in self.fields.items())
