"""Read a workflow file without a check: its description and its reference.

Only a valid workflow is ever published. So if the store has this reference, a check would
find nothing new, and starting a thread from a file that did not change costs no check: jsonschema
is not loaded.
"""

from collections.abc import Mapping
from typing import Any

from uwf_core.cas.codec import decode, encode
from uwf_core.cas.hashing import META, ref_of, ref_of_text
from uwf_core.errors import DefinitionError, PayloadError, UsageError
from uwf_core.fields.records import write_record
from uwf_core.ids import Ref
from uwf_core.workflow.alternatives import inline_refs
from uwf_core.workflow.definition import WORKFLOW_TYPE, Workflow
from uwf_core.workflow.deliverable import deliverable_of, ways_of
from uwf_core.workflow.file_name import expected_name
from uwf_core.workflow.load import load_file
from uwf_core.workflow.source_file import read_text
from uwf_core.workflow.variants import keyword_faults
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlScalar
from uwf_core.workflow.yaml_shape import read_shape
from uwf_core.workflow.yaml_source import compose_all


def reference_of(file: str) -> Ref | None:
    """The reference of the workflow in `file` if it is valid; None if it is certainly not, or calls
    other workflows, names skills or has branches, which only a check resolves.

    A reference alone proves nothing: ask the store whether it exists.

    Raises:
        UsageError: the file is missing or cannot be read.
        DefinitionError: it is too large, or not UTF-8.
    """
    loaded = load_file(file)
    if loaded.problems or not isinstance(loaded.node, YamlMapping):
        return None
    workflow, problems = read_shape(Workflow, loaded.node, extensions=True)
    if problems or workflow.branch or workflow.name != expected_name(file):
        return None
    if any(edge.is_fan_out for edges in workflow.graph.values() for edge in edges.values()):
        return None
    payload = write_record(workflow)
    if payload["input"] is not None:
        schema = inline_refs(payload["input"])
        if schema.faults:
            return None
        payload["input"] = _reference(META, schema.schema)
    for name, role in payload["roles"].items():
        if not _complete(role, ways_of(workflow.graph.get(name, {}), name)):
            return None
    return _reference(WORKFLOW_TYPE, payload)


def _complete(role: dict[str, Any], ways: Mapping[str, str]) -> bool:
    """Give a role what publishing adds to it; whether it can be known without a check."""
    if role["workflow"] is not None or role["frontmatter"] is None or role["skills"]:
        return False
    schema = inline_refs(role["frontmatter"])
    if schema.faults or any(keyword_faults(role["frontmatter"])):
        return False
    role["frontmatter"] = _reference(META, schema.schema)
    if role["program"] is None:
        try:
            stored = decode(encode(schema.schema))
            role["deliverable"] = write_record(deliverable_of(stored, ways, ref_of_text))
        except (DefinitionError, PayloadError):
            return False
    return True


def _reference(type_: Ref, payload: Any) -> Ref | None:
    try:
        return ref_of(type_, encode(payload))
    except PayloadError:
        return None


def description_of(file: str) -> str:
    """The description of the workflow in a file; empty if the file cannot be read.

    For listings: one unreadable file must not break them; `workflow check` reports its errors.
    """
    try:
        node = compose_all(read_text(file), file=file, include=True).node
    except (UsageError, DefinitionError):
        return ""
    about = node.values.get("description") if isinstance(node, YamlMapping) else None
    if not isinstance(about, YamlScalar) or about.tag is not None:
        return ""
    return about.value if isinstance(about.value, str) else ""
