"""Which statuses a schema has, and what each asks for."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from uwf_core.cas.inline import inline_refs, look_up, written_path
from uwf_core.errors import DefinitionError
from uwf_core.workflow.fields import Fields, Presence
from uwf_core.workflow.template import parse
from uwf_core.workflow.variants import analyse, keyword_faults, variants
from uwf_core.yaml.source import parse_yaml


def _schema(text: str) -> Any:
    return parse_yaml(text, file="schema")


def _codes(text: str) -> list[str]:
    return [fault.code for fault in analyse(_schema(text)).faults]


def test_a_flat_schema_is_one_variant() -> None:
    [only] = variants(_schema("{properties: {$status: {const: done}, a: {}}, required: [$status]}"))
    assert (only.status, set(only.properties), only.required, only.open) == (
        "done",
        {"$status", "a"},
        frozenset({"$status"}),
        False,
    )


@pytest.mark.parametrize("word", ["oneOf", "anyOf"])
def test_a_list_of_objects_is_a_variant_for_each_with_the_fields_that_they_share(word: str) -> None:
    schema = _schema(
        """
type: object
properties: {common: {type: string}}
required: [common]
LIST:
  - properties: {$status: {const: a}}
    required: [$status]
  - properties: {$status: {const: c}, extra: {}}
    required: [$status, extra]
""".replace("LIST", word)
    )
    found = variants(schema)
    assert [(each.status, set(each.required) - {"$status"}) for each in found] == [
        ("a", {"common"}),
        ("c", {"common", "extra"}),
    ]
    assert set(found[1].properties) == {"common", "extra", "$status"}


_DONE = "properties: {$status: {const: done}}, required: [$status]"


@pytest.mark.parametrize(
    ("schema", "word", "hint"),
    [
        (f"{{{_DONE}, allOf: [{{required: [a]}}]}}", "allOf", "of its parts"),
        (f"{{{_DONE}, if: {{}}, then: {{required: [a]}}}}", "if", "one `oneOf` variant"),
        (f"{{{_DONE}, not: {{required: [a]}}}}", "not", "say in the properties"),
        (f"{{{_DONE}, dependentSchemas: {{a: {{}}}}}}", "dependentSchemas", "one `oneOf` variant"),
        (f"{{oneOf: [{{{_DONE}, allOf: [{{}}]}}]}}", "allOf", "of its parts"),
        (f"{{oneOf: [{{{_DONE}, anyOf: [{{}}]}}]}}", "anyOf", "into one list"),
        (f"{{oneOf: [{{{_DONE}}}], anyOf: [{{required: [a]}}]}}", "anyOf", "into one list"),
        (f"{{{_DONE}, oneOf: [{{required: [a]}}]}}", "$status", "its own $status"),
        (f"{{oneOf: [{{{_DONE}}}], not: {{}}}}", "not", "say in the properties"),
    ],
)
def test_a_keyword_that_makes_further_variants_is_an_error_with_a_hint(
    schema: str, word: str, hint: str
) -> None:
    [fault] = analyse(_schema(schema)).faults
    assert fault.code == "variant-keyword"
    assert fault.path[-1] == word and word in fault.message and hint in fault.hint
    with pytest.raises(DefinitionError):
        variants(_schema(schema))


def test_a_reference_in_place_of_a_variant_is_an_error_where_it_stands() -> None:
    schema = _schema("{$defs: {a: {" + _DONE + "}}, oneOf: [{$ref: '#/$defs/a'}]}")
    [fault] = keyword_faults(schema)
    assert fault.path == ("oneOf", 0, "$ref") and "anchor" in fault.hint


def test_within_a_property_every_keyword_is_allowed_and_its_fields_may_be_present() -> None:
    schema = _schema("""
properties:
  $status: {const: done}
  a: {type: object, properties: {x: {}}, allOf: [{properties: {y: {}}}]}
  b: {not: {type: string}, if: {type: object}, then: {required: [z]}}
