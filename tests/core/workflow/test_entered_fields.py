"""The schema decides the type of a text: in `--answer`, in `--input` and in `config set`."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uwf_core.errors import DefinitionError, PayloadError, UsageError
from uwf_core.workflow.entered_fields import (
    items_of_lines,
    join_items,
    parse_fields,
    typed_value,
    undeclared_fields,
)
from uwf_core.workflow.lattice import type_of


@pytest.mark.parametrize(
    ("text", "answer"),
    [("status=x", {"status": "x"}), ("status=x\n$status=done", {"status": "x", "$status": "done"})],
)
def test_status_in_an_answer_is_a_field_where_the_form_has_it(text: str, answer: object) -> None:
    form = {
        "properties": {"$status": {"const": "done"}, "status": {"type": "string"}},
        "required": ["$status"],
    }
    assert parse_fields(text, form, "--answer") == answer


TYPED = {
    "oneOf": [
        {
            "properties": {
                "$status": {"const": "done"},
                "summary": {"type": "string"},
                "note": {"type": ["string", "null"]},
                "level": {"enum": ["1", "2"]},
                "count": {"$ref": "#/$defs/count"},
                "share": {"type": "number"},
                "sure": {"type": "boolean"},
                "files": {"type": "array", "items": {"type": "string"}},
                "value": {"type": "string"},
            },
            "required": ["$status"],
        },
        {
            "properties": {"$status": {"const": "counted"}, "value": {"type": "integer"}},
            "required": ["$status"],
        },
    ],
    "$defs": {"count": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("summary=2026", "2026"),
        ("summary=true", "true"),
        ("summary={not JSON", "{not JSON"),
        ("note=2026", "2026"),
        ("note=null", None),
        ("level=2", "2"),
        ("count=3", 3),
        ("share=3", 3),
        ("share=1.5", 1.5),
        ("sure=true", True),
        ('files=["a", "b"]', ["a", "b"]),
        ("value=7", "7"),
        ("count=three", "three"),  # the check reports it
        ("summary=a = b", "a = b"),
    ],
)
def test_the_form_decides_the_type_of_a_value(text: str, value: object) -> None:
    assert parse_fields(f"$status=done\n{text}", TYPED, "--answer") == {
        "$status": "done", text.partition("=")[0]: value,
    }  # fmt: skip


def test_the_type_is_that_of_the_variant_with_this_status() -> None:
    assert parse_fields("value=7\nstatus=counted", TYPED, "--answer") == {
        "$status": "counted",
        "value": 7,
    }


def test_a_line_without_a_field_continues_the_text_above() -> None:
    text = "status=done\nsummary=First:\n\n- see a = b\n- see c\ncount=3"
    summary = "First:\n\n- see a = b\n- see c"
    assert parse_fields(text, TYPED, "--answer") == {
        "$status": "done",
        "summary": summary,
        "count": 3,
    }


@pytest.mark.parametrize(
    "text", ["", " ", "done", "count=1\ncount=2", "{", "{]", '{"a": 1} b=2', '{"a":' * 99_999]
)
def test_what_is_no_answer_is_refused(text: str) -> None:
    with pytest.raises(PayloadError):
        parse_fields(text, TYPED, "--answer")


OPTIONS = ("--answer", "--input")
TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("5", {"type": "integer"}, 5),
        ("[a, 1.0]", {"type": "array", "items": {"type": "string"}}, ["a", "1.0"]),
        ("{use: mock}", {"type": "object"}, {"use": "mock"}),
        ("True", {"type": "boolean"}, True),
        ("True", {}, "True"),
        ("yes", {"type": "boolean"}, "yes"),
        ("#1: x", {}, "#1: x"),
        ("", {"type": "string"}, ""),
        ("", {}, ""),
        ("null", {"type": ["string", "null"]}, None),
        ('"null"', {"type": ["string", "null"]}, "null"),
        ("'12'", {"type": ["string", "null"]}, "12"),
        ("'tis", {"type": ["string", "null"]}, "'tis"),
        ("[x", {"type": ["string", "array"]}, "[x"),
        ("[x]", {"type": ["string", "array"]}, ["x"]),
        ("[x]", {"type": ["string", "null"]}, "[x]"),
        ("1e999", {}, "1e999"),
        ("9" * 9_999, {}, "9" * 9_999),
    ],
)
def test_a_text_has_the_type_that_its_schema_allows(text: str, schema: Any, value: Any) -> None:
    assert typed_value(text, schema) == value


def test_a_text_that_is_not_yaml_is_an_error_where_no_text_is_allowed() -> None:
    with pytest.raises(DefinitionError):
        typed_value("[", {"type": "array"})


@given(st.text())
def test_text_stays_as_it_is_where_only_text_is_allowed(text: str) -> None:
    assert typed_value(text, {"type": "string"}) == text
    assert typed_value(text, {"enum": ["1", "2"]}) == text


@given(JSON)
def test_every_json_value_is_read_where_its_type_is_required(value: Any) -> None:
    schema = {"type": type_of(value)}
    text = value if isinstance(value, str) else json.dumps(value)
    assert typed_value(text, schema) == value


@given(st.text(), st.sets(st.sampled_from(TYPES), min_size=1))
def test_a_value_is_of_an_allowed_type_or_the_text_itself(text: str, types: set[str]) -> None:
    try:
        value = typed_value(text, {"type": sorted(types)})
    except DefinitionError:
        assert "string" not in types
        return
    known = types | ({"integer"} if "number" in types else set())
    assert value == text or type_of(value) in known or "string" not in types


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), JSON, min_size=1))
def test_fields_of_json_and_of_items_mean_the_same(fields: dict[str, Any]) -> None:
    schema = {"properties": {name: {"type": type_of(value)} for name, value in fields.items()}}
    items = [
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in fields.items()
    ]
    for option in OPTIONS:
        joined = join_items(items, items, option)
        assert joined is not None
        assert parse_fields(joined, schema, option) == fields
        assert parse_fields(json.dumps(fields), schema, option) == fields


@given(st.text())
def test_any_text_is_fields_or_an_error_of_its_option(text: str) -> None:
    try:
        parse_fields(text, TYPED, "--input")
    except PayloadError as error:
        assert error.where == "--input"


@pytest.mark.parametrize("option", OPTIONS)
def test_json_cannot_be_combined_with_a_further_value(option: str) -> None:
    with pytest.raises(UsageError, match=option):
        join_items(["{}", "a=b"], ["{}", "a=b"], option)


def test_a_file_holds_one_field_per_line_and_an_item_is_one_field() -> None:
    given = ["@file", "b=2\nc=3"]
    joined = join_items(given, ["a=1\nx=9", given[1]], "--input")
    assert joined is not None
    schema = {"properties": {"a": {"type": "integer"}}}
    found = parse_fields(joined, schema, "--input")
    assert found == {"a": 1, "x": 9, "b": "2\nc=3"}
    assert items_of_lines("a=1\n\nmore") == ["a=1\n\nmore"]


@pytest.mark.parametrize(
    ("schema", "unknown"),
    [
        ({"properties": {"a": {}}}, ["b"]),
        ({"properties": {"a": {}}, "additionalProperties": True}, []),
        ({"properties": {"a": {}}, "patternProperties": {"b": {}}}, []),
        ({"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, []),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {}}}}}, ["b"]),
        ({"type": "object"}, []),
    ],
)
def test_a_field_that_a_schema_does_not_have_is_reported(
    schema: dict[str, Any], unknown: list[str]
) -> None:
    found = undeclared_fields(schema, {"a": 1, "b": 2}, "the form")
    assert [each.path for each in found] == unknown
