"""Whatever an agent writes as a text is delivered as it stands, or rejected: never a part of it."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from uwf_core.api.extract import ExtractReply, ExtractRequest
from uwf_core.extract.frontmatter import FrontmatterExtractor

FIELDS: dict[str, Any] = {
    "$status": {"const": "done"},
    "text": {"type": "string"},
    "maybe": {"type": ["string", "null"]},
    "either": {"anyOf": [{"type": "integer"}, {"type": "string", "minLength": 1}]},
    "list": {"type": "array", "items": {"type": "string"}},
    "in": {"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "number"}}},
    "n": {"type": "integer"},
    "yes": {"type": "boolean"},
    "level": {"enum": ["low", "high", "C #", 3]},
    "numbers": {"type": "array", "items": {"type": "integer"}},
}
SCHEMA = {"properties": FIELDS, "required": ["$status"]}


def extract(fields: str, schema: Any = SCHEMA) -> ExtractReply:
    raw = f"---\n{fields}\n---\nThe body.\n"
    return FrontmatterExtractor().extract(ExtractRequest(raw=raw, schema=schema))


def delivered(fields: str) -> dict[str, Any]:
    """The output besides the status."""
    reply = extract(f"$status: done # all green: yes\n{fields}")
    assert reply.output is not None, reply.errors
    return {name: value for name, value in reply.output.items() if name != "$status"}


# The first sign of a plain text, and what may be in it. A colon ends a key, controls are no YAML.
_FIRST = st.characters(
    exclude_categories=["Cs", "Cc", "Z"], exclude_characters="[]{},&*!|>'\"%@`-?:\ufffe\uffff\ufeff"
)
_REST = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=":\ufffe\uffff\ufeff")
_SIGNS = st.sampled_from([" #", "#", " #4", "\t# ", "  ", "\u2028", "\x85", "\ue000", " &a", " -"])
PLAIN = st.builds(
    lambda first, rest: (first + "".join(rest)).strip(" \t"),
    _FIRST,
    st.lists(_REST | _SIGNS, max_size=12),
)
IN_BRACKETS = PLAIN.filter(lambda text: not set(text) & set("[]{},"))


@given(PLAIN)
@example("Closes #42 and adds 3 tests")
@example("#42 is fixed")
@example("null # nothing")
@example("3 # three")
def test_a_text_without_quotes_is_taken_to_its_end_wherever_it_is(text: str) -> None:
    assert delivered(f"text: {text}\nn: 1") == {"text": text, "n": 1}
    assert delivered(f"text: {text}  \r\nn: 1\r") == {"text": text, "n": 1}
    assert delivered(f"list:\n- {text}\n-   {text}\n") == {"list": [text, text]}
    assert delivered(f"in:\n  text: {text}\n  n: 2\nn: 1") == {"in": {"text": text, "n": 2}, "n": 1}
    if "#" in text:
        assert delivered(f"maybe: {text}\neither: {text}") == {"maybe": text, "either": text}
    reply = extract(f"$status: $SUSPEND # a person\nreason: {text}")
    assert reply.output == {"$status": "$SUSPEND", "reason": text}


@given(IN_BRACKETS)
@example("#42")
@example("Closes #42")
def test_a_text_in_brackets_is_taken_to_its_end(text: str) -> None:
    assert delivered(f"list: [{text}, {text}]\nn: 1") == {"list": [text, text], "n": 1}
    assert delivered(f"in: {{text: {text}, n: 2}}") == {"in": {"text": text, "n": 2}}
    reply = extract(f"{{$status: done, text: {text}}}")
    assert reply.output == {"$status": "done", "text": text}


@given(st.lists(IN_BRACKETS | st.integers(0, 99).map("#{}".format), min_size=1, max_size=4))
@example(["#1"])
@example(["#1", "#2"])
def test_a_list_in_brackets_may_have_a_line_for_each_item(items: list[str]) -> None:
    for end in ("", ","):
        written = ",\n  ".join(items) + end
        found = delivered(f"list: [\n  {written}\n]\nn: 1")
        assert found["n"] == 1
        # `# words` alone on its line stays a comment.
        kept = [
            text for text in items if not text.startswith(("# ", "#\t")) or text in found["list"]
        ]
        assert [text for text in found["list"] if text in kept] == kept


@given(st.lists(PLAIN, min_size=1, max_size=4))
@example(["fix #1", "and #2"])
@example(["#1", "#2"])
@example(["#1", "more"])
def test_a_text_over_several_lines_has_all_of_them(lines: list[str]) -> None:
    lines = [line for line in lines if line.strip()]
    below = "".join(f"  {line}\n" for line in lines)
    assert delivered(f"text:\n{below}n: 1")["text"] == " ".join(lines)
    assert delivered(f"text: {below.lstrip()}n: 1")["text"] == " ".join(lines)
    assert delivered(f"list:\n- {below.lstrip()}- x") == {"list": [" ".join(lines), "x"]}


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=12))
@example("&foo bar")
@example("*foo")
@example("| # x")
@example('"a" # a comment')
def test_any_line_is_taken_whole_or_read_as_yaml_or_rejected(text: str) -> None:
    reply = extract(f"$status: done\ntext: {text}\nn: 1")
    if reply.output is None:
        assert reply.errors
        return
    assert reply.output["n"] == 1
    got, written = reply.output["text"], text.strip(" \t")
    if got != written:  # quotes and block texts mean what YAML says
        assert written[:1] in ("'", '"', "|", ">")
        if "\x85" not in text and "\u2028" not in text and "\u2029" not in text:
            assert got == yaml.safe_load(f"text: {text}\nn: 1")["text"]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
@example("\U0001f600")
@example("\\ud83d\\ude00 \\")
def test_fields_as_json_or_as_yaml_round_trip_over_all_of_unicode(text: str) -> None:
    value = {"$status": "done", "text": text, "list": [text, ""], "in": {"text": text}}
    for written in (
        json.dumps(value),
        json.dumps(value, indent=2),
        "\n".join(f"{name}: {json.dumps(each)}" for name, each in value.items()),
    ):
        assert extract(written).output == value
    # A writer of YAML folds long lines, and escapes what YAML does not allow.
    assert extract(yaml.safe_dump(value, width=20)).output == value


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ("n: 5 # five: yes", {"n": 5}),
        ("n: # number\n  5", {"n": 5}),
        ("n:\n  # number\n  5 #", {"n": 5}),
        ("yes: true # it's so", {"yes": True}),
        ("level: low # for now #2", {"level": "low"}),
        ("level: C #", {"level": "C #"}),
        ("level: 3 # highest", {"level": 3}),
        ("in:\n  n: 1.5 # x\n  text: y #1\n  # own line", {"in": {"n": 1.5, "text": "y #1"}}),
        ("numbers: [1, # one\n  2] # two", {"numbers": [1, 2]}),
        ("numbers:\n- 1 # one\n# two\n- 2\n  # three", {"numbers": [1, 2]}),
        ("numbers: [\n  #one\n  1,\n  #two\n]", {"numbers": [1]}),
        ("list: [\n  # nothing yet\n]", {"list": []}),
        ("list: ['a', #first\n  'b' #second\n]", {"list": ["a", "b"]}),
        ("list: [a, #see [x]\n  b]", {"list": ["a", "b"]}),
        ("in: # details\n  n: 1", {"in": {"n": 1}}),
        ("list: # all\n- a\n# no item\n- b", {"list": ["a", "b"]}),
        ("# first\ntext: hi\n# last", {"text": "hi"}),
        ("text: 'a' # quoted", {"text": "a"}),
        ('text: "a # b" # quoted', {"text": "a # b"}),
        ("text: |- # block\n  a #1\n  b\n# last", {"text": "a #1\nb"}),
        ("maybe: # nothing\n  null", {"maybe": "# nothing null"}),
        ("text: &x a #1\nmaybe: *x", {"text": "a #1", "maybe": "a #1"}),
    ],
)
def test_a_comment_behind_a_value_that_is_no_free_text_is_dropped(
    fields: str, value: dict[str, Any]
) -> None:
    assert delivered(fields) == value


@pytest.mark.parametrize("fields", ["n: 5 apples # five", "level: lo # low", "yes: truer # so"])
def test_a_value_that_does_not_fit_without_its_comment_is_an_error(fields: str) -> None:
    reply = extract(f"$status: done\n{fields}")
    assert reply.output is None
    assert [each.path for each in reply.errors] == [fields.split(":")[0]]


def test_many_comments_are_read_in_a_bounded_time() -> None:
    many = "\n".join(f"  line #{number}" for number in range(5_000))
    assert str(delivered(f"text:\n{many}\nn: 1")["text"]).count("#") == 5_000
    refs = ", ".join(f"#{number}" for number in range(5_000))
    assert len(delivered(f"list: [{refs}]")["list"]) == 5_000