required: [$status, a, b]
""")
    [only] = variants(schema)
    assert only.properties["a"] == schema["properties"]["a"]
    names = parse("{{a}}{{a.x}}{{a.y}}{{b.z}}").names()
    found = [Fields(only).presence(each) for each in names]
    assert found == [Presence.ALWAYS, *[Presence.PERHAPS] * 3]


def test_local_references_are_resolved_also_with_words_beside_them() -> None:
    schema = _schema("""
$defs:
  status: {const: done}
  item: {type: object, properties: {name: {$ref: "#/$defs/name"}}}
  name: {type: string}
properties:
  $status: {$ref: "#/$defs/status", description: how it went}
  items: {type: array, items: {$ref: "#/$defs/item"}}
required: [$status]
""")
    [only] = variants(schema)
    assert only.status == "done"
    assert only.properties["items"] == {
        "type": "array",
        "items": {"type": "object", "properties": {"name": {"type": "string"}}},
    }


def test_a_property_called_ref_is_a_property() -> None:
    schema = {"properties": {"$ref": {"type": "string"}, "$defs": {"type": "string"}}}
    assert inline_refs(schema) == (schema, ())


@pytest.mark.parametrize(
    ("ref", "code"),
    [
        ("#", "recursive-ref"),
        ("#/properties", "recursive-ref"),
        ("#/$defs/loop", "recursive-ref"),
        ("#/$defs/none", "bad-ref"),
        ("#anchor", "bad-ref"),
        ("#/required", "bad-ref"),
        ("other.json", "remote-ref"),
        ("https://example.org/s.json#/a", "remote-ref"),
        ("file:///etc/passwd", "remote-ref"),
        (7, "bad-ref"),
    ],
)
def test_a_reference_that_cannot_be_followed_is_a_fault(ref: Any, code: str) -> None:
    schema = {
        "$defs": {"loop": {"items": {"$ref": "#/$defs/loop"}}},
        "properties": {"a": {"items": {"$ref": ref}}},
        "required": ["a"],
    }
    faults = inline_refs(schema).faults
    assert [fault.code for fault in faults] == [code]


def test_definitions_that_refer_to_each_other_are_one_fault() -> None:
    schema = _schema("""
$defs: {a: {items: {$ref: "#/$defs/b"}}, b: {items: {$ref: "#/$defs/a"}}}
properties: {x: {$ref: "#/$defs/a"}}
""")
    assert [fault.code for fault in inline_refs(schema).faults] == ["recursive-ref"]


def test_definitions_that_double_each_other_are_refused_at_once() -> None:
    doubling = {
        f"d{n}": {"properties": {key: {"$ref": f"#/$defs/d{n + 1}"} for key in "ab"}}
        for n in range(40)
    }
    schema = {"$defs": {**doubling, "d40": {}}, "properties": {"x": {"$ref": "#/$defs/d0"}}}
    codes = {fault.code for fault in inline_refs(schema).faults}
    assert codes
    assert codes <= {"too-many-nodes", "too-deep"}


def test_a_long_chain_of_references_is_no_crash() -> None:
    chain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(5_000)}
    schema = {"$defs": {**chain, "d5000": {}}, "properties": {"x": {"$ref": "#/$defs/d0"}}}
    assert inline_refs(schema).faults


def test_a_place_in_the_inlined_schema_is_found_where_it_was_written() -> None:
    schema = _schema("""
$defs: {c: {type: object, properties: {a: {typ: x}}}}
properties:
  list: {items: {$ref: "#/$defs/c"}}
  beside: {title: t, allOf: [{}], $ref: "#/$defs/c"}
