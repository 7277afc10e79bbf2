"""The alternatives of a JSON Schema, each made flat, after its local `$ref`s are inlined.

A stored schema is self-contained. `oneOf` and `anyOf` are a union of at most 64. Nothing here
expects a schema to be valid: a value that is not a mapping or list where one belongs counts as
absent.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Literal, NamedTuple

Path = tuple[str | int, ...]

MAX_NODES = 10_000
"""The limit of schemas, and of entries of their lists and mappings, once inlined."""
MAX_DEPTH = 60
"""Levels of mappings and lists of an inlined schema; a stored payload may have 64."""
DEFINITIONS = ("$defs", "definitions")
ANNOTATIONS = frozenset(("title", "description", "default", "examples", "deprecated", "$comment"))
"""Keywords that only describe a value."""
_MAPS = ("properties", "patternProperties", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = (
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
    "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip


class RefFault(NamedTuple):
    """A `$ref` that cannot be inlined; `path` leads to the schema that holds it."""

    path: Path
    code: str
    message: str
    hint: str


class Inlined(NamedTuple):
    """`schema` without `$ref` and definitions; `faults` lists what could not be resolved."""

    schema: Any
    faults: tuple[RefFault, ...]


def subschemas(schema: Any) -> Iterator[tuple[Path, Any]]:
    """The direct sub-schemas of `schema` with their paths, definitions not among them."""
    if not isinstance(schema, dict):
        return
    for key in _MAPS:
        if isinstance(schema.get(key), dict):
            for name, inner in schema[key].items():
                yield (key, name), inner
    for key in _LISTS:
        if isinstance(schema.get(key), list):
            for index, inner in enumerate(schema[key]):
                yield (key, index), inner
    for key in _SINGLE:
        if isinstance(schema.get(key), dict):
            yield (key,), schema[key]


def inline_refs(schema: Any) -> Inlined:
    """`schema` with every local `$ref` replaced by what it points to.

    Of words next to a `$ref`, those that only describe win over the target's; with others, the
    target joins their `allOf`.
    """
    inliner = _Inliner(schema)
    return Inlined(inliner.inline(schema, (), (), 0), tuple(inliner.faults))


def written_path(schema: Any, path: Path) -> Path:
    """The path in `schema`, as written, of a `path` within the inlined schema."""
    at: Any = schema
    written: Path = ()
    steps = list(path)
    while steps:
        at, written = _follow_pure(schema, at, written)
        if isinstance(at, dict) and isinstance(at.get("$ref"), str) and steps[0] == "allOf":
            beside = at["allOf"] if isinstance(at.get("allOf"), list) else []
            if len(steps) > 1 and steps[1] == len(beside):
                written = pointer_path(at["$ref"]) or ()
                at = look_up(schema, written)
                steps = steps[2:]
                continue
        step = steps[0]
        if isinstance(at, dict) and step not in at and isinstance(at.get("$ref"), str):
            written = pointer_path(at["$ref"]) or ()
            at = look_up(schema, written)
            if at is None:
                return written
            continue
        del steps[0]
        inside = (isinstance(at, dict) and step in at) or (
            isinstance(at, list) and isinstance(step, int) and step < len(at)
        )
        if not inside:
            return written
        at, written = at[step], (*written, step)
    return _follow_pure(schema, at, written)[1] if path else ()


def _follow_pure(root: Any, at: Any, written: Path) -> tuple[Any, Path]:
    """Follow schemas that are only a `$ref` to the first that is more."""
    seen = set()
    while isinstance(at, dict) and _is_pure(at) and at["$ref"] not in seen:
        seen.add(at["$ref"])
        target = pointer_path(at["$ref"])
        if target is None or look_up(root, target) is None:
            break
        at, written = look_up(root, target), target
    return at, written


def _is_pure(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema.get("$ref"), str) and all(
        key == "$ref" or key in DEFINITIONS for key in schema
    )


def pointer_path(ref: str) -> Path | None:
    """The JSON Pointer of a local reference (`#/$defs/item`) as a path, or None."""
    if ref == "#":
        return ()
    if not ref.startswith("#/"):
        return None
    return tuple(
        part.replace("%25", "%").replace("%24", "$").replace("~1", "/").replace("~0", "~")
        for part in ref[2:].split("/")
    )


def look_up(schema: Any, path: Path) -> Any:
    """The value at `path`, or None; list positions may be text."""
    at = schema
    for step in path:
        if isinstance(at, dict):
            at = at.get(step)
        elif isinstance(at, list) and str(step).isdecimal() and int(step) < len(at):
            at = at[int(step)]
        else:
            return None
    return at


class _Inliner:
    """Walks a schema; `active` is the current chain of references."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.faults: list[RefFault] = []
        self.nodes = 0

    def inline(self, schema: Any, path: Path, active: tuple[str, ...], depth: int) -> Any:
        if not isinstance(schema, dict):
            return schema
        size = sum(len(value) for value in schema.values() if isinstance(value, (dict, list)))
        if self._is_too_much(path, depth, size):
            return {}
        done = {
            key: value.copy() if isinstance(value, (dict, list)) else value
            for key, value in schema.items()
            if key not in DEFINITIONS and key != "$ref"
        }
        for where, inner in subschemas(done):
            holder: Any = done if len(where) == 1 else done[str(where[0])]
            level = depth + len(where)
            holder[where[-1]] = self.inline(inner, (*path, *where), active, level)
        if "$ref" not in schema:
            return done
        target = self._target(schema["$ref"], path, active)
        if target is None:
            return done
        level = depth + (2 if done else 0)
        inlined = self.inline(look_up(self.root, target), target, (*active, schema["$ref"]), level)
        return _join(done, inlined)

    def _is_too_much(self, path: Path, depth: int, size: int) -> bool:
        self.nodes += 1 + size
        if self.nodes > MAX_NODES:
            self._once(path, "too-many-nodes", f"more than {MAX_NODES:,} values once inlined")
        if depth > MAX_DEPTH:
            self._once(path, "too-deep", f"nested deeper than {MAX_DEPTH} levels once inlined")
        return self.nodes > MAX_NODES or depth > MAX_DEPTH

    def _target(self, ref: Any, path: Path, active: tuple[str, ...]) -> Path | None:
        """The target of `ref`, or None and an error if it cannot be followed."""
        target = pointer_path(ref) if isinstance(ref, str) else None
        if isinstance(ref, str) and not ref.startswith("#"):
            self._fault(
                path,
                "remote-ref",
                f"the $ref {ref!r} is outside this schema; schemas are never fetched",
                "copy that schema into $defs, or use !include",
            )
        elif target is None or not isinstance(look_up(self.root, target), (dict, bool)):
            self._fault(
                path,
                "bad-ref",
                f"the $ref {ref!r} does not point to a schema",
                "write a local reference as `#/$defs/name`",
            )
        elif ref in active or target == path[: len(target)] or len(active) > MAX_DEPTH:
            self._fault(
                path,
                "recursive-ref",
                f"the $ref {ref!r} is circular",
                "write out each level that is needed",
            )
        else:
            return target
        return None

    def _fault(self, path: Path, code: str, message: str, hint: str = "") -> None:
        self.faults.append(RefFault(path, code, message, hint))

    def _once(self, path: Path, code: str, message: str) -> None:
        if all(fault.code != code for fault in self.faults):
            self._fault(path, code, message)


def _join(beside: dict[str, Any], inlined: Any) -> Any:
    """The keywords next to a `$ref` and its target as one schema."""
    if isinstance(inlined, dict) and beside.keys() <= ANNOTATIONS:
        return {**inlined, **beside}
    others = beside.get("allOf")
    return {**beside, "allOf": [*(others if isinstance(others, list) else ()), inlined]}


# -- alternatives ----------------------------------------------------------------------------------

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
