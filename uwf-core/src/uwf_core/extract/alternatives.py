"""Report the errors of a value that matches no alternative by the nearest alternative.

An agent cannot correct "Not valid under any of the schemas listed".
"""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.cas.schemas import Violation, violations
from uwf_core.extract.source_text import at, type_of, types_of
from uwf_core.workflow.variants import STATUS

_NONE_FITS = ("listed in the 'anyOf' keyword", "listed in the 'oneOf' keyword")


def explained_violations(schema: Mapping[str, Any], value: Any) -> list[Violation]:
    """Like `cas.schemas.violations`; if no alternative matches, the errors of the nearest one."""
    return [
        told
        for violation in violations(schema, value)
        for told in _explained(schema, value, violation)
    ]


def _explained(schema: Mapping[str, Any], value: Any, violation: Violation) -> list[Violation]:
    if not violation.message.endswith(_NONE_FITS) or " more than one " in violation.message:
        return [violation]
    inner_schema, inner_value = _located(schema, value, violation.path)
    told = [
        _below(violation.path, each)
        for choice in _choices(inner_schema)
        for each in _faults_of_nearest(choice, inner_value)
    ]
    return told or [violation]


def _located(schema: Any, value: Any, path: str) -> tuple[Any, Any]:
    """The part of schema and value at `path`; a key may contain dots."""
    while path:
        keys = range(len(value)) if isinstance(value, list) else value
        fitting = [key for key in keys if f"{path}.".startswith(f"{key}.")]
        key = max(fitting, key=lambda each: len(str(each)))
        schema, value = at(schema, key), value[key]
        path = path[len(str(key)) + 1 :]
    return schema, value


def _choices(schema: Any) -> Iterator[list[Any]]:
    """Every list of alternatives that applies to a value of `schema`."""
    if isinstance(schema, Mapping):
        for word in ("anyOf", "oneOf"):
            if schema.get(word):
                yield schema[word]
        for each in schema.get("allOf", ()):
            yield from _choices(each)


def _faults_of_nearest(choice: list[Any], value: Any) -> list[Violation]:
    """The errors of the alternative nearest to `value`; none if one matches."""
    tried = [
        explained_violations(each, value) if isinstance(each, Mapping) else [] for each in choice
    ]
    if not all(tried):
        return []
    if not isinstance(value, (dict, list)) and all(len(faults) == 1 for faults in tried):
        messages = dict.fromkeys(faults[0].message for faults in tried)
        return [Violation("", "; or ".join(messages))]
    nearest = min(range(len(choice)), key=lambda each: _distance(choice[each], tried[each], value))
    return tried[nearest]


def _distance(schema: Any, faults: list[Violation], value: Any) -> tuple[bool, int, int]:
    """The distance of `value` from an alternative: another type, unknown keys, errors."""
    is_other = type_of(value) not in types_of(schema) or any(f.path == STATUS for f in faults)
    keys = value if isinstance(value, dict) else ()
    return is_other, sum(at(schema, key) is True for key in keys), len(faults)


def _below(path: str, violation: Violation) -> Violation:
    """`violation` with its place below `path`."""
    return violation._replace(path=".".join(part for part in (path, violation.path) if part))
