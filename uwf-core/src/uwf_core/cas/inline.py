"""Schemas with local `$ref`s as schemas that can be types: each reference is replaced by what it
points to. Nothing here expects a schema to be valid: a value that is not a mapping or list where
one belongs counts as absent.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from uwf_core.cas.codec import Keys
from uwf_core.cas.schemas import subschemas

MAX_NODES = 10_000
"""The limit of schemas, and of entries of their lists and mappings, once inlined."""
MAX_DEPTH = 60
"""Levels of mappings and lists of an inlined schema; a stored payload may have 64."""
DEFINITIONS = ("$defs", "definitions")
ANNOTATIONS = frozenset(("title", "description", "default", "examples", "deprecated", "$comment"))
"""Keywords that only describe a value."""


class RefFault(NamedTuple):
    """A `$ref` that cannot be inlined; `path` leads to the schema that holds it."""

    path: Keys
    code: str
    message: str
    hint: str


class Inlined(NamedTuple):
    """`schema` without `$ref` and definitions; `faults` lists what could not be resolved."""

    schema: Any
    faults: tuple[RefFault, ...]


def inline_refs(schema: Any) -> Inlined:
    """`schema` with every local `$ref` replaced by what it points to.

    Of words next to a `$ref`, those that only describe win over the target's; with others, the
    target joins their `allOf`.
    """
    inliner = _Inliner(schema)
    return Inlined(inliner.inline(schema, (), (), 0), tuple(inliner.faults))


def written_path(schema: Any, path: Keys) -> Keys:
    """The path in `schema`, as written, of a `path` within the inlined schema."""
    at: Any = schema
    written: Keys = ()
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


def _follow_pure(root: Any, at: Any, written: Keys) -> tuple[Any, Keys]:
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


def pointer_path(ref: str) -> Keys | None:
    """The JSON Pointer of a local reference (`#/$defs/item`) as a path, or None."""
    if ref == "#":
        return ()
    if not ref.startswith("#/"):
        return None
    return tuple(
        part.replace("%25", "%").replace("%24", "$").replace("~1", "/").replace("~0", "~")
        for part in ref[2:].split("/")
    )


def look_up(schema: Any, path: Keys) -> Any:
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

    def inline(self, schema: Any, path: Keys, active: tuple[str, ...], depth: int) -> Any:
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

    def _is_too_much(self, path: Keys, depth: int, size: int) -> bool:
        self.nodes += 1 + size
        if self.nodes > MAX_NODES:
            self._once(path, "too-many-nodes", f"more than {MAX_NODES:,} values once inlined")
        if depth > MAX_DEPTH:
            self._once(path, "too-deep", f"nested deeper than {MAX_DEPTH} levels once inlined")
        return self.nodes > MAX_NODES or depth > MAX_DEPTH

    def _target(self, ref: Any, path: Keys, active: tuple[str, ...]) -> Keys | None:
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

    def _fault(self, path: Keys, code: str, message: str, hint: str = "") -> None:
        self.faults.append(RefFault(path, code, message, hint))

    def _once(self, path: Keys, code: str, message: str) -> None:
        if all(fault.code != code for fault in self.faults):
            self._fault(path, code, message)


def _join(beside: dict[str, Any], inlined: Any) -> Any:
    """The keywords next to a `$ref` and its target as one schema."""
    if isinstance(inlined, dict) and beside.keys() <= ANNOTATIONS:
        return {**inlined, **beside}
    others = beside.get("allOf")
    return {**beside, "allOf": [*(others if isinstance(others, list) else ()), inlined]}
