"""The input of a call: reduced to what its schema declares, and compared with outputs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uwf_core.cas.schemas import violations
from uwf_core.workflow.fields import input_faults, output_schema, reduced_input
from uwf_core.workflow.variants import Variant

TYPES = {
    "string": st.text(max_size=3),
    "integer": st.integers(-3, 3),
    "number": st.floats(-3, 3, allow_nan=False),
    "boolean": st.booleans(),
    "null": st.none(),
}
NAMES = st.sampled_from(("a", "b", "c"))


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        ({"properties": {"a": {}}}, {"a": 1}),
        ({"properties": {"a": {}}, "additionalProperties": True}, {"a": 1, "b": 2}),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}),
        ({"properties": {"$status": {}}}, {"$status": "done"}),
        ({"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, {"a": 1, "b": 2}),
        ({"type": "object"}, {}),
    ],
)
def test_a_called_workflow_gets_the_fields_that_it_declares(
    schema: dict[str, Any], kept: dict[str, Any]
) -> None:
    assert reduced_input({"$status": "done", "a": 1, "b": 2}, schema) == kept


def test_what_may_not_fit_is_a_doubt() -> None:
    wanted = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
    opened = Variant("done", {}, {}, frozenset(("$status",)), True)
    [fault] = input_faults(output_schema(opened), wanted)
    assert (fault.message, fault.certain) == ("is not required in the output", False)
    number = {"properties": {"a": {"type": "number"}}, "required": ["a"]}
    [fault] = input_faults(number, wanted)
    assert fault.message == "can be number in the output, and only integer in the input"
    assert not fault.certain
    [fault] = input_faults(output_schema(opened._replace(open=False)), wanted)
    assert fault.field == "a" and fault.certain
    [fault] = input_faults({"properties": {"a": {"type": "integer"}}}, wanted)
    assert not fault.certain
    either = {"anyOf": [wanted, {"properties": {"b": {}}}]}
    assert input_faults(output_schema(None), either) == []


_FIELD = st.sets(st.sampled_from(sorted(TYPES)), min_size=1, max_size=2).map(
    lambda types: {"type": sorted(types)}
)
_VALUES = st.lists(st.integers(0, 3), min_size=1, max_size=2).map(lambda each: {"enum": each})
_LEAF = _FIELD | _VALUES | st.just({})


def _objects(fields: Any) -> Any:
    return st.builds(
        lambda properties, required: {
            "type": "object",
            "properties": properties,
            "required": sorted(required & properties.keys()),
        },
        st.dictionaries(NAMES, fields, min_size=1),
        st.sets(NAMES),
    )


_SCHEMAS = _objects(_LEAF | _objects(_LEAF))


@st.composite
def _value_of(draw: Any, schema: dict[str, Any]) -> Any:
    if schema.get("type") == "object":
        names = [
            name
            for name in schema["properties"]
            if name in schema["required"] or draw(st.booleans())
        ]
        return {name: draw(_value_of(schema["properties"][name])) for name in names}
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    return draw(TYPES[draw(st.sampled_from(schema.get("type", ["string", "integer"])))])


def is_present(value: Any, path: list[str]) -> bool:
    """Whether a value has the field at this path."""
    for part in path:
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            return False
    return True


@given(_SCHEMAS, _SCHEMAS, st.data())
def test_no_output_that_fills_an_input_has_a_certain_fault(
    output: dict[str, Any], wanted: dict[str, Any], data: Any
) -> None:
    value = data.draw(_value_of(output))
    if not violations(wanted, reduced_input(value, wanted)):
        faults = [fault for fault in input_faults(output, wanted) if fault.certain]
        assert not any(is_present(value, fault.field.split(".")) for fault in faults)


@given(_SCHEMAS)
def test_an_output_fills_an_input_of_its_own_schema(schema: dict[str, Any]) -> None:
    assert input_faults(schema, schema) == []
