"""Patterns and schemas are bounded before they are compiled: nothing holds the process."""

import time

import pytest

from uwf_core.cas.bounds import MAX_VALUES
from uwf_core.cas.patterns import MAX_CLASSES, MAX_COST, MAX_LENGTH, PatternRejected, pattern_cost
from uwf_core.cas.schemas import CompiledSchema, first_problem, schema_problems
from uwf_core.errors import PayloadError

SECONDS = 8.0  # of processor time: busy neighbours make each second dearer
"""Of computing: each of these took a minute or more, or all memory, without the bounds."""

HOSTILE = {
    "classes in a row": r"\s|" * 1_500,
    "classes in one class": "[" + r"\s" * 2_400 + "]",
    "properties": r"\p{L}|" * 700,
    "a long text": "a" * (MAX_LENGTH + 1),
    "nested repetitions": r"(\p{L}{1,100}){1,100}",
    "repetitions of repetitions": "a" + "{20}" * 30,
    "repetitions of nothing": "(?:)" + "{20}" * 30,
    "a huge count": "a{" + "9" * 4_900 + "}",
    "classes that ignore case": r"(?i:[\x00-\U0010FFFF])" * 90,
    "a parenthesis within a class": "(" + "a" * 100 + r"[)]){1000}",
    "a parenthesis too many": "(" + "a" * 100 + "))){1000}",
    "comments that hide a class": "(?x)#[\n" + r"\s|" * 50,
    "a class within a class": "(" + "a" * 100 + "[[a](]){1000}[[a])]",
}

USUAL = (
    r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
    r"(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$",
    r"^([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$",
    r"^[\w.+-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,8}$",
    r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$",
    r"^[\p{L} '.-]{1,100}$",
    "^.{1,2000}$",
    r"^\w{1,1000}$",
    "|".join(f"word{n}" for n in range(500)),
    r"\[[^\]]*\]\([^)]*\)",
    "[(){}|]{1,9}",
    r"a{1,5}\x41",
)

DEAREST = {
    "classes": r"\s" * MAX_CLASSES,
    "properties": r"\p{L}" * 107,
    "repeated properties": r"\pL{120}",
    "ignored case": "(?i)" + "ſ" * (MAX_LENGTH - 4),
    "any character": "(.{0,10}){0,450}",
    "alternatives": "|".join(chr(0x100 + 3 * n) for n in range(2_400)),
}


@pytest.mark.parametrize("pattern", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_pattern_is_refused_at_its_place_before_it_is_compiled(pattern):
    began = time.process_time()
    with pytest.raises(PatternRejected):
        pattern_cost(pattern)
    for schema, place in (
        ({"properties": {"a": {"pattern": pattern}}}, ("properties", "a", "pattern")),
        ({"patternProperties": {pattern: {}}}, ("patternProperties", pattern)),
    ):
        assert place in [each.keys for each in schema_problems(schema)]
        found = first_problem(schema)
        assert found is not None
        assert found.keys == place
        with pytest.raises(PayloadError, match="this schema cannot be a type"):
            CompiledSchema(schema)
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("where", ["$defs", "dependentSchemas", "definitions"])
def test_a_hostile_pattern_is_not_compiled_below_a_keyword_that_no_type_may_have(where):
    """Forms of questions are schemas that were never checked as types."""
    with pytest.raises(PayloadError, match="character classes"):
        CompiledSchema({where: {"a": {"pattern": r"\s|" * 1_500}}})


@pytest.mark.parametrize("pattern", USUAL)
def test_a_usual_pattern_is_taken(pattern):
    assert pattern_cost(pattern) <= MAX_COST
    assert schema_problems({"pattern": pattern}) == []


@pytest.mark.parametrize("pattern", DEAREST.values(), ids=DEAREST)
def test_the_dearest_patterns_that_are_taken_compile_at_once(pattern):
    began = time.process_time()
    schema_problems({"pattern": pattern})
    assert time.process_time() - began < SECONDS


def test_many_patterns_have_one_budget_and_the_first_beyond_it_is_named():
    each = {"pattern": r"\d{1,1000}"}  # 5,035 each, 60,000 together
    assert schema_problems({"prefixItems": [each] * 11}) == []
    (problem, *_) = schema_problems({"prefixItems": [each] * 12})
    assert problem.keys == ("prefixItems", 11, "pattern")
    assert "cost more than 60,000" in problem.message


def test_what_a_schema_holds_too_much_of_is_named():
    (problem,) = schema_problems({"properties": {"a": {"enum": list(range(MAX_VALUES))}}})
    assert problem.keys == ("properties", "a", "enum")
    assert "10,000 values" in problem.message


DEAR = r"(\w{0,30}){0,100}x"
SLOW = {
    "a dear pattern and a long text": ({"pattern": DEAR}, "a" * 40_000),
    "a dear pattern and many texts": ({"items": {"pattern": DEAR}}, ["a" * 200] * 200),
    "alternatives for many items": ({"items": {"anyOf": [{"type": "null"}] * 900}}, [0] * 9_500),
    "a long list for many items": ({"items": {"enum": [[n] for n in range(3_000)]}}, [[]] * 5_000),
    "a huge value": ({"items": {"enum": [[n] for n in range(3_000)]}}, [[0]] * 300_000),
}


@pytest.mark.parametrize(("schema", "value"), SLOW.values(), ids=SLOW)
def test_a_value_that_would_hold_the_process_is_refused_at_once(schema, value):
    """Each took a minute or more, with no way for a signal to get through."""
    began = time.process_time()
    compiled = CompiledSchema(schema)
    assert compiled.accepts(value) == (not compiled.violations_of_plain(value))
    assert time.process_time() - began < SECONDS


def test_the_faults_of_a_usual_value_are_all_found():
    text = {"type": "string", "pattern": "^a{1,9}$"}
    compiled = CompiledSchema({"items": {"anyOf": [{"type": "null"}, text]}})
    value = ["a", "b" * 10_000, 3, None, *("a" * 10_000)]
    assert [each.path for each in compiled.violations_of_plain(value)] == ["1", "2"]


def test_a_large_value_of_a_simple_schema_is_checked():
    schema = {"properties": {f"f{n}": {"type": "string"} for n in range(150)}}
    assert CompiledSchema(schema).accepts({"f1": "x" * 16_000_000})
    assert CompiledSchema({"prefixItems": [schema]}).violations([{"f1": "x" * 16_000_000}]) == []
