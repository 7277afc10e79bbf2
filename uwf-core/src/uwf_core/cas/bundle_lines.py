"""The variables of a bundle, one JSON document a line: `vars.jsonl` of ocas 0.4."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from uwf_core.api.store import Variable
from uwf_core.cas.codec import SAFE_INTEGER
from uwf_core.cas.hashing import variable_checksum
from uwf_core.cas.variables import check_form
from uwf_core.errors import BundleError, PayloadError

_KEYS = ("name", "schema", "value", "created", "updated", "tags", "labels")


def to_bytes(variables: Iterable[Variable], type_of: Callable[[str], str]) -> bytes:
    """The file's content; `type_of` gives the type of a node."""
    lines = []
    for variable in sorted(variables):
        document = {
            "name": variable.name,
            "schema": type_of(variable.value),
            "value": variable.value,
            "created": variable.created_ms,
            "updated": variable.updated_ms,
            "tags": dict(sorted(variable.tags.items())),
            "labels": [],
        }
        lines.append(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n")
    return "".join(lines).encode("utf-8", "surrogatepass")


def from_bytes(content: bytes, type_of: Callable[[str], str | None]) -> list[Variable]:
    """The variables, sorted by name; `type_of` gives None for an unknown node.

    Raises:
        BundleError: they are invalid, or refer to a node that is not in the bundle.
    """
    found: list[Variable] = []
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        variable = _variable(line, type_of, f"line {number} of vars.jsonl")
        if found and found[-1].name >= variable.name:
            raise BundleError("the variables of the bundle are not sorted, or have a duplicate")
        found.append(variable)
    if content and not content.endswith(b"\n"):
        raise BundleError("vars.jsonl is truncated")
    return found


def _variable(line: bytes, type_of: Callable[[str], str | None], where: str) -> Variable:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"invalid JSON: {error}", where=where) from error
    if not isinstance(document, dict) or tuple(document) != _KEYS:
        raise BundleError(f"it must have the keys {', '.join(_KEYS)}, in this order", where=where)
    name, value, tags = document["name"], document["value"], document["tags"]
    created, updated = document["created"], document["updated"]
    if not (_is_time(created) and _is_time(updated)):
        raise BundleError("its times are invalid", where=where)
    if not isinstance(tags, dict) or document["labels"] != []:
        raise BundleError("its tags are not a mapping, or it has labels", where=where)
    try:
        check_form(name, value, tags)
    except PayloadError as error:
        raise BundleError(error.message, where=where) from error
    if type_of(value) is None or document["schema"] != type_of(value):
        raise BundleError(f"{name} refers to a node that is not in the bundle", where=where)
    checksum = variable_checksum(name, value, tags, created, updated)
    return Variable(name, value, tags, created, updated, checksum)


def _is_time(value: Any) -> bool:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return is_number and 0 <= value <= SAFE_INTEGER
