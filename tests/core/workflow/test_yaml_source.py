"""YAML as users write it: what stays text, what is refused, and where."""

import json
import math
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from uwf_core.errors import DefinitionError
from uwf_core.yaml.source import (
    YamlMapping,
    YamlScalar,
    YamlSequence,
    compose,
    compose_all,
    decode,
    parse_yaml,
)

STAYS_TEXT = [
    *("yes", "no", "on", "off", "Yes", "NO", "On", "y", "n", "nulll", "tRuE", "nan", "inf", "NaN"),
    *("12:30", "190:20:30", "010", "007", "-010", "1_000", "1,000", "01.5", "1.2.3", "12e03x"),
    *("0b11", "1e", "e3", "0x", "0o8", "+", ".", "..", "=", "<", "١٢"),
    *("2024-01-31", "2024-01-31T12:00:00Z"),
]


@pytest.mark.parametrize("text", STAYS_TEXT)
def test_what_yaml_1_1_would_change_stays_what_the_author_wrote(text: str) -> None:
    assert parse_yaml(f"key: {text}", file="f") == {"key": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("~", None),
        ("Null", None),
        ("NULL", None),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("-7", -7),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.0", 1.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1.5e3", -1500.0),
        ("1E-2", 0.01),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("1e999", math.inf),
    ],
)
def test_null_truth_values_and_plain_numbers_are_typed(text: str, value: Any) -> None:
    found = parse_yaml(f"[{text}]", file="f")[0]
    assert found == value
    assert type(found) is type(value)


def test_quoted_scalars_are_always_text() -> None:
    assert parse_yaml("""['1', "true", '', "null", 'x''y']""", file="f") == [
        "1",
        "true",
        "",
        "null",
        "x'y",
    ]


def test_keys_are_always_text() -> None:
    text = "1: a\ntrue: b\n~: c\n1.50: d\n2024-01-31: e\n"
    assert parse_yaml(text, file="f") == {
        "1": "a",
        "true": "b",
        "~": "c",
        "1.50": "d",
        "2024-01-31": "e",
    }


def test_a_scalar_keeps_its_source_text_and_whether_it_was_plain() -> None:
    node = compose("- 1.0\n- '1.0'\n- 0012345\n- |\n  a\n  b\n", file="f")
    assert isinstance(node, YamlSequence)
    scalars = [item for item in node.items if isinstance(item, YamlScalar)]
    assert [(each.text, each.plain) for each in scalars] == [
        ("1.0", True),
        ("1.0", False),
        ("0012345", True),
        ("a\nb\n", False),
    ]


def test_every_node_knows_its_place() -> None:
    node = compose("a:\n  - x\n  -   {b: c}\n", file="some/f.yaml")
    assert isinstance(node, YamlMapping)
    items = node.values["a"]
    assert isinstance(items, YamlSequence)
    inner = items.items[1]
    assert isinstance(inner, YamlMapping)
    places = [str(each.place) for each in (node.keys["a"], items.items[0], inner)]
    assert places == ["some/f.yaml:1:1", "some/f.yaml:2:5", "some/f.yaml:3:7"]
    assert str(inner.values["b"].place) == "some/f.yaml:3:11"


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "--- # nothing\n"])
def test_an_empty_document_is_nothing(text: str) -> None:
    assert compose(text, file="f") is None
    assert parse_yaml(text, file="f") is None


def test_anchors_aliases_and_merge_keys_work() -> None:
    text = """
base: &base {a: 1, b: 2}
more: &more {b: 3, c: 4}
one: {<<: *base, b: own}
two:
  <<: [*base, *more]
  d: 5
again: *base
quoted: {'<<': 1}
"""
    value = parse_yaml(text, file="f")
    assert value["one"] == {"a": 1, "b": "own"}
    assert value["two"] == {"a": 1, "b": 2, "c": 4, "d": 5}
    assert value["again"] == {"a": 1, "b": 2}
    assert value["quoted"] == {"<<": 1}


def test_brackets_that_never_end_are_too_deep() -> None:
    # libyaml before 0.2.6 returns them one by one; later ones read ahead up to their own limit.
    with pytest.raises(DefinitionError) as error:
        parse_yaml("[" * 60_000, file="f.yaml")
    assert error.value.problems[0]["code"] == "too-deep"
    assert error.value.where in ("f.yaml:1:65", "f.yaml:1:1001")


