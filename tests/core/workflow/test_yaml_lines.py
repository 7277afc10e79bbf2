"""Plain YAML is read without PyYAML, and exactly as PyYAML reads it.

`UWF_YAML_TEXTS=20000` compares that many generated texts in each property; it passed on 2026-11-26
(148 s). On the same day another generator of lines made 1.7 million texts (seeds 21 to 24);
of 90,000 that were read none differed from what libyaml or the parser in Python read.
"""

import json
import os
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.config.edit import with_value
from uwf_core.workflow import yaml_source
from uwf_core.workflow.yaml_lines import compose_lines
from uwf_core.workflow.yaml_source import YamlMapping, YamlNode, YamlScalar, YamlSequence

from ..config.test_settings import EVERYTHING

TEXTS = int(os.environ.get("UWF_YAML_TEXTS", "300"))


def everything(node: YamlNode | None) -> Any:
    """All that readers see of a node."""
    if node is None:
        return None
    common = type(node).__name__, node.place, node.size, node.height
    if isinstance(node, YamlScalar):
        return *common, node.text, node.style, node.tag, repr(node.value)
    if isinstance(node, YamlSequence):
        return *common, [everything(each) for each in node.items]
    assert isinstance(node, YamlMapping)
    assert list(node.keys) == list(node.values)
    return *common, [(k, everything(node.keys[k]), everything(v)) for k, v in node.values.items()]