""")
    inlined = inline_refs(schema).schema
    for path in (
        ("properties", "list", "items", "properties", "a", "typ"),
        ("properties", "beside", "allOf", 1, "properties", "a", "typ"),
    ):
        assert look_up(inlined, path) == "x"
        assert written_path(schema, path) == ("$defs", "c", "properties", "a", "typ")


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ("{properties: {a: {}}}", "status-missing"),
        (
            "{oneOf: [{properties: {$status: {const: a}}, required: [$status]}, {}]}",
            "status-missing",
        ),
        ("{properties: {$status: {type: string}}, required: [$status]}", "status-not-const"),
        ("{properties: {$status: {enum: [a, b]}}, required: [$status]}", "status-enum"),
        ("{properties: {$status: {const: 1}}, required: [$status]}", "status-not-text"),
        ("{properties: {$status: {const: a}}}", "status-not-required"),
        ("{properties: {$status: {const: a b}}, required: [$status]}", "bad-name"),
        ("{properties: {$status: {const: $SUSPEND}}, required: [$status]}", "reserved-status"),
        (
            "{type: [string], properties: {$status: {const: a}}, required: [$status]}",
            "not-an-object",
        ),
        (
            "{properties: {$status: {const: a}, _body: {}}, required: [$status]}",
            "reserved-field",
        ),
    ],
)
def test_a_schema_without_clear_statuses_is_a_fault(schema: str, code: str) -> None:
    assert _codes(schema) == [code]
    with pytest.raises(DefinitionError):
        variants(_schema(schema))


def test_the_hint_for_an_enum_is_the_rewrite() -> None:
    [fault] = analyse(
        _schema("{properties: {$status: {enum: [yes, no]}}, required: [$status]}")
    ).faults
    rewrite = fault.hint.split("`")[1]
    assert [each.status for each in variants(_schema(rewrite))] == ["yes", "no"]


def test_sixty_four_variants_are_allowed_and_no_more() -> None:
    def many(count: int) -> Any:
        one = {"required": ["$status"]}
        choices = [{**one, "properties": {"$status": {"const": f"s{n}"}}} for n in range(count)]
        return {"oneOf": choices}

    assert len(variants(many(64))) == 64
    with pytest.raises(DefinitionError, match="64"):
        variants(many(65))


_FIELD = st.sampled_from(["a", "b", "c"])
_PART = st.fixed_dictionaries(
    {},
    optional={
        "type": st.just("object"),
        "properties": st.dictionaries(
            _FIELD, st.sampled_from([{}, {"type": "string"}, {"type": "integer"}]), max_size=2
        ),
        "required": st.lists(_FIELD, max_size=2, unique=True),
        "additionalProperties": st.sampled_from([False, True, {"type": "string"}]),
        "minProperties": st.integers(0, 2),
    },
)


@st.composite
def _role_schema(draw: st.DrawFn) -> dict[str, Any]:
    def branch(status: str) -> dict[str, Any]:
        part: dict[str, Any] = draw(_PART)
        part["properties"] = {**part.get("properties", {}), "$status": {"const": status}}
        part["required"] = [*part.get("required", []), "$status"]
        return part

    statuses = draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, unique=True))
    base = draw(_PART)
    base[draw(st.sampled_from(["oneOf", "anyOf"]))] = [branch(status) for status in statuses]
    return base


@given(
    _role_schema(),
    st.fixed_dictionaries(
        {"$status": st.sampled_from(["x", "y", "z"])},
        optional={name: st.sampled_from(["text", 1]) for name in "abcd"},
    ),
)
@settings(max_examples=120, deadline=None)
def test_a_variant_allows_what_the_whole_schema_allows_of_its_status(
    schema: dict[str, Any], output: dict[str, Any]
) -> None:
    variant = next((v for v in variants(schema) if v.status == output["$status"]), None)
    valid = Draft202012Validator(schema).is_valid(output)
    if variant is None:
        assert not valid
    else:
        assert not valid or Draft202012Validator(variant.schema).is_valid(output)
        assert not valid or variant.required <= set(output)


_KEYS = [
    *("properties", "required", "oneOf", "allOf", "anyOf", "$ref", "$defs", "const", "type"),
    *("enum", "$status", "if", "items", "additionalProperties", "_body"),
]
_ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 70) | st.sampled_from(["a", "#", "$status", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(_ANY)
@settings(max_examples=120, deadline=None)
def test_no_schema_however_wrong_is_a_crash(schema: Any) -> None:
    inlined = inline_refs(schema)
    analysis = analyse(inlined.schema)
    for fault in (*inlined.faults, *analysis.faults, *analysis.warnings):
        written_path(schema, fault.path)
