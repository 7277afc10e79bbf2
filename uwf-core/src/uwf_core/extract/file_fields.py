"""The paths in an output that name delivered files: texts where the schema says `format: file`."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.cas.codec import Keys
from uwf_core.cas.hashing import FILE_FORMAT
from uwf_core.cas.references import parts_of
from uwf_core.cas.schemas import violations
from uwf_core.workflow.definition import SUSPEND
from uwf_core.workflow.variants import STATUS


def has_file_fields(schema: Any) -> bool:
    """Whether a schema may have such fields."""
    return f'"format": "{FILE_FORMAT}"' in json.dumps(schema)


FileField = tuple[Keys, str]
"""A field that names a file: its place in the output, and the path as the role wrote it."""


def file_fields(schema: Mapping[str, Any], output: Mapping[str, Any]) -> list[FileField]:
    """The fields of a valid output that name files, each place once; none of `$SUSPEND`.

    Of `oneOf` and `anyOf` the alternatives count that the value satisfies; of `if`, what follows
    from it.
    """
    if output.get(STATUS) == SUSPEND:
        return []
    return list(dict.fromkeys(_found(schema, output, ())))


def _found(schema: Any, value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    if not isinstance(schema, Mapping) or not schema:
        return
    if schema.get("format") == FILE_FORMAT and isinstance(value, str):
        yield keys, value
    for each in _applied(schema, value):
        yield from _found(each, value, keys)
    for key, each, inner in parts_of(schema, value):
        yield from _found(each, inner, (*keys, key))


def _applied(schema: Mapping[str, Any], value: Any) -> Iterator[Any]:
    """The schemas that apply to the whole value, besides `schema` itself."""
    yield from schema.get("allOf", ())
    for word in ("anyOf", "oneOf"):
        for each in schema.get(word, ()):
            if has_file_fields(each) and _accepts(each, value):
                yield each
    if "if" in schema:
        yield schema.get("then" if _accepts(schema["if"], value) else "else", {})


def _accepts(schema: Mapping[str, Any], value: Any) -> bool:
    return not violations(schema, value, decoded=True)
