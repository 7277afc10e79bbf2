"""The forms of a task.yaml of the original uwf: read as those of this one, with the same meaning.

`limits.timeoutMinutes` is `maxMinutes`; `builtin: true` selects the built-in judge by the judge's
`name`, and counts only with a weight; `schema` can be the path of a JSON file.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uwf_core.api import PathOutside, read_regular
from uwf_core.definitions import (
    Place,
    Problem,
    YamlMapping,
    YamlNode,
    YamlScalar,
    YamlSequence,
    error_at,
)

_LARGEST = 1_000_000


def with_own_forms(root: YamlMapping, folder: Path) -> tuple[YamlMapping, list[Problem]]:
    """A task with the forms of this uwf, and what is wrong with files of schemas in `folder`."""
    problems = list[Problem]()
    values = dict(root.values)
    limits, judges = values.get("limits"), values.get("judges")
    if isinstance(limits, YamlMapping) and "maxMinutes" not in limits.values:
        values["limits"] = _renamed(limits, "timeoutMinutes", "maxMinutes")
    if isinstance(judges, YamlSequence):
        items = [_judge(each, folder, problems) for each in judges.items]
        values["judges"] = YamlSequence(judges.place, items)
    return YamlMapping(root.place, root.keys, values), problems


def _renamed(node: YamlMapping, old: str, new: str) -> YamlMapping:
    if old not in node.values:
        return node
    names = {new if key == old else key: key for key in node.values}
    return YamlMapping(
        node.place,
        {name: node.keys[key] for name, key in names.items()},
        {name: node.values[key] for name, key in names.items()},
    )


def _judge(node: YamlNode, folder: Path, problems: list[Problem]) -> YamlNode:
    if not isinstance(node, YamlMapping):
        return node
    keys, values = dict(node.keys), dict(node.values)
    builtin, schema = values.get("builtin"), values.get("schema")
    if isinstance(builtin, YamlScalar) and builtin.value is True and "name" in values:
        values["builtin"] = values["name"]
        if "weight" not in values:
            keys["weight"] = keys["builtin"]
            values["weight"] = YamlScalar(builtin.place, "0", "")
    elif isinstance(builtin, YamlScalar) and builtin.value is False:
        del keys["builtin"], values["builtin"]
    if isinstance(schema, YamlScalar) and isinstance(schema.value, str):
        try:
            values["schema"] = _node_of(_schema_in(folder, schema.value), schema.place)
        except ValueError as error:
            problems.append(error_at(schema.place, "bad-schema", str(error), _SCHEMA_HINT))
            del keys["schema"], values["schema"]
    return YamlMapping(node.place, keys, values)


_SCHEMA_HINT = "write the schema here, or the path of a JSON file beside task.yaml"


def _schema_in(folder: Path, name: str) -> Mapping[str, Any]:
    """The schema in a file of the task.

    Raises:
        ValueError: it is missing, outside the task, or not a JSON object.
    """
    try:
        found = json.loads(read_regular(name, _LARGEST, within=str(folder)))
    except PathOutside as error:
        raise ValueError(f"the schema {name!r} points outside the task") from error
    except OSError as error:
        raise ValueError(f"cannot read the schema {name!r}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the schema {name!r} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"the schema {name!r} is not a JSON object")
    return found


def _node_of(value: Any, place: Place) -> YamlNode:
    """A JSON value as nodes, all at one place."""
    if isinstance(value, dict):
        keys = {key: YamlScalar(place, key) for key in value}
        return YamlMapping(place, keys, {key: _node_of(each, place) for key, each in value.items()})
    if isinstance(value, list):
        return YamlSequence(place, [_node_of(each, place) for each in value])
    scalar = YamlScalar(place, value if isinstance(value, str) else json.dumps(value))
    scalar.value = value
    return scalar
