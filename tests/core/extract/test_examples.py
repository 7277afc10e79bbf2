"""What an agent is shown as an example would be accepted, word for word."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.api.extract import ExtractRequest
from uwf_core.extract.frontmatter import FrontmatterExtractor
from uwf_core.workflow.deliverable import deliverable, example_output
from uwf_core.workflow.variants import variants
from uwf_core.yaml.text import frontmatter

NAMES = st.text("abcdef_-. $1", min_size=1, max_size=5).filter(
    lambda name: name not in ("$status", "_body")
)
WORDS = st.sampled_from(["x", "1.0", "yes", "null", "a: b", "", " a", "a\nb", "010", "---"])
BOUNDS = st.integers(-5, 5)


@st.composite
def numbers(draw: st.DrawFn) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": draw(st.sampled_from(["integer", "number"]))}
    low = draw(BOUNDS)
    schema[draw(st.sampled_from(["minimum", "exclusiveMinimum", "title"]))] = low
    schema[draw(st.sampled_from(["maximum", "exclusiveMaximum", "description"]))] = low + 12
    if draw(st.booleans()):
        schema["multipleOf"] = draw(st.integers(1, 4))
    return {
        key: str(value) if key in ("title", "description") else value
        for key, value in schema.items()
    }


TEXTS = st.fixed_dictionaries(
    {"type": st.just("string")},
    optional={"minLength": st.integers(0, 30), "maxLength": st.integers(30, 40)},
) | st.fixed_dictionaries(
    {"type": st.just("string"), "format": st.sampled_from(["date", "date-time", "email", "uri"])}
)
CHOSEN = (
    st.builds(
        lambda word: {"const": word}, WORDS | st.integers() | st.none() | st.booleans()
    ).filter(
        lambda schema: (
            abs(schema["const"] or 0) < 2**53 if isinstance(schema["const"], int) else True
        )
    )
    | st.builds(lambda words: {"enum": words}, st.lists(WORDS, min_size=1, max_size=3, unique=True))
    | st.builds(lambda word: {"type": "string", "examples": [word]}, WORDS)
    | st.builds(lambda word: {"type": ["null", "string"], "default": word}, WORDS | st.none())
)
SCHEMAS = st.recursive(
    numbers() | TEXTS | CHOSEN | st.sampled_from([{}, {"type": "boolean"}, {"type": "null"}]),
    lambda inner: st.one_of(
        st.builds(
            lambda items, least: {"type": "array", "items": items, "minItems": least},
            inner,
            st.integers(0, 3),
        ),
        st.builds(
            lambda items: {"prefixItems": items, "minItems": 1},
            st.lists(inner, min_size=1, max_size=2),
        ),
        st.builds(
            lambda properties: {
                "type": "object",
                "properties": properties,
                "required": list(properties),
            },
            st.dictionaries(NAMES, inner, max_size=3),
        ),
        st.builds(lambda one, two: {"anyOf": [one, two]}, inner, inner),
        st.builds(lambda one: {"allOf": [one, {"description": "d"}]}, inner),
    ),
    max_leaves=6,
)


@st.composite
def role_schemas(draw: st.DrawFn) -> dict[str, Any]:
    forms = []
    for status in draw(
        st.lists(st.sampled_from(["done", "1.0", "true", "no"]), min_size=1, unique=True)
    ):
        properties = draw(st.dictionaries(NAMES, SCHEMAS, max_size=4))
        required = (
            draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
        )
        forms.append(
            {
                "properties": {"$status": {"const": status}, **properties},
                "required": ["$status", *required],
                "additionalProperties": draw(st.booleans()),
            }
        )
    return forms[0] if len(forms) == 1 else {"type": "object", "oneOf": forms}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=150)
@given(role_schemas())
def test_the_example_of_each_status_extracts_to_itself(schema: dict[str, Any]) -> None:
    text = deliverable(schema, {})
    for variant in variants(schema):
        output = example_output(variant)
        raw = frontmatter(output, "<your text>")
        assert raw in text
        reply = FrontmatterExtractor().extract(ExtractRequest(raw=raw, schema=schema))
        assert reply.errors == ()
        assert reply.output == output
        assert reply.body == "<your text>"


def test_lists_that_allow_nothing_twice_get_an_example_without_repetition() -> None:
    def unique(items: dict[str, Any]) -> dict[str, Any]:
        return {"type": "array", "minItems": 3, "uniqueItems": True, "items": items}

    schema = {
        "properties": {
            "$status": {"const": "x"},
            "words": unique({"type": "string"}),
            "numbers": unique({"type": "integer"}),
            "levels": unique({"enum": ["a", "b", "c"]}),
        },
        "required": ["$status", "words", "numbers", "levels"],
    }
    (variant,) = variants(schema)
    raw = frontmatter(example_output(variant))
    assert FrontmatterExtractor().extract(ExtractRequest(raw=raw, schema=schema)).errors == ()


def test_the_suspend_form_that_is_shown_is_accepted() -> None:
    schema = {"properties": {"$status": {"const": "x"}}, "required": ["$status"]}
    raw = deliverable(schema, {}).rpartition("````\n---")[2].removesuffix("````")
    raw = f"---{raw}"
    output = FrontmatterExtractor().extract(ExtractRequest(raw=raw, schema=schema)).output
    assert output is not None and output["$status"] == "$SUSPEND"


def test_an_example_of_endless_lists_and_texts_is_short() -> None:
    endless: dict[str, Any] = {"type": "string", "minLength": 10**9}
    for _ in range(20):
        endless = {"type": "array", "minItems": 10**9, "items": endless}
    schema = {
        "properties": {"$status": {"const": "x"}, "all": endless},
        "required": ["$status", "all"],
    }
    assert len(deliverable(schema, {})) < 200_000
