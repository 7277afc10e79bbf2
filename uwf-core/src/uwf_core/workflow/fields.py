"""Resolve the names of a template in a schema: always present, perhaps, or never.

A name is looked up as the renderer does it: its first part in the innermost section that has it,
the rest within that.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from uwf_core.workflow.alternatives import MAX_ALTERNATIVES, alternatives
from uwf_core.workflow.template import Path, TemplateName
from uwf_core.workflow.variants import BODY, INPUT, Variant

_ANYTHING: tuple[dict[str, Any], ...] = ({},)
ValueShape = Sequence[dict[str, Any]]
"""Flat alternatives: a value satisfies one of them."""


class Presence(IntEnum):
    """Whether a name is present; ordered by certainty."""

    NEVER = 0
    PERHAPS = 1
    ALWAYS = 2


class Fields:
    """The names that one variant of a role's output (None at $START) offers to templates, with
    the typed input if the workflow has one.

    In the branches of a fan-out, there are further names that are always present (`others`, by
    their schema), and the contexts `inner` within that of the output: the shape of an item.
    """

    def __init__(
        self,
        variant: Variant | None,
        input_schema: dict[str, Any] | None = None,
        others: Mapping[str, Any] | None = None,
        inner: Sequence[ValueShape] = (),
    ) -> None:
        properties: dict[str, Any] = {}
        if variant is not None:
            properties = {**variant.properties, BODY: {"type": "string"}}
        required = [] if variant is None else [*variant.required, BODY]
        if input_schema is not None:
            properties[INPUT] = input_schema
            required.append(INPUT)
        if others is not None:
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
        if not name.path:
            return Presence.ALWAYS
        return self._scope(name.section_stack).find(name.path)[0]

    def _scope(self, stack: tuple[Path, ...]) -> "_Scope":
        """The names within these sections; computed once for all tags in the same ones."""
        scope = self._within.get(stack)
        if scope is None:
            outer, path = self._scope(stack[:-1]), stack[-1]
            shape = _few(_not_null(outer.find(path)[1]))
            scope = _Scope([*outer.contexts, _few(_items(shape))], [*outer.guarded, (path, shape)])
            self._within[stack] = scope
        return scope


class _Scope:
    """The inside of sections: the values they iterate over, and what they prove to be present."""

    def __init__(self, contexts: list[ValueShape], guarded: list[tuple[Path, ValueShape]]) -> None:
        self.contexts = contexts
        self.guarded = guarded
        self._found: dict[Path, tuple[Presence, ValueShape]] = {}

    def find(self, path: Path) -> tuple[Presence, ValueShape]:
        """Whether `path` is present, and the shape of its value."""
        if path not in self._found:
            self._found[path] = self._find(path)
        return self._found[path]

    def _find(self, path: Path) -> tuple[Presence, ValueShape]:
        if not path:
            return Presence.ALWAYS, self.contexts[-1]
        for known, shape in reversed(self.guarded):
            if path == known:
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
    types = _types(schema)
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
    properties = schema.get("properties")
    more = schema.get("additionalProperties")
    if isinstance(properties, dict) and part in properties:
        required = schema.get("required")
        always = isinstance(required, list) and part in required
        presence = Presence.ALWAYS if always else Presence.PERHAPS
        return presence, alternatives(properties[part]) or _ANYTHING
    if more is False or (properties and more is None and not schema.get("patternProperties")):
        return Presence.NEVER, ()
    return Presence.PERHAPS, (alternatives(more) if isinstance(more, dict) else ()) or _ANYTHING


def _item(schema: dict[str, Any], index: int) -> tuple[Presence, ValueShape]:
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if isinstance(most, (int, float)) and index >= most:
        return Presence.NEVER, ()
    always = isinstance(least, (int, float)) and index < least
    return Presence.ALWAYS if always else Presence.PERHAPS, _item_shape(schema, index)


def _item_shape(schema: dict[str, Any], index: int | None) -> ValueShape:
    """The shape of the item at `index`, or of any item."""
    first = schema.get("prefixItems")
    first = first if isinstance(first, list) else []
    if index is not None and index < len(first):
        return alternatives(first[index]) or _ANYTHING
    rest = alternatives(schema["items"]) if isinstance(schema.get("items"), dict) else ()
    if index is None:
        return (*(each for item in first for each in alternatives(item)), *rest) or _ANYTHING
    return rest or _ANYTHING


def _types(schema: dict[str, Any]) -> list[str]:
    """The types that a schema allows; without `type`, guessed from its keywords."""
    types = schema.get("type")
    if isinstance(types, str):
        return [types]
    if isinstance(types, list):
        return [each for each in types if isinstance(each, str)]
    if "properties" in schema or "required" in schema:
        return ["object"]
    if "items" in schema or "prefixItems" in schema:
        return ["array"]
    if "const" in schema or "enum" in schema:
        return _types_of_values(schema)
    return ["object", "array", "string"]


def _types_of_values(schema: dict[str, Any]) -> list[str]:
    values = [schema["const"]] if "const" in schema else schema["enum"]
    names = {dict: "object", list: "array", type(None): "null"}
    listed = values if isinstance(values, list) else []
    return sorted({names.get(type(value), "string") for value in listed})


def _not_null(shape: ValueShape) -> ValueShape:
    """The alternatives within a section over the value, where it cannot be null."""
    some = [
        {**schema, "type": [each for each in _types(schema) if each != "null"]}
        for schema in shape
        if _types(schema) != ["null"]
    ]
    return tuple(some)


def _items(shape: ValueShape) -> ValueShape:
    """The context inside a section: each item of a list, else the value itself."""
    inner: list[dict[str, Any]] = []
    for schema in shape:
        types = _types(schema)
        if "array" in types:
            inner.extend(_item_shape(schema, None))
        if types != ["array"]:
            inner.append({**schema, "type": [each for each in types if each != "array"]})
    return tuple(inner)
