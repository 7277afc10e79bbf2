"""What a type offers: the names of a template in it, and whether it fills an input. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from uwf_core.workflow.lattice import (
    MAX_ALTERNATIVES,
    alternatives,
    as_list,
    as_mapping,
    at,
    is_open,
    presence,
    properties_of,
    types_of,
)
from uwf_core.workflow.template import PRESENT, Path, TemplateName
from uwf_core.workflow.variants import BODY, INPUT, STATUS, Variant

_TRUE: tuple[dict[str, Any], ...] = ({"const": True},)
_ANYTHING: tuple[dict[str, Any], ...] = ({},)
ValueShape = Sequence[dict[str, Any]]
"""Flat alternatives: a value satisfies one of them."""


class Presence(IntEnum):
    """Whether a name is present; ordered by certainty. `NULLABLE`: always, but perhaps null."""

    NEVER = 0
    PERHAPS = 1
    NULLABLE = 2
    ALWAYS = 3


class Fields:
    """The names that one variant of a role's output (None at $START) offers to templates, with
    the typed input if the workflow has one.

    There may be further names that are always present (`others`, by their schema). In the branches
    of a fan-out, there are contexts `inner` within that of the output: the shape of an item.
    """

    def __init__(
        self,
        variant: Variant | None,
        input_schema: dict[str, Any] | None = None,
        others: Mapping[str, Any] = {},
        inner: Sequence[ValueShape] = (),
    ) -> None:
        properties: dict[str, Any] = {}
        if variant is not None:
            properties = {**variant.properties, BODY: {"type": "string"}}
        required = [] if variant is None else [*variant.required, BODY]
        if input_schema is not None:
            properties[INPUT] = {"type": "object", **input_schema}
            required.append(INPUT)
        properties |= others
        required += others
        top: ValueShape = (
            {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": variant is not None and variant.open,
            },
        )
        self._within: dict[tuple[Path, ...], _Scope] = {(): _Scope([top, *inner], [])}

    def presence(self, name: TemplateName) -> Presence:
        """Whether the value of `name` is present; the tag of a section needs only PERHAPS."""
        return self._scope(name.section_stack).presence(name.path)

    def is_true(self, stack: tuple[Path, ...], path: Path) -> bool | None:
        """Whether a section over `path` within the sections `stack` is rendered; None: perhaps."""
        found, shape = self._scope(stack).find(path)
        if found is Presence.NEVER:
            return False
        return True if found is Presence.ALWAYS and all(map(_is_true, shape)) else None

    def _scope(self, stack: tuple[Path, ...]) -> "_Scope":
        """The names within these sections; computed once for all tags in the same ones."""
        scope = self._within.get(stack)
        if scope is None:
            outer, path = self._scope(stack[:-1]), stack[-1]
            shape = _few(_not_null(outer.find(path)[1]))
            asked = asked_for(path)
            proven = shape if asked is None else _few(_not_null(outer.find(asked)[1]))
            guard = asked or path, proven, len(outer.contexts)
            scope = _Scope([*outer.contexts, _few(_items(shape))], [*outer.guarded, guard])
            self._within[stack] = scope
        return scope


class _Scope:
    """The inside of sections: the values they iterate over, and what they prove to be present:
    each a name, its shape, and how many contexts are outside of the section.
    """

    def __init__(
        self, contexts: list[ValueShape], guarded: list[tuple[Path, ValueShape, int]]
    ) -> None:
        self.contexts = contexts
        self.guarded = guarded
        self._found: dict[Path, tuple[Presence, ValueShape]] = {}
        self._presences: dict[Path, Presence] = {}

    def presence(self, path: Path) -> Presence:
        """As `find`; values that can be null are distinguished."""
        if path not in self._presences:
            found, shape = self.find(path)
            is_nullable = any("null" in types_of(each) for each in shape)
            is_certain = found is Presence.ALWAYS
            self._presences[path] = Presence.NULLABLE if is_certain and is_nullable else found
        return self._presences[path]

    def find(self, path: Path) -> tuple[Presence, ValueShape]:
        """Whether `path` is present, and the shape of its value."""
        if path not in self._found:
            self._found[path] = self._find(path)
        return self._found[path]

    def _find(self, path: Path) -> tuple[Presence, ValueShape]:
        if not path:
            return Presence.ALWAYS, self.contexts[-1]
        asked = asked_for(path)
        if asked is not None:
            found = self.presence(asked)
            return (Presence.PERHAPS if found is Presence.NULLABLE else found), _TRUE
        for known, shape, level in reversed(self.guarded):
            if path == known and self._is_same_within(level, path[0]):
                return Presence.ALWAYS, shape
        if len(path) > 1:
            found, shape = self.find(path[:-1])
            here, inner = _member(shape, path[-1])
            return min(found, here), _few(inner)
        found, shape = Presence.NEVER, ()
        for context in reversed(self.contexts):
            here, inner = _member(context, path[0])
            found, shape = max(found, here), (*shape, *inner)
            if here is Presence.ALWAYS:
                break
        return found, _few(shape)

    def _is_same_within(self, level: int, part: str) -> bool:
        """Whether a name means the same as outside: no context from `level` on hides it."""
        inner = self.contexts[level:]
        return all(_member(each, part)[0] is Presence.NEVER for each in inner)


def asked_for(path: Path) -> Path | None:
    """The name whose value `name?` asks for; None for any other name."""
    if not path or not path[-1].endswith(PRESENT) or path[-1] == PRESENT:
        return None
    return *path[:-1], path[-1].removesuffix(PRESENT)


def item_shape(lists: ValueShape) -> ValueShape:
    """The shape of the items of a list, which is one of these."""
    return _few(tuple(item for each in lists for item in _item_shape(each, None)))


def _few(shape: ValueShape) -> ValueShape:
    """A shape of too many alternatives counts as any value: sections multiply them."""
    return shape if len(shape) <= MAX_ALTERNATIVES else _ANYTHING


def _member(shape: ValueShape, part: str) -> tuple[Presence, tuple[dict[str, Any], ...]]:
    """`part` of a value of this shape: in all alternatives, in some, or in none."""
    found = [_member_of_one(schema, part) for schema in shape]
    inner = tuple(each for _, schemas in found for each in schemas)
    presences = {presence for presence, _ in found}
    if presences == {Presence.ALWAYS}:
        return Presence.ALWAYS, inner
    if presences <= {Presence.NEVER}:
        return Presence.NEVER, ()
    return Presence.PERHAPS, inner


def _member_of_one(schema: dict[str, Any], part: str) -> tuple[Presence, ValueShape]:
    types = types_of(schema)
    found: list[tuple[Presence, ValueShape]] = []
    if "object" in types:
        found.append(_property(schema, part))
    if "array" in types and part.isascii() and part.isdigit() and len(part) < 10:
        found.append(_item(schema, int(part)))
    best = max((presence for presence, _ in found), default=Presence.NEVER)
    inner = tuple(each for _, shape in found for each in shape)
    if best is Presence.ALWAYS and len(types) > 1:
        best = Presence.PERHAPS
    return best, inner


def _property(schema: dict[str, Any], part: str) -> tuple[Presence, ValueShape]:
    known = presence(schema, part)
    if known == "never":
        return Presence.NEVER, ()
    inner = properties_of(schema).get(part)
    if known == "unknown" and not schema.get("patternProperties"):
        inner = schema.get("additionalProperties")
    shape = (() if inner is None else alternatives(inner)) or _ANYTHING
    return Presence.ALWAYS if known == "always" else Presence.PERHAPS, shape


def _item(schema: dict[str, Any], index: int) -> tuple[Presence, ValueShape]:
    if _is_count(schema, "maxItems") and index >= schema["maxItems"]:
        return Presence.NEVER, ()
    always = index < _least(schema)
    return Presence.ALWAYS if always else Presence.PERHAPS, _item_shape(schema, index)


def _least(schema: dict[str, Any]) -> float:
    """How many items a list has at least."""
    return schema["minItems"] if _is_count(schema, "minItems") else 0


def _is_count(schema: dict[str, Any], word: str) -> bool:
    return isinstance(schema.get(word), (int, float))


def _item_shape(schema: dict[str, Any], index: int | None) -> ValueShape:
    """The shape of the item at `index`, or of any item."""
    first = as_list(schema.get("prefixItems"))
    if index is not None and index < len(first):
        return alternatives(first[index]) or _ANYTHING
    items = schema.get("items")
    rest = _ANYTHING if items is None else () if items is False else alternatives(items)
    if index is None:
        return (*(each for item in first for each in alternatives(item)), *rest) or _ANYTHING
    return rest or _ANYTHING


def _is_true(schema: dict[str, Any]) -> bool:
    """Whether a section over any value of this schema is rendered."""
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, list):
        return all(each or isinstance(each, dict) for each in values)
    types = types_of(schema)
    if types == {"array"}:
        return _least(schema) > 0
    if types == {"string"}:
        return _is_count(schema, "minLength") and schema["minLength"] > 0
    return types == {"object"}


def _not_null(shape: ValueShape) -> ValueShape:
    """The alternatives within a section over the value, where it cannot be null."""
    found = [(schema, types_of(schema) - {"null"}) for schema in shape]
    return tuple({**schema, "type": sorted(types)} for schema, types in found if types)


def _items(shape: ValueShape) -> ValueShape:
    """The context inside a section: each item of a list, else the value itself."""
    inner: list[dict[str, Any]] = []
    for schema in shape:
        types = types_of(schema)
        if "array" in types:
            inner.extend(_item_shape(schema, None))
        if types != {"array"}:
            inner.append({**schema, "type": sorted(types - {"array"})})
    return tuple(inner)


_DEEPEST = 8
"""Levels of nested fields that are compared; deeper ones count as unknown."""
MOST_COMPARED = 5_000
"""Fields that are compared in one file, each with each alternative."""


class InputFault(NamedTuple):
    """A field of an input that an output cannot fill, or (`certain` is False) may not fill."""

    field: str
    message: str
    certain: bool


def reduced_input(output: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an output that the schema of an input declares: all fields but `$status` if the
    schema allows further fields.
    """
    every = alternatives(schema)
    declared = {name for each in every for name in as_mapping(each.get("properties"))}
    takes_all = any(is_open(each) for each in every)
    return {
        name: value
        for name, value in output.items()
        if name in declared or (takes_all and name != STATUS)
    }