def test_what_an_alias_gives_can_be_changed_without_changing_the_other_place() -> None:
    value = parse_yaml("a: &x [1]\nb: *x\n", file="f")
    value["b"].append(2)
    assert value["a"] == [1]


REFUSED = [
    ("a: 1\nb: 2\na: 3\n", "duplicate-key", "3:1"),
    ("a: {<<: {b: 1}, <<: {c: 2}}\n", "duplicate-key", "1:17"),
    ("a: !!str 1\n", "tag", "1:4"),
    ("a: !!binary aGk=\n", "tag", "1:4"),
    ("a: !!python/object/apply:os.system [ls]\n", "tag", "1:4"),
    ("a: ! x\n", "tag", "1:4"),
    ("a: !include x.md\n", "tag", "1:4"),
    ("? [a]\n: b\n", "key", "1:3"),
    ("{a: 1}: b\n", "key", "1:1"),
    ("a: *b\n", "alias", "1:4"),
    ("&a [*a]\n", "alias", "1:5"),
    ("&a {b: *a}\n", "alias", "1:8"),
    ("a: &x 1\nb: {<<: *x}\n", "merge-key", "1:4"),
    ("a: 1\n--- \nb: 2\n", "several-documents", "2:1"),
    ("a: 1\nb: \0\n", "forbidden-character", "2:4"),
    ("a: \x1b[31m\n", "forbidden-character", "1:4"),
    ("a: \ud800\n", "forbidden-character", "1:4"),
    ("a: [1, 2\n", "yaml-syntax", "2:1"),
    ("a: b: c\n", "yaml-syntax", "1:5"),
    ("\ta: b\n", "yaml-syntax", "1:1"),
    ("a: 'x\n", "yaml-syntax", "2:1"),
    ("a: %x\n", "yaml-syntax", "1:4"),
    ("a: @x\n", "yaml-syntax", "1:4"),
    ('{"a":' * 60_000, "too-deep", "1:321"),
    ("- " * 30_000 + "x", "too-deep", "1:129"),
    ("x" * 1_000_001, "too-large", "1:1"),
    ("é" * 500_001, "too-large", "1:1"),
    ("[" + "1," * 100_001 + "]", "too-many-nodes", "1:200000"),
]


@pytest.mark.parametrize(
    ("text", "code", "place"), REFUSED, ids=[f"{c}-{p}" for _, c, p in REFUSED]
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, code: str, place: str) -> None:
    with pytest.raises(DefinitionError) as error:
        parse_yaml(text, file="f.yaml")
    assert error.value.problems[0]["code"] == code
    assert error.value.where == f"f.yaml:{place}"


def test_an_alias_bomb_is_refused_at_once() -> None:
    lines = ["a0: &a0 [" + "x," * 10 + "]"]
    lines += [f"a{n}: &a{n} [" + f"*a{n - 1}," * 10 + "]" for n in range(1, 12)]
    began = time.process_time()
    with pytest.raises(DefinitionError, match="100,000"):
        parse_yaml("\n".join(lines), file="f")
    assert time.process_time() - began < 10


def test_a_bomb_of_merge_keys_is_refused() -> None:
    lines = ["m0: &m0 {" + ",".join(f"k{n}: v" for n in range(200)) + "}"]
    lines += ["m1: {<<: [" + "*m0," * 300 + "]}"]
    with pytest.raises(DefinitionError, match="100,000"):
        parse_yaml("\n".join(lines), file="f")


def test_aliases_cannot_nest_deeper_than_written_brackets() -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 80)]
    with pytest.raises(DefinitionError, match="64 levels"):
        parse_yaml("\n".join(lines), file="f")


def test_nesting_up_to_the_limit_is_read() -> None:
    value = parse_yaml("[" * 64 + "]" * 64, file="f")
    depth = 0
    while value:
        value, depth = value[0], depth + 1
    assert depth == 63


def test_duplicates_and_tags_are_told_all_at_once_and_the_rest_is_still_read() -> None:
    composed = compose_all("a: 1\na: 2\nb: !x 3\nc: !y [4]\nd: 5\n", file="f")
    assert [(each.code, each.line) for each in composed.problems] == [
        ("duplicate-key", 2),
        ("tag", 3),
        ("tag", 4),
    ]
    assert isinstance(composed.node, YamlMapping)
    assert list(composed.node.values) == ["a", "b", "c", "d"]


