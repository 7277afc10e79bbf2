"""JSON text to the same nodes with positions as YAML: JSON's own rules, YAML's positions."""

import json
import re
from typing import Any

from uwf_core.api.fields import doubled, integer
from uwf_core.workflow.problem import Place, error_at
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence, to_value
from uwf_core.workflow.yaml_source import MAX_DEPTH, Composed, compose_all

_SURROGATE = re.compile("[\ud800-\udfff]")


class _Refused(ValueError):
    """JSON that the decoder accepts and uwf rejects."""


def compose_json(text: str, *, file: str) -> Composed:
    """The nodes of a JSON document, and at most one error."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_int=integer,
        )
        _check(value, 0)
    except json.JSONDecodeError as error:
        place = Place(file, error.lineno, error.colno)
        return Composed(None, (error_at(place, "json-syntax", f"invalid JSON: {error.msg}"),))
    except RecursionError:
        return _fault(file, f"nested deeper than {MAX_DEPTH} levels")
    except ValueError as error:
        return _fault(file, str(error))
    positioned = compose_all(text, file=file).node
    if positioned is not None and _same(to_value(positioned), value):
        return Composed(positioned, ())
    return Composed(_build(value, Place(file, 1, 1)), ())


def _fault(file: str, message: str) -> Composed:
    problem = error_at(Place(file, 1, 1), "json-syntax", f"invalid JSON: {message}")
    return Composed(None, (problem,))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = doubled(pairs)
    if twice is not None:
        raise _Refused(f"duplicate key {twice!r}")
    return dict(pairs)


def _refuse_constant(name: str) -> Any:
    raise _Refused(f"{name} is not a JSON value")


def _check(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _Refused(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str) and _SURROGATE.search(value):
        raise _Refused("a lone surrogate is not a character")
    if isinstance(value, dict):
        for key, inner in value.items():
            _check(key, depth)
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one) == json.dumps(other)


def _build(value: Any, place: Place) -> YamlNode:
    """Nodes without positions, for JSON that YAML reads differently."""
    if isinstance(value, dict):
        keys = {key: YamlScalar(place, key) for key in value}
        return YamlMapping(place, keys, {key: _build(each, place) for key, each in value.items()})
    if isinstance(value, list):
        return YamlSequence(place, [_build(item, place) for item in value])
    scalar = YamlScalar(place, value if isinstance(value, str) else json.dumps(value))
    scalar.value = value
    return scalar