def output_schema(variant: Variant | None) -> dict[str, Any]:
    """A variant of an output as one flat schema; that of $START (None) has no field."""
    return {
        "type": "object",
        "properties": {} if variant is None else variant.properties,
        "required": [] if variant is None else sorted(variant.required),
        "additionalProperties": variant is not None and variant.open,
    }


class WorkLeft:
    """What one kind of work may still take in a file; `left` counts it."""

    def __init__(self, left: int) -> None:
        self.left = left


def input_faults(given: Any, wanted: Any, work: WorkLeft | None = None) -> list[InputFault]:
    """Why values of the schema `given` may not fill an input of the schema `wanted`. What `work`
    does not allow to compare is a doubt; the values of patterns, lengths and ranges are left out.
    """
    work = work or WorkLeft(MOST_COMPARED)
    faults = _fewest(given, alternatives(wanted), "", _DEEPEST, work)
    if work.left > 0:
        return faults
    return [*faults, InputFault("", "is too complex to be compared with the output", False)]


def _fewest(
    given: Any, wanted: Sequence[Mapping[str, Any]], path: str, depth: int, work: WorkLeft
) -> list[InputFault]:
    """The reasons for the alternative that has the fewest."""
    tried = [list(_faults(given, each, path, depth, work)) for each in wanted]
    return min(tried, key=len, default=[])


