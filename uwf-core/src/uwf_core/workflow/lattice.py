"""The lattice of types: a JSON Schema as a union of flat schemas, its types, and what is at a key.

A stored schema is self-contained. `oneOf` and `anyOf` are a union of at most 64. Nothing here
expects a schema to be valid: a value that is not a mapping or list where one belongs counts as
absent.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Literal

MAX_ALTERNATIVES = 64
UNIONS = ("oneOf", "anyOf")
_UNREAD = ("allOf", "if", "then", "else", "dependentSchemas")
"""Keywords that are validated and not read: below them every field may be present."""


def alternatives(schema: Any) -> tuple[dict[str, Any], ...]:
    """The alternatives of any schema, each flat; none if there are too many. Each allows at least
    what `schema` allows of it.
    """
    found = tuple(islice(_each(schema), MAX_ALTERNATIVES + 1))
    return found if len(found) <= MAX_ALTERNATIVES else ()


def _each(schema: Any) -> Iterator[dict[str, Any]]:
    word = union_of(schema)
    if word is None:
        yield as_mapping(schema)
        return
    base = {key: each for key, each in schema.items() if key != word}
    for choice in schema[word]:
        for one in _each(base):
            for other in _each(choice):
                yield merged(one, other)


def union_of(schema: Any) -> str | None:
    """The keyword that lists the alternatives of a schema; None if it has none."""
    mapping = as_mapping(schema)
    return next((word for word in UNIONS if as_list(mapping.get(word))), None)


def merged(*schemas: dict[str, Any]) -> dict[str, Any]:
    """Schemas that apply together as one, which allows at least what they allow."""
    found = {key: each for schema in schemas for key, each in schema.items()}
    if "properties" in found:
        fields = map(properties_of, schemas)
        found["properties"] = {name: each for some in fields for name, each in some.items()}
    if "required" in found:
        found["required"] = [*dict.fromkeys(name for each in schemas for name in required_of(each))]
    return found


def properties_of(schema: dict[str, Any]) -> dict[str, Any]:
    """The properties that a schema declares."""
    return as_mapping(schema.get("properties"))


def required_of(schema: dict[str, Any]) -> list[str]:
    """The properties that a schema requires."""
    return [name for name in as_list(schema.get("required")) if isinstance(name, str)]


def presence(schema: dict[str, Any], name: str) -> Literal["always", "perhaps", "never", "unknown"]:
    """Whether a value has a property; `unknown` where it may have some that nothing describes."""
    if name in as_list(schema.get("required")):
        return "always"
    declared = properties_of(schema)
    if name in declared:
        return "perhaps"
    is_closed = schema.get("additionalProperties") is False or (declared and not is_open(schema))
    return "never" if is_closed else "unknown"


def is_open(schema: dict[str, Any]) -> bool:
    """Whether a value may have properties that the schema does not name."""
    more = schema.get("additionalProperties", False)
    explicit = bool(schema.get("patternProperties")) or more is True or isinstance(more, dict)
    return explicit or any(word in schema for word in _UNREAD)


def as_listed(schema: Any) -> Any:
    """A schema whose fields are in the order of `required`, and then by name. A stored schema keeps
    the lists of its author, and sorts the mappings.
    """
    if isinstance(schema, list):
        return [as_listed(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {key: as_listed(each) for key, each in schema.items()}
    fields = found.get("properties")
    if isinstance(fields, dict):
        listed = (name for name in as_list(found.get("required")) if isinstance(name, str))
        names = dict.fromkeys((*listed, *sorted(fields)))
        found["properties"] = {name: fields[name] for name in names if name in fields}
    return found


def as_list(value: Any) -> list[Any]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_mapping(value: Any) -> dict[str, Any]:
    """`value` if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


# -- types ---------------------------------------------------------------------------------------

_ALL = frozenset(("string", "integer", "number", "boolean", "null", "array", "object"))


def at(schema: Any, key: str | int) -> Any:
    """The schema of the value at a key of a mapping or a position of a list."""
    if not isinstance(schema, Mapping):
        return True
    parts = [_own(schema, key)]
    parts += [at(each, key) for each in schema.get("allOf", ())]
    parts += [
        {"anyOf": [at(each, key) for each in schema[word]]} for word in UNIONS if schema.get(word)
    ]
    said = [part for part in parts if part is not True]
    return _all_of(said) if said else True


def types_of(schema: Any) -> frozenset[str]:
    """The JSON types that `schema` allows; whole numbers are only `integer`."""
    if schema is False:
        return frozenset()
    if not isinstance(schema, Mapping):
        return _ALL
    allowed = _named_types(schema)
    if "const" in schema:
        allowed &= {type_of(schema["const"])}
    if "enum" in schema and isinstance(schema["enum"], list):
        allowed &= {type_of(each) for each in schema["enum"]}
    if "allOf" in schema and isinstance(schema["allOf"], list):
        for each in schema["allOf"]:
            allowed &= types_of(each)
    for word in UNIONS:
        if word in schema and schema[word] and isinstance(schema[word], list):
            allowed &= frozenset().union(*(types_of(each) for each in schema[word]))
    return allowed


def texts_of(schema: Any) -> frozenset[str] | None:
    """The texts that `schema` names with `const` or `enum`; None if it allows others as well."""
    if not isinstance(schema, Mapping):
        return frozenset() if schema is False else None
    if "string" not in _named_types(schema):
        return frozenset()
    parts: list[frozenset[str] | None] = [
        frozenset(each for each in listed if isinstance(each, str))
        for listed in ([schema["const"]] if "const" in schema else None, schema.get("enum"))
        if isinstance(listed, list)
    ]
    parts += map(texts_of, schema.get("allOf", ()))
    for word in UNIONS:
        if schema.get(word):
            choices = [texts_of(each) for each in schema[word]]
            known = [each for each in choices if each is not None]
            parts.append(frozenset().union(*known) if len(known) == len(choices) else None)
    named = [each for each in parts if each is not None]
    return frozenset.intersection(*named) if named else None


def _own(schema: Mapping[str, Any], key: str | int) -> Any:
    if isinstance(key, int):
        fixed = schema.get("prefixItems", ())
        return fixed[key] if key < len(fixed) else schema.get("items", True)
    properties = schema.get("properties", {})
    named = [properties[key]] if key in properties else []
    named += [
        inner
        for pattern, inner in schema.get("patternProperties", {}).items()
        if _matches(pattern, key)
    ]
    return _all_of(named) if named else schema.get("additionalProperties", True)


def _all_of(schemas: list[Any]) -> Any:
    return schemas[0] if len(schemas) == 1 else {"allOf": schemas}


def _matches(pattern: str, key: str) -> bool:
    """Whether the pattern matches `key`, in linear time, as in the validation."""
    from uwf_core.cas.schemas import pattern_schema

    return not pattern_schema(pattern).violations(key)


def _named_types(schema: Mapping[str, Any]) -> frozenset[str]:
    if "type" not in schema:
        return _ALL
    named = schema["type"]
    if isinstance(named, str):
        return frozenset(("number", "integer")) if named == "number" else frozenset((named,))
    listed = named if isinstance(named, list) else []  # checks meet schemas that are not valid
    types = frozenset(each for each in listed if isinstance(each, str))
    return types | {"integer"} if "number" in types else types


def type_of(value: Any) -> str:
    """The JSON type of a value; a whole number is `integer`, however it is written."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "integer" if value == value // 1 else "number"
    if value is None:
        return "null"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"