def test_include_is_a_tag_only_where_the_caller_allows_it() -> None:
    node = compose("a: !include x.md\n", file="f", include=True)
    assert isinstance(node, YamlMapping)
    scalar = node.values["a"]
    assert isinstance(scalar, YamlScalar)
    assert (scalar.tag, scalar.text) == ("!include", "x.md")


def test_bytes_that_are_not_utf_8_are_refused_with_their_place() -> None:
    with pytest.raises(DefinitionError) as error:
        decode("a: ü\nb: ".encode() + b"\xff", file="f.yaml")
    assert error.value.where == "f.yaml:2:4"


def test_an_integer_too_long_for_python_is_no_crash() -> None:
    assert parse_yaml("- " + "9" * 5_000, file="f") == [math.inf]
    assert parse_yaml("- -" + "9" * 5_000, file="f") == [-math.inf]
    assert parse_yaml("- 0x" + "f" * 50_000, file="f") == [math.inf]


def test_line_separators_of_unicode_are_ordinary_characters() -> None:
    """As in YAML 1.2; libyaml would break lines there and lose blanks."""
    for separator in "\x85\u2028\u2029":
        value = {"a" + separator + " b": f"x {separator} y"}
        assert parse_yaml(json.dumps(value, ensure_ascii=False), file="f") == value
        assert parse_yaml(f"key: a{separator}b", file="f") == {"key": f"a{separator}b"}


def test_a_byte_order_mark_is_ignored() -> None:
    assert parse_yaml("\ufeffa: 1\n", file="f") == {"a": 1}
    assert decode(b"\xef\xbb\xbfa", file="f") == "a"


_TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=20
)
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(_JSON)
@settings(max_examples=80, deadline=None)
@example({"": {"<<x": [], "\u2028": "\ue000\ufeff"}})
@example([1e22, 1.5e-7, -0.0, "", " ", "\U0001f600"])
def test_json_is_yaml(value: Any) -> None:
    """What json writes is read as the same value, of the same types."""
    for text in (json.dumps(value, ensure_ascii=False), json.dumps(value)):
        read = parse_yaml(text, file="f")
        assert json.dumps(read) == json.dumps(value)


@pytest.mark.parametrize("written", ["'{}'", "{}", "|\n  {}", ">-\n  {}"])
def test_escapes_are_read_only_in_double_quotes(written: str) -> None:
    text = r"\uD83d\udE00 \\ud83d\ude00"
    assert parse_yaml("a: " + written.format(text), file="f")["a"].rstrip("\n") == text
    assert parse_yaml(r'a: "\uD83d\udE00 \\ud83d\\ude00"', file="f") == {
        "a": "\U0001f600 \\ud83d\\ude00"
    }


@pytest.mark.parametrize("lone", [r"\ud83d", r"\ude00", r"\ud83d\ud83d", r"\ude00\ud83d"])
def test_half_a_pair_of_escapes_is_refused(lone: str) -> None:
    with pytest.raises(DefinitionError, match="escape"):
        parse_yaml(f'a: "{lone}"', file="f")


@given(st.from_regex(r"[A-Za-z0-9._+:/-]{1,12}", fullmatch=True))
@settings(max_examples=150, deadline=None)
@example("0x1f")
@example("12e03")
def test_a_plain_scalar_is_a_number_only_if_json_or_yaml_1_2_says_so(text: str) -> None:
    """Whatever is typed means the same number by Python's own reading; all else is unchanged."""
    composed = compose_all(f"- {text}\n", file="f")
    if not isinstance(composed.node, YamlSequence) or not isinstance(
        composed.node.items[0], YamlScalar
    ):
        return
    scalar = composed.node.items[0]
    if isinstance(scalar.value, str):
        assert scalar.value == scalar.text
    elif isinstance(scalar.value, bool) or scalar.value is None:
        assert scalar.text.lower() in ("true", "false", "null")
    elif "." in scalar.text and scalar.text.lower().endswith(("inf", "nan")):
        assert not math.isfinite(scalar.value)
    else:
        by_python = int(scalar.text, 0) if scalar.text[:2] in ("0x", "0o") else float(scalar.text)
        assert scalar.value == by_python


@given(st.text(max_size=60) | st.text("[]{}:,-&*!|>'\"#%@` \nab<", max_size=40))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_or_refused_but_never_a_crash(text: str) -> None:
    composed = compose_all(text, file="f")
    lines = text.count("\n") + text.count("\r") + 2
    for problem in composed.problems:
        assert 1 <= problem.line <= lines
        assert problem.column >= 1
