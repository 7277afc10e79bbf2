"""Which statuses a schema has, and what each asks for."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from uwf_core.errors import DefinitionError
from uwf_core.workflow.alternatives import inline_refs, look_up, written_path
from uwf_core.workflow.variants import analyse, variants
from uwf_core.workflow.yaml_source import parse_yaml


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


def test_one_of_and_any_of_are_a_union_and_all_of_is_a_product() -> None:
    schema = _schema("""
type: object
properties: {common: {type: string}}
required: [common]
allOf:
  - properties: {both: {type: integer}}
    required: [both]
oneOf:
  - properties: {$status: {const: a}}
    required: [$status]
  - anyOf:
      - {properties: {$status: {const: b}}, required: [$status]}
      - {properties: {$status: {const: c}, extra: {}}, required: [$status, extra]}
""")
    found = variants(schema)
    assert [(each.status, set(each.required) - {"$status"}) for each in found] == [
        ("a", {"common", "both"}),
        ("b", {"common", "both"}),
        ("c", {"common", "both", "extra"}),
    ]
    assert set(found[2].properties) == {"common", "both", "extra", "$status"}


def test_alternatives_that_share_a_status_are_one_variant() -> None:
    schema = _schema("""
properties: {$status: {const: done}, file: {type: string}, text: {type: string}}
required: [$status]
anyOf: [{required: [file]}, {required: [text]}]
""")
    [only] = variants(schema)
    assert only.required == {"$status"}
    validator = Draft202012Validator(only.schema)
    assert validator.is_valid({"$status": "done", "file": "x"})
    assert not validator.is_valid({"$status": "done"})


def test_a_branch_that_contradicts_its_base_is_no_variant() -> None:
    schema = _schema("""
properties: {$status: {const: a}}
required: [$status]
oneOf: [{properties: {$status: {const: a}}}, {properties: {$status: {const: b}}}]
""")
    assert [each.status for each in variants(schema)] == ["a"]


def test_keywords_that_belong_together_are_not_torn_apart_or_joined() -> None:
    """`additionalProperties`, and `if` with `then`, mean what they mean in their own schema."""
    schema = _schema("""
type: object
properties: {a: {}}
if: {required: [a]}
oneOf:
  - properties: {$status: {const: open}}
    required: [$status]
    then: {required: [never]}
  - properties: {$status: {const: closed}}
    required: [$status]
    additionalProperties: false
""")
    open_, closed = variants(schema)
    assert Draft202012Validator(open_.schema).is_valid({"$status": "open", "a": 1})
    assert not Draft202012Validator(closed.schema).is_valid({"$status": "closed", "a": 1})


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
        (
            "{properties: {$status: {const: a}}, required: [$status], else: {properties: "
            "{$status: {}}}}",
            "conditional-status",
        ),
        (
            "{properties: {$status: {const: a}}, required: [$status], dependentSchemas: {x: "
            "{properties: {$status: {}}}}}",
            "conditional-status",
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
        "if": st.just({"required": ["a"]}),
        "then": st.just({"required": ["b"]}),
    },
)


@st.composite
def _role_schema(draw: st.DrawFn) -> dict[str, Any]:
    def branch(status: str) -> dict[str, Any]:
        part: dict[str, Any] = draw(_PART)
        part["properties"] = {**part.get("properties", {}), "$status": {"const": status}}
        part["required"] = [*part.get("required", []), "$status"]
        return part

    statuses = draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=4))
    base = draw(_PART)
    base[draw(st.sampled_from(["oneOf", "anyOf"]))] = [branch(status) for status in statuses]
    if draw(st.booleans()):
        base["allOf"] = draw(st.lists(_PART, max_size=2))
    return base


@given(
    _role_schema(),
    st.fixed_dictionaries(
        {"$status": st.sampled_from(["x", "y", "z"])},
        optional={name: st.sampled_from(["text", 1]) for name in "abcd"},
    ),
)
@settings(max_examples=120, deadline=None)
def test_a_variant_asks_exactly_what_the_whole_schema_asks_of_its_status(
    schema: dict[str, Any], output: dict[str, Any]
) -> None:
    variant = next((v for v in variants(schema) if v.status == output["$status"]), None)
    valid = Draft202012Validator(schema).is_valid(output)
    if variant is None:
        assert not valid
    else:
        assert Draft202012Validator(variant.schema).is_valid(output) is valid
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