def by_pyyaml(text: str, *, libyaml: bool = True) -> Any:
    """What PyYAML makes of a text: the nodes, or errors, which never equal any."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_source, "compose_lines", lambda *_: None)
        if not libyaml:
            patch.delattr(yaml, "CLoader")
        composed = yaml_source.compose_all(text, file="f")
    return composed.problems or everything(composed.node)


def compare(text: str) -> bool:
    """Whether the text was read here; if so, as both parsers of PyYAML read it."""
    found = compose_lines(text, "f")
    if found is not None:
        assert everything(found) == by_pyyaml(text), text
        assert everything(found) == by_pyyaml(text, libyaml=False), text
    return found is not None


# Values that are read here, with what YAML 1.1, or a careless reader, would make of them.
READ = [
    *("x", "x y", "x  y", "yes", "no", "on", "off", "y", "n", "Yes", "OFF"),
    *("~", "null", "Null", "true", "TRUE", "0", "010", "0o17", "0x1F", "1_000", "+1", "-5", ".5"),
    *("1e3", "1.5e-7", ".inf", "-.inf", ".nan", "12:30", "190:20:30", "2024-01-31", "1.0"),
    *("a:b", "http://x:80/y#z", "a#b", "a # a comment", "a  # a comment", "# a comment", ""),
    *('"q"', "'s'", '""', "''", '"yes"', "'010'", '"a: b"', '"# no comment"', "'a' # a comment"),
    *("a'b", 'a"b', "a[b]", "a{b", "a, b", "a & b", "a *b", "a|b", "a>b", "a!b", "a%b", "a@b"),
    *("a - b", "a -", "--flag", "-#a", "a ? b", "a :b", "=", "<", "<<", "(x)", "/x", "a\\b", "$x"),
    *("é", "日本", "\U0001f600", "[]", "{}", "[ ]", "[a]", "[a, b]", "[a,b]", "[ a , b ] # c"),
    *("{a: b}", "{ a: b , c: d }", "{a: 1, b: yes}", "[http://x, -1, --y, ~]", "[a b, c]"),
    *('["a, b"]', '["a]b"]', '["a] # b"]', "['a', \"b\"]", '{"a: b": c}', "{a: '}'}", "[AWS_*]"),
    *("{a: [b, {c: d}], e: {}}", "[[], [a]]", "[x(y)]", "{u: http://x:80/}", '{a: ""}'),
    *("[a:b]", "[a :b]"),
]  # fmt: skip

# Values that are left to PyYAML: it reads them, or reports what is wrong.
LEFT = [
    *("|", ">+", "&a b", "*a", "!t x", "!!str 1", "%x", "@x", "`x`", "- a", "-", "- - a"),
    *("a: b", "a:", ": a", ":a", "?", "? a", ",a", "[", "]", "{", "}", "[a", "{a: b", "[a]]"),
    *('"', "'", '"a', '"a\\n"', '"\\u00e9"', "'it''s'", '"a""b"', '"a" b', '"a"#b', "[a]#b"),
    '"a": b',
    *("a\tb", "a\xa0b", "a\x85b", "a\u2028b", "a\ufeffb", "a\rb", "a\0b", "\ue000", "a \t# b"),
    *("[a: b]", "[a, ]", "[,]", "[a,,b]", "{a}", "{a: }", "{a:b}", '{"a":b}', "{a : b}"),
    "{a: b: c}",
    *("{a: 1, a: 2}", "{? a: b}", "{[a]: b}", "{a: b, c}", "[- a]", "[-]", "[a #b]", "[#a]"),
    "[a?b]",
    *("[!a]", "[*a]", "[&a b]", "{a: [b]c: d}", "[a]: b", "{a: *b}", "[a:]", "[a::b]"),
]  # fmt: skip

READ_TEXTS = [
    "a: 1\nb: 2",
    "# c\n\na: 1 \n   # c\n\nb: # c\n  # c\n  c:   2\n\n",
    "  a: 1\n  b: 2\n",
    "a:\n  b:\n    c: d\n  e: f\ng: h\n",
    "a:\n- b\n- c\nd:\n  - e\n  -  f # c\ng:\n",
    "a:\n    b: 1\nc:\n b: 1\n",
    'a.b: 1\na/b: 2\n1: 3\nnull: 4\n2024-01-31: 5\n\'q k\': 6\n"a: b": 7\n"": 8\n',
    "x: " + "y" * 900,
    "\n".join(f"{' ' * depth}a:" for depth in range(40)) + " b",
    EVERYTHING,
]
LEFT_TEXTS = [
    *("", "\n", "# only a comment\n", "a", "- a", "[a]", "{a: b}", "--- \na: 1", "---\na: 1\n"),
    *("a: 1\n---\nb: 2", "a: 1\n...\n", "%YAML 1.2\n---\na: 1", "\ufeffa: 1", "a: 1\r\nb: 2\r\n"),
    *("a: 1\na: 2\n", "a: 1\n  b\n", "a: b\n  c: d\n", "a:\n  b: 1\n c: 2\n", "a: 1\n b: 2\n"),
    *(
        "a:\n\tb: 1\n",
        "a:\n  - b\n  c: d\n",
        "a:\n  - b\n - c\n",
        "- a\nb: c\n",
        "a:\n- b\n c: d\n",
    ),
    *("a:\n- b: c\n", "a:\n-\n- b\n", "a:\n- # c\n  b\n", "a:\n- b\n  c\n", "a:\n- - b\n"),
    *("a:b\n", "a :b\n", "a : b\n", "a b: c\n", "a:# c\n", "<<: {a: 1}\n", "&a b: c\n", "*a : b\n"),
    *("? a\n: b\n", ": a\n", "-: a\n", "'it''s': a\n", '"a\\n": b\n', '"a" : b\n', '"a":b\n'),
    *(
        '"a\n b": c\n',
        "a: 'b\n  c'\n",
        "a: [b,\n  c]\n",
        "a: |\n  b\n",
        "a: b\nc\n",
        "a: @b\nc: d\n",
    ),
    "a: " + "b" * 1000,
    "\n".join(f"{' ' * depth}a:" for depth in range(60)) + " b",
    "a: " + "[" * 100 + "]" * 100,
    "".join(f"a{number}: 1\n" for number in range(20_000)),
]


@pytest.mark.parametrize("value", READ)
def test_a_value_on_its_line_is_read_as_by_pyyaml(value: str) -> None:
    for text in (f"key: {value}", f"a:\n  key:   {value} # c\n  b: 1\n", f"{{key: {value}}}"):
        compare(text)
    assert compare(f"key: {value}\n")
    if value and value[0] != "#":
        assert compare(f"a:\n  - {value}\n  - b\n")


@pytest.mark.parametrize("value", LEFT)
def test_anything_else_is_left_to_pyyaml(value: str) -> None:
    assert not compare(f"key: {value}\n")
    assert not compare(f"a:\n  - {value}\n")


@pytest.mark.parametrize("text", READ_TEXTS)
def test_a_text_of_such_lines_is_read_as_by_pyyaml(text: str) -> None:
    assert compare(text)


@pytest.mark.parametrize("text", LEFT_TEXTS)
def test_no_part_of_another_text_is_read(text: str) -> None:
    assert not compare(text)


def test_what_config_set_writes_is_read() -> None:
    text = EVERYTHING
    for path, value in {
        ("limits", "runSeconds"): 90.5,
        ("providers", "a.b"): {"baseUrl": "https://x/v1", "apiKeyEnv": "X_KEY"},
        ("models", "mini"): {"provider": "a.b", "name": "m:1", "extra": {"a": {"b": [1, True]}}},
        ("workflowPaths",): ["~/more flows", "/srv"],
        ("plugins", "block"): [],
        ("defaultAgent",): "yes",
    }.items():
        text = with_value(text, path, value, file="f")
        assert compare(text), text


_VALUES = st.sampled_from([*READ, *LEFT, *["x", "[a]", '"q"', ""] * 25])
_KEYS = st.sampled_from([*"abcdefgh" * 6, "a.b", '"q k"', "'#'", "1", "null", "<<", "-", "a b"])
_SEPARATORS = st.sampled_from([": "] * 12 + [":", ":  ", " : ", ""])
_ENDS = st.sampled_from([""] * 12 + [" ", " # c", "#", "\t", "\r"])
_LINE = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["", "", "", "  ", "  ", "    ", " "]),
    _KEYS | st.sampled_from(["- ", "-  ", "-"]).map(lambda dash: dash + "\0"),
    _SEPARATORS,
    _VALUES,
    _ENDS,
).map(lambda line: line.replace("\0: ", "").replace("\0", ""))
_LINES = st.lists(_LINE | st.sampled_from(["", "  # c", "---"]), min_size=1, max_size=6)


@given(_LINES.map("\n".join))
@settings(max_examples=TEXTS)
def test_any_lines_are_read_as_by_pyyaml_or_not_at_all(text: str) -> None:
    compare(text)


@given(st.text("ab1 :-#\n'\"[]{},~\\&*!|>%@`?\té\x85", max_size=30))
@settings(max_examples=TEXTS)
def test_any_text_is_read_as_by_pyyaml_or_not_at_all(text: str) -> None:
    compare(text)
    compare(f"a: {text}")
    compare(f"a: [{text}]")
    compare(f"a: {{b: {text}}}")


def test_json_with_its_keys_apart_is_read_as_by_pyyaml() -> None:
    assert compare("a: " + json.dumps({"b": [1, 2.5, True, None, "x", {}], "c": {"d": "e: f"}}))
