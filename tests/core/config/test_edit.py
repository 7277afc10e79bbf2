"""A value is set in the text of config.yaml, and nothing else of it changes."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from uwf_core.config.edit import with_value
from uwf_core.errors import ConfigError
from uwf_core.yaml.source import parse_yaml

TEXT = """\
# mine
agents:
    fast: {use: mock,  options: {script: "a.yaml"}}   # quick
    slow:   # careful
        use: human

# the models that I pay for
models:
    big: {provider: openai, name: "gpt-5"}
workflowPaths:
- a
- 'b'   # second
notes: |
  kept
  as it is

# end
"""


def edited(text: str, path: str, value: Any) -> str:
    return with_value(text, tuple(path.split(".")), value, file="f")


def test_a_scalar_is_replaced_and_nothing_else() -> None:
    assert edited(TEXT, "models.big.name", "gpt-6") == TEXT.replace('"gpt-5"', "gpt-6")


def test_a_key_is_added_at_the_end_of_its_own_block() -> None:
    """Above the comment that belongs to the next section."""
    expected = TEXT.replace(
        "        use: human\n", "        use: human\n    new:\n      use: x\n      args: [a, b]\n"
    )
    assert edited(TEXT, "agents.new", {"use": "x", "args": ["a", "b"]}) == expected


def test_a_key_is_added_within_braces() -> None:
    expected = TEXT.replace('"gpt-5"}', '"gpt-5", price: {input: 1.5}}')
    assert edited(TEXT, "models.big.price.input", 1.5) == expected


def test_a_top_level_key_is_added_at_the_end() -> None:
    expected = TEXT.replace("  as it is\n", "  as it is\nlimits:\n  runSeconds: 5\n")
    assert edited(TEXT, "limits.runSeconds", 5) == expected


def test_a_block_is_replaced_by_a_value_and_back() -> None:
    flat = edited(TEXT, "agents.slow", {})
    assert "    slow: {}\n" in flat
    again = edited(flat, "agents.slow", {"use": "human"})
    assert "    slow: {use: human}\n" in again


def test_a_list_is_replaced() -> None:
    """With the comments of its items."""
    assert "workflowPaths: [c]\nnotes:" in edited(TEXT, "workflowPaths", ["c"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["a", "b", "c d"], "- a\n- 'b'   # second\n- \"c d\"\n"),
        (["b"], "- 'b'   # second\n"),
        (["b", "c"], "- 'b'   # second\n- c\n"),
    ],
)
def test_the_items_that_stay_in_a_list_keep_their_lines_and_comments(
    value: list[str], expected: str
) -> None:
    new = TEXT.replace("- a\n- 'b'   # second\n", expected)
    assert edited(TEXT, "workflowPaths", value) == new


LIST = """\
a:  # why
  - b  # one
  # two follow
  - b  # two
  - c  # three
