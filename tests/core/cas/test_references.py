"""References inside payloads, through every keyword that can hold one."""

import pytest

from uwf_core.cas.references import marked_places, references_in
from uwf_core.cas.schemas import KEYWORDS, META_SCHEMA, schema_problems

A, B, C = "95ST8MZ0QTKP9", "07ZX1H6HKQNE8", "CTS5P6RD8HMCS"
REF = {"type": "string", "format": "ocas_ref"}

CASES = {
    "properties": ({"properties": {"x": REF}}, {"x": A, "y": B}, {A}),
    "additionalProperties": (
        {"properties": {"x": {}}, "additionalProperties": REF},
        {"x": A, "y": B, "z": C},
        {B, C},
    ),
    "patternProperties": (
        {"patternProperties": {"^r_": REF}, "additionalProperties": {}},
        {"r_x": A, "y": B},
        {A},
    ),
    "items": ({"items": REF}, [A, B, A], {A, B}),
    "prefixItems": ({"prefixItems": [{}, REF]}, [A, B, C], {B}),
    "items after prefixItems": ({"prefixItems": [{}], "items": REF}, [A, B, C], {B, C}),
    "anyOf": ({"anyOf": [{"type": "null"}, REF]}, A, {A}),
    "oneOf": ({"oneOf": [{"type": "integer"}, {"items": REF}]}, [A], {A}),
    "allOf": ({"allOf": [{"properties": {"x": REF}}, {}]}, {"x": A}, {A}),
    "if": ({"if": REF}, A, {A}),
    "then": ({"if": {}, "then": {"properties": {"x": REF}}}, {"x": A}, {A}),
    "else": ({"if": {}, "else": {"items": REF}}, [A], {A}),
    "itself": (REF, A, {A}),
    "deep": (
        {"properties": {"x": {"items": {"anyOf": [{"additionalProperties": REF}]}}}},
        {"x": [{"k": A}, {"l": B}]},
        {A, B},
    ),
}


ONE = {"type": "object", "additionalProperties": False}


def parts(shape):
    """A keyword's shape in the meta-schema and the shapes of what it holds."""
    return [shape, shape.get("items"), shape.get("additionalProperties"), *shape.get("anyOf", [])]


@pytest.mark.parametrize("case", CASES)
def test_a_reference_is_found_wherever_a_schema_can_mark_one(case):
    schema, payload, expected = CASES[case]
    assert schema_problems(schema) == []
    for places in (schema, marked_places(schema)):
        assert references_in(places, payload) == expected
        assert references_in(places, None) == set()


def test_no_keyword_that_holds_schemas_is_forgotten():
    """The others that do say nothing about a value's own parts."""
    values_of_parts = {"not", "contains", "propertyNames"}  # these judge a value, and mark nothing
    holds_schemas = {
        word for word, shape in META_SCHEMA["properties"].items() if ONE in parts(shape)
    }
    assert holds_schemas - values_of_parts == set(CASES) & KEYWORDS


@pytest.mark.parametrize(
    ("schema", "payload"),
    [
        (REF, "not a reference"),
        (REF, A.lower()),
        (REF, 7),
        (REF, None),
        ({"type": "string"}, A),
        ({"properties": {"x": REF}}, [A]),
        ({"items": REF}, {"x": A}),
        ({"const": A, "enum": [A], "default": A, "not": REF, "contains": REF}, A),
        ({"additionalProperties": False}, {"x": A}),
        ({"const": REF}, A),
    ],
)
def test_what_is_not_marked_or_has_not_the_form_is_no_reference(schema, payload):
    assert references_in(schema, payload) == set()
    assert references_in(marked_places(schema), payload) == set()


def test_a_key_that_a_pattern_takes_is_no_additional_one():
    schema = {"patternProperties": {"^x": {}}, "additionalProperties": REF}
    assert references_in(schema, {"xa": A, "b": B}) == {B}


def test_marked_places_keep_what_decides_which_keys_are_additional():
    schema = {"properties": {"x": {}}, "patternProperties": {"^p": {}}, "additionalProperties": REF}
    assert references_in(marked_places(schema), {"x": A, "pq": B, "z": C}) == {C}
    prefix = {"prefixItems": [{}, {}], "items": REF}
    assert references_in(marked_places(prefix), [A, B, C]) == {C}


def test_a_schema_without_marks_has_no_places():
    assert marked_places({"properties": {"a": {"items": {"type": "string"}}}, "oneOf": [{}]}) == {}
