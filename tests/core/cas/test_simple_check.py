"""Simple schemas are checked without jsonschema-rs, to the same effect."""

from cas_strategies import payloads, stored_form
from hypothesis import given
from hypothesis import strategies as st

from uwf_core.cas.schemas import CompiledSchema
from uwf_core.cas.simple_check import fits

NAMES = st.sampled_from(["a", "b", "$status"])
SCALARS = st.sampled_from(["x", "y", "", 0, 1, True, False, None, 1.5, 1e300])
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "object", "array", "null"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def schemas_of(inner):
    """Schemas of every keyword that is checked without the library, and some that are not."""
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
            "const": VALUES,
            "enum": st.lists(VALUES, max_size=3),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "additionalProperties": st.booleans() | inner,
            "patternProperties": st.dictionaries(NAMES.filter(str.isalpha), inner, max_size=1),
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=3),
            "minLength": st.integers(0, 2),
            "format": st.just("ocas_ref"),
        },
    )


SCHEMAS = st.recursive(st.just({}), schemas_of, max_leaves=6)


@given(SCHEMAS, VALUES | payloads.map(stored_form))
def test_an_answer_without_the_library_is_the_answer_of_the_library(schema, value):
    quick = fits(schema, stored_form(value))
    assert quick is None or quick is CompiledSchema(schema).accepts(stored_form(value))


def test_the_outputs_of_most_roles_are_checked_without_the_library():
    schema = {
        "oneOf": [
            {
                "type": "object",
                "properties": {"$status": {"const": name}, "files": {"items": {"type": "string"}}},
                "required": ["$status"],
            }
            for name in ("done", "failed")
        ]
    }
    assert fits(schema, {"$status": "done", "files": ["a.py"]}) is True
    assert fits(schema, {"$status": "other"}) is False
    assert fits({"pattern": "^a"}, "b") is None
