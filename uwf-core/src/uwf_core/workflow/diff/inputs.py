"""Changes in the typed input of a workflow, field by field."""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.workflow.diff.change import WorkflowChange
from uwf_core.workflow.diff.results import type_text

Schema = Mapping[str, Any]


def input_changes(a: Schema | None, b: Schema | None) -> Iterator[WorkflowChange]:
    """Every change of the input. One that can reject an old input breaks forks, whose thread keeps
    its input, and callers, which give what the old version asked for.
    """
    old, new = a or {}, b or {}
    before, now = old.get("properties", {}), new.get("properties", {})
    for name in dict.fromkeys((*before, *now)):
        values = _field(old, name), _field(new, name)
        if values[0] != values[1]:
            yield _change(f"input.{name}", *values, _wrong(name, old, new))
    if _beside_fields(old) != _beside_fields(new):
        yield _change("input", a, b, "an input of the old schema can be rejected")


def _change(place: str, a: Any, b: Any, wrong: str | None) -> WorkflowChange:
    return WorkflowChange("input-changed", place, a, b, forks=wrong, callers=wrong)


def _field(schema: Schema, name: str) -> dict[str, Any] | None:
    """A field with whether it is required; None if the schema does not declare it."""
    if name not in schema.get("properties", {}):
        return None
    return {"schema": schema["properties"][name], "required": name in schema.get("required", ())}


def _wrong(name: str, old: Schema, new: Schema) -> str | None:
    """Why a field of an old input, or its absence, can be rejected now."""
    before, now = _field(old, name), _field(new, name)
    if now is None:
        return f"an input with {name} is rejected: it is not a field any more"
    if now["required"] and (before is None or not before["required"]):
        return f"an input without {name} is rejected"
    if before is not None and type_text(before["schema"]) != type_text(now["schema"]):
        return f"an input whose {name} has the old type can be rejected"
    return None


def _beside_fields(schema: Schema) -> str:
    """What restricts the input and is not a field."""
    ignored = ("properties", "required", "type")  # it is an object in any case
    return type_text({key: each for key, each in schema.items() if key not in ignored})
