"""Read a workflow file without a check: its description and its reference.

Only a valid workflow is ever published. So if the store has this reference, a check would
find nothing new, and starting a thread from a file that did not change costs no check: neither
pydantic nor jsonschema is loaded.
"""

from collections.abc import Callable, Mapping
from typing import Any

from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, ref_of
from uwf_core.errors import DefinitionError, PayloadError, UsageError
from uwf_core.ids import Ref
from uwf_core.workflow.definition import WORKFLOW_TYPE
from uwf_core.workflow.file_name import expected_name
from uwf_core.workflow.load import load_file
from uwf_core.workflow.local_refs import inline_refs
from uwf_core.workflow.source_file import read_text
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlScalar, to_value
from uwf_core.workflow.yaml_source import compose_all

_LIMITS = dict.fromkeys(("maxSteps", "maxTokens", "maxCostUsd", "maxMinutes"))
_WORKFLOW: dict[str, Any] = {"version": 1, "description": "", "limits": {}}
_ROLE: dict[str, Any] = {
    "description": "",
    "capabilities": [],
    "procedure": "",
    "output": "",
    "timeout": None,
    "tools": None,
}
_EDGE = {"location": None}


class _Unclear(Exception):
    """Only a check can decide about this file."""


def reference_of(file: str) -> Ref | None:
    """The reference of the workflow in `file` if it is valid; None if it is certainly not.

    A reference alone proves nothing: ask the store whether it exists.

    Raises:
        UsageError: the file is missing or cannot be read.
        DefinitionError: it is too large, or not UTF-8.
    """
    loaded = load_file(file)
    if loaded.problems or not isinstance(loaded.node, YamlMapping):
        return None
    value = to_value(loaded.node)
    given = {key: each for key, each in value.items() if not key.startswith("x-")}
    try:
        workflow = _completed(given)
        if workflow["name"] != expected_name(file):
            return None
        return ref_of(WORKFLOW_TYPE, encode(workflow))
    except (_Unclear, PayloadError):
        return None


def description_of(file: str) -> str:
    """The description of the workflow in a file; empty if the file cannot be read.

    For listings: one unreadable file must not break them; `workflow check` reports its errors.
    """
    try:
        node = compose_all(read_text(file), file=file, include=True).node
    except (UsageError, DefinitionError):
        return ""
    said = node.values.get("description") if isinstance(node, YamlMapping) else None
    if not isinstance(said, YamlScalar) or said.tag is not None:
        return ""
    return said.value if isinstance(said.value, str) else ""


def _completed(given: Any) -> dict[str, Any]:
    workflow = _filled(given, _WORKFLOW, ("name", "roles", "graph"))
    limits = workflow["limits"] = _filled(workflow["limits"], _LIMITS, ())
    for number in (workflow["version"], limits["maxSteps"], limits["maxTokens"]):
        if isinstance(number, float):
            raise _Unclear  # an error, though its bytes would be those of a whole number
    workflow["roles"] = _each(workflow["roles"], _role)
    workflow["graph"] = _each(workflow["graph"], lambda edges: _each(edges, _edge))
    return workflow


def _role(given: Any) -> dict[str, Any]:
    role = _filled(given, _ROLE, ("goal", "frontmatter"))
    schema = inline_refs(role["frontmatter"])
    if schema.faults:
        raise _Unclear
    role["frontmatter"] = ref_of(META, encode(schema.schema))
    return role


def _edge(given: Any) -> dict[str, Any]:
    return _filled(given, _EDGE, ("role", "prompt"))


def _each(given: Any, complete: Callable[[Any], Any]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _Unclear
    return {name: complete(value) for name, value in given.items()}


def _filled(given: Any, defaults: Mapping[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    """`given` with its defaults: every required key, and no unknown one."""
    if not isinstance(given, dict) or not given.keys() <= {*defaults, *required}:
        raise _Unclear
    if any(key not in given for key in required):
        raise _Unclear
    said = {key: each for key, each in given.items() if each is not None or key in required}
    return {**defaults, **said}