d: 1
"""


@pytest.mark.parametrize(
    ("value", "gone"),
    [
        (["b", "b", "c", "e"], ""),
        (["b", "b"], "  - c  # three\n"),
        (["b", "c"], "  - b  # two\n"),
        (["c"], "  - b  # one\n  - b  # two\n"),
    ],
)
def test_a_name_that_a_list_has_twice_is_two_lines(value: list[str], gone: str) -> None:
    expected = LIST
    for line in gone.splitlines(keepends=True):
        expected = expected.replace(line, "")
    expected = expected.replace("d: 1", "  - e\nd: 1") if "e" in value else expected
    assert edited(LIST, "a", value) == expected


@pytest.mark.parametrize(("value", "flow"), [([], "[]"), (["x"], "[x]")])
def test_the_comments_of_a_list_stay_when_all_of_its_items_go(value: list[str], flow: str) -> None:
    assert edited(LIST, "a", value) == f"a: {flow}  # why\n  # two follow\nd: 1\n"


@pytest.mark.parametrize("text", ["a: &x  # why\n- b\nc: 1\n", "a:\n-\n  b\nc: 1\n"])
def test_a_list_of_another_form_is_written_anew(text: str) -> None:
    assert parse_yaml(edited(text, "a", []), file="f") == {"a": [], "c": 1}


@pytest.mark.parametrize(
    ("path", "value"),
    [("workflowPaths", ["a", "b", "c"]), ("workflowPaths", []), ("agents.slow.args", ["x"]),
     ("models.new", {"name": "x", "provider": "y"}), ("limits.runSeconds", 5), ("notes", "a\nb")],
)  # fmt: skip
def test_a_file_with_windows_line_ends_keeps_them(path: str, value: Any) -> None:
    new = edited(TEXT.replace("\n", "\r\n"), path, value)
    assert new == edited(TEXT, path, value).replace("\n", "\r\n")
    assert new.count("\r") == new.count("\n")


@pytest.mark.parametrize("value", [["b", "a"], ["a", 1], ["c"], []])
def test_a_list_gets_other_items_or_another_order(value: list[Any]) -> None:
    assert parse_yaml(edited(TEXT, "workflowPaths", value), file="f")["workflowPaths"] == value


def test_an_item_is_added_to_a_list_at_the_end_of_a_file_without_a_line_end() -> None:
    assert edited("a:\n  - b", "a", ["b", "c"]) == "a:\n  - b\n  - c\n"


def test_a_block_text_is_replaced() -> None:
    assert edited(TEXT, "notes", "x") == TEXT.replace("|\n  kept\n  as it is\n", "x\n")


def test_setting_what_is_there_already_changes_no_character() -> None:
    assert edited(TEXT, "models.big.name", "gpt-5") == TEXT


@pytest.mark.parametrize("text", ["", "# only a comment\n", "# no line end", "---\n"])
def test_an_empty_file_gets_its_first_key(text: str) -> None:
    changed = edited(text, "agents.fast.use", "mock")
    assert changed.startswith(text)
    assert parse_yaml(changed, file="f") == {"agents": {"fast": {"use": "mock"}}}


@pytest.mark.parametrize("text", ["agents:\n", "agents: # none yet\nstore: x\n", "agents: ~\n"])
def test_an_empty_section_gets_its_first_entry(text: str) -> None:
    changed = edited(text, "agents.fast.use", "mock")
    assert parse_yaml(changed, file="f")["agents"] == {"fast": {"use": "mock"}}
    assert changed.splitlines()[0].startswith(text.splitlines()[0].rstrip("~ "))


@pytest.mark.parametrize("text", ["a: {}\n", "a: {b: 1,}\n", "a: {\n  b: 1, # c\n}\n", "{a: {}}"])
def test_braces_of_every_form_take_an_entry(text: str) -> None:
    assert parse_yaml(edited(text, "a.c", 2), file="f")["a"]["c"] == 2


@pytest.mark.parametrize(
    "value",
    ["yes", "no", "12", "1.0", "true", "null", "~", "", " x ", "a: b", "#x", "a #b", "-", "*a",
     "&a", "!t", "{", "[x", '"q"', "it's", "a\nb", "ü", "a:", ":a", "@x", "%x", "`x", "\t", "0o7",
     "\x85", "\u2028"],
)  # fmt: skip
def test_text_stays_the_text_that_it_is(value: str) -> None:
    for text in (TEXT, "defaultAgent: old # c\n", "{defaultAgent: old}\n", ""):
        assert parse_yaml(edited(text, "defaultAgent", value), file="f")["defaultAgent"] == value


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: &x {b: 1}\nc: *x\n", "c.b"),
        ("a: &x {b: 1}\nc: *x\n", "a.b"),
        ("a: &x 1\nc: *x\n", "a"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "a.b"),
    ],
)
def test_what_cannot_be_changed_alone_is_refused(text: str, path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        edited(text, path, 2)
    assert "by hand" in (caught.value.hint or "")


names = st.sampled_from(["a", "b", "c-d", "e.f", "g h", "1", "true", "ü"])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-99, 99),
    st.text(max_size=6),
    st.sampled_from(["x", "on"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@example(document={"a": "\xa0"}, path=("b",), value="\xa0", style=None)
@given(
    document=st.dictionaries(
        names, st.dictionaries(names, values, max_size=3) | scalars, max_size=4
    ),
    path=st.lists(names, min_size=1, max_size=3).map(tuple),
    value=values,
    style=st.sampled_from([True, False, None]),
)
def test_an_edit_does_exactly_what_was_asked_or_is_refused(
    document: dict[str, Any], path: tuple[str, ...], value: Any, style: bool | None
) -> None:
    """Refused is only what lies below a value that is no mapping."""
    import yaml

    text = yaml.safe_dump(document, default_flow_style=style, allow_unicode=True, sort_keys=False)
    before = json.dumps(parse_yaml(text, file="f"), sort_keys=True)
    try:
        changed = with_value(text, path, value, file="f")
    except ConfigError:
        above: Any = document
        for name in path[:-1]:
            above = above.get(name, {}) if isinstance(above, dict) else above
        assert not isinstance(above, dict) or "&id" in text
        return
    after = parse_yaml(changed, file="f")
    expected = json.loads(before)
    target = expected
    for name in path[:-1]:
        target[name] = target[name] if isinstance(target.get(name), dict) else {}
        target = target[name]
    target[path[-1]] = value
    assert json.dumps(after, sort_keys=True) == json.dumps(expected, sort_keys=True)
