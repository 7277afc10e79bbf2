"""`--format yaml` says what `--format json` says, to readers of YAML 1.1 and of 1.2."""

import math

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.yaml.source import parse_yaml
from uwf_core.yaml.text import yaml_text

TEXT = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


def same(one, other):
    """Equal, and of equal types: 1 is not 1.0 for a reader of text, nor is True."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other)
    return type(one) is type(other) and one == other


@settings(max_examples=150)
@given(VALUES)
def test_what_is_printed_reads_back_as_the_same_value(value):
    assert same(value, parse_yaml(yaml_text(value), file="output"))


@settings(max_examples=60)
@given(TEXT)
def test_old_readers_take_text_for_text(text):
    assert yaml.safe_load(yaml_text({"text": text})) == {"text": text}


@pytest.mark.parametrize("word", ["yes", "No", "on", "null", "~", "12:30", "010", "1e3", "", "- a"])
def test_words_that_look_like_other_types_are_quoted(word):
    assert yaml_text(word) == f'"{word}"\n'


def test_text_of_several_lines_is_a_block():
    assert yaml_text({"a": "one\ntwo\n", "b": ["x\ny", {"c": 1}]}) == (
        "a: |\n  one\n  two\nb:\n  - |-\n    x\n    y\n  - c: 1\n"
    )