def _faults(
    given: Any, wanted: Mapping[str, Any], path: str, depth: int, work: WorkLeft
) -> Iterator[InputFault]:
    work.left -= 1
    outputs = alternatives(given) if depth and work.left > 0 else ()
    if not outputs:
        return
    for name in as_list(wanted.get("required")):
        field = f"{path}{name}"
        presences = {presence(each, str(name)) for each in outputs}
        if presences == {"never"}:
            yield InputFault(field, "is not a field of the output", True)
        elif presences != {"always"}:
            yield InputFault(field, "is not required in the output", False)
    for name, schema in as_mapping(wanted.get("properties")).items():
        field = f"{path}{name}"
        if all(presence(each, name) in ("always", "perhaps") for each in outputs):
            yield from _of_field(at(given, name), schema, field, depth, work)


def _of_field(
    given: Any, wanted: Any, field: str, depth: int, work: WorkLeft
) -> Iterator[InputFault]:
    work.left -= 1
    if work.left <= 0:
        return
    mine, its = types_of(given), types_of(wanted)
    if mine and not mine & its:
        message = f"is {_words(mine)} in the output, and {_words(its)} in the input"
        yield InputFault(field, message, True)
        return
    if not mine <= its:
        message = f"can be {_words(mine - its)} in the output, and only {_words(its)} in the input"
        yield InputFault(field, message, False)
    values = _values(given)
    if values is not None and (allowed := _values(wanted)) is not None:
        if not any(each in allowed for each in values):
            yield InputFault(field, "has no value in the output that the input allows", True)
        return
    if "object" in mine & its:
        yield from _fewest(given, alternatives(wanted), f"{field}.", depth - 1, work)
    if "array" in mine & its and depth:
        yield from _of_field(at(given, 0), at(wanted, 0), f"{field}.0", depth - 1, work)


def _values(schema: Any) -> list[Any] | None:
    """The values that a schema lists, None if it lists none."""
    if not isinstance(schema, Mapping):
        return None
    if "const" in schema:
        return [schema["const"]]
    return schema["enum"] if isinstance(schema.get("enum"), list) else None


def _words(types: frozenset[str]) -> str:
    names = sorted(types - {"integer"} if "number" in types else types)
    return " or ".join(names) or "no value"


def is_mapping(schema: Mapping[str, Any]) -> bool:
    """Whether every value of a schema is a mapping, as far as its alternatives are known."""
    found = alternatives(schema)
    return bool(found) and all("object" in types_of(each) for each in found)
