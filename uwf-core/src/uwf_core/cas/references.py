"""References inside payloads: the values at the places that a schema marks `format: ocas_ref`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from uwf_core.cas.codec import Keys
from uwf_core.cas.hashing import CLAIMS, FORMAT
from uwf_core.ids import Ref

_ONE = ("if", "then", "else", "items", "additionalProperties")
_LISTS = ("anyOf", "oneOf", "allOf")
_NAMED = ("properties", "patternProperties")
_NOTHING: Mapping[str, Any] = {}


def references_in(schema: Mapping[str, Any], payload: Any) -> set[str]:
    """The references in `payload` by `schema`, its type not included.

    All branches of `anyOf`, `oneOf` and `if` count, whether the value takes them or not: keeping
    a node too many is harmless, losing one is not. Text that has not the form of a reference is
    none (another branch allows it).
    """
    return set(_found(schema, payload))


Finder = Callable[[Any], Iterable[str]]
"""Gives the texts at the places of references in a payload, also those that are none by form, and
some of them more than once.
"""


def finder(schema: Mapping[str, Any]) -> Finder:
    """Made once for many payloads of one schema: objects and lists of plain references, which
    nearly all are, take a tenth of the time; what lies deeper is looked at only where there is
    anything.
    """
    return _finder(marked_places(schema))


def _finder(places: Mapping[str, Any]) -> Finder:
    while len(places) == 1 and any(len(places.get(word, ())) == 1 for word in _LISTS):
        [[places]] = places.values()  # the other alternatives hold no reference
    if places.keys() == {"items"}:
        return _in_items(places["items"])
    if places.keys() == {"properties"}:
        return _in_properties(places["properties"])
    return lambda payload: _found(places, payload)


def _in_items(place: Mapping[str, Any]) -> Finder:
    if _is_plain(place):
        return lambda items: (
            [each for each in items if type(each) is str] if _is_list(items) else ()
        )
    inner = _finder(place)
    return lambda items: [*chain.from_iterable(map(inner, items))] if _is_list(items) else ()


def _is_list(value: Any) -> bool:
    return type(value) is list


def _in_properties(named: Mapping[str, Any]) -> Finder:
    keys = tuple(key for key, place in named.items() if _is_plain(place))
    deep = tuple((key, _finder(place)) for key, place in named.items() if key not in keys)

    def plain(payload: Any) -> list[str]:
        if type(payload) is not dict:
            return []
        found = [payload[key] for key in keys if key in payload and type(payload[key]) is str]
        for key, find in deep:
            value = payload.get(key)
            if value:
                found += find(value)
        return found

    return plain


def _is_plain(place: Mapping[str, Any]) -> bool:
    """Whether the value itself is a reference, or may be one."""
    marked = {"format": FORMAT}
    return place == marked or (
        set(place) <= set(_LISTS) and all(each == marked for word in place for each in place[word])
    )


def marked_places(schema: Any) -> Mapping[str, Any]:
    """`schema` without what holds no mark; gives the same references, and faster each time."""
    if type(schema) is not dict and not isinstance(schema, Mapping):
        return _NOTHING
    kept: dict[str, Any] = {word: marked_places(schema[word]) for word in _ONE if word in schema}
    for word in schema.keys() & _LISTS:
        kept[word] = [found for each in schema[word] if (found := marked_places(each))]
    prefix = [marked_places(each) for each in schema.get("prefixItems", ())]
    if kept.get("items") or any(prefix):
        kept["prefixItems"] = prefix
    for word in schema.keys() & _NAMED:
        named = {name: marked_places(each) for name, each in schema[word].items()}
        if not kept.get("additionalProperties"):  # which keys are additional depends on all names
            named = {name: each for name, each in named.items() if each}
        kept[word] = named
    if schema.get("format") == FORMAT:
        kept["format"] = FORMAT
    return {word: each for word, each in kept.items() if each}


def claims(
    schema: Mapping[str, Any], value: Any, keys: Keys = (), *, sure: bool = True
) -> Iterator[tuple[Keys, str]]:
    """The texts in `value`, with their places, that have to name a node by `schema`.

    A text below `anyOf`, `oneOf` or `if` has to where it has the form of a reference; elsewhere
    (and if `sure`) it has to in any case.
    """
    if not isinstance(schema, Mapping) or not schema:
        return
    if schema.get("format") in CLAIMS and isinstance(value, str) and (sure or Ref.matches(value)):
        yield keys, value
    for each in schema.get("allOf", ()):
        yield from claims(each, value, keys, sure=sure)
    for each in _branches(schema):
        yield from claims(each, value, keys, sure=False)
    for key, each, inner in parts_of(schema, value):
        yield from claims(each, inner, (*keys, key), sure=sure)


def _found(schema: Mapping[str, Any], value: Any) -> Iterator[str]:
    if not schema or (type(schema) is not dict and not isinstance(schema, Mapping)):
        return
    if schema.get("format") == FORMAT and isinstance(value, str) and Ref.matches(value):
        yield str(value)
    for each in schema.get("allOf", ()):
        yield from _found(each, value)
    for each in _branches(schema):
        yield from _found(each, value)
    for _, each, inner in parts_of(schema, value):
        yield from _found(each, inner)


def _branches(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas one or more of which a value may satisfy."""
    for word in ("anyOf", "oneOf"):
        yield from schema.get(word, ())
    for word in ("if", "then", "else"):
        if word in schema:
            yield schema[word]


def parts_of(schema: Mapping[str, Any], value: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """The parts of a value that `schema` speaks of: key or position, schema, value."""
    if type(value) is dict or isinstance(value, Mapping):
        yield from _in_mapping(schema, value)
    elif isinstance(value, list | tuple):
        yield from _in_list(schema, value)


def _in_mapping(
    schema: Mapping[str, Any], value: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    named = schema.get("properties", _NOTHING)
    for key in named:
        if key in value:
            yield key, named[key], value[key]
    patterns = schema.get("patternProperties", _NOTHING)
    others = schema.get("additionalProperties")
    if not patterns and not others:
        return
    taken = set(named)
    for pattern in patterns:
        for key in _matching(pattern, value):
            taken.add(key)
            yield key, patterns[pattern], value[key]
    if isinstance(others, Mapping):
        for key in value:
            if key not in taken:
                yield key, others, value[key]


def _matching(pattern: str, keys: Mapping[str, Any]) -> list[str]:
    # The engine that validates is the one that decides, so that the two never differ.
    from uwf_core.cas.schemas import pattern_schema

    compiled = pattern_schema(pattern)
    return [key for key in keys if compiled.accepts(key)]


def _in_list(
    schema: Mapping[str, Any], value: list[Any] | tuple[Any, ...]
) -> Iterator[tuple[int, Any, Any]]:
    first = schema.get("prefixItems", ())
    rest = schema.get("items")
    for index, item in enumerate(value):
        each = first[index] if index < len(first) else rest
        if each:
            yield index, each, item
