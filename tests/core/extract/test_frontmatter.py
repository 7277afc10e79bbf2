"""From an agent's words to a typed output, or to what it has to correct."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.api.extract import Extractor, ExtractReply, ExtractRequest
from uwf_core.extract.frontmatter import FrontmatterExtractor
from uwf_core.extract.typed import SUSPEND_SCHEMA

CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

SCHEMA: dict[str, Any] = {
    "oneOf": [
        {"properties": {"$status": {"const": "approved"}}, "required": ["$status"]},
        {
            "properties": {
                "$status": {"const": "rejected"},
                "comments": {"type": "string"},
                "count": {"type": "integer"},
                "maybe": {"type": ["string", "null"]},
                "free": {},
                "level": {"enum": ["1", "2"]},
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"name": {"type": "string"}, "id": {"type": "number"}},
                        "required": ["name"],
                    },
                },
            },
            "required": ["$status", "comments"],
        },
    ]
}


def extract(raw: str, schema: dict[str, Any] = SCHEMA) -> ExtractReply:
    return FrontmatterExtractor().extract(ExtractRequest(raw=raw, schema=schema))


def errors(raw: str, schema: dict[str, Any] = SCHEMA) -> list[tuple[str, str]]:
    reply = extract(raw, schema)
    assert reply.output is None
    assert reply.errors
    return [(each.path, each.message) for each in reply.errors]


def rejected(fields: str) -> str:
    return f"---\n$status: rejected\ncomments: no\n{fields}\n---\n"


def test_it_is_an_extractor_by_the_public_contract() -> None:
    assert isinstance(FrontmatterExtractor(), Extractor)


def test_frontmatter_and_body_are_taken_apart() -> None:
    reply = extract("---\n$status: rejected\ncomments: Too long.\n---\n\nSee *below*.\n")
    assert reply.output == {"$status": "rejected", "comments": "Too long."}
    assert reply.body == "See *below*."
    assert reply.errors == ()
    assert reply.usage.turns == 0


@pytest.mark.parametrize("start", ["", "\n\n", "\ufeff", "\ufeff\n", " \t\n\r\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_blank_lines_and_a_byte_order_mark_may_come_first(start: str, newline: str) -> None:
    reply = extract(start + newline.join(("--- ", "$status: approved", "---\t", "Body.")))
    assert (reply.output, reply.body) == ({"$status": "approved"}, "Body.")


def test_the_body_keeps_later_lines_of_dashes() -> None:
    body = "One.\n\n---\n\n$status: rejected\n---\nTwo."
    assert extract(f"---\n$status: approved\n---\n{body}\n").body == body


def test_a_reply_may_end_with_its_frontmatter() -> None:
    assert extract("---\n$status: approved\n---").output == {"$status": "approved"}


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ("", "the reply is empty"),
        (" \n\ufeff", "begins with"),
        ("Here it is:\n---\n$status: approved\n---\n", "1 line is before the first `---` line"),
        ("A\nB\n---\n$status: approved\n---\n", "2 lines are before the first `---` line: 'A'"),
        ("```yaml\n---\n$status: approved\n---\n```\nMore.", "a code fence (```yaml)"),
        ("```\n---\n$status: approved\n---\n", "a code fence (```)"),
        ("```python\nprint()\n```", "a code fence (```python)"),
        (" ---\n$status: approved\n---\n", "not `---` alone at the left margin"),
        ("---- \n$status: approved\n---\n", "'----'"),
        ("--- yaml\n$status: approved\n---\n", "'--- yaml'"),
        ('{"$status": "approved"} and more', "begins with JSON"),
        ('[{"$status": "approved"}]', "begins with JSON"),
        ("All fine.", "begins with 'All fine.'"),
        ("---\n$status: approved\n", "a second line that is exactly `---`"),
        ("---\n$status: approved\n ---\n", "a second line that is exactly `---`"),
        ("---\n---\n", "holds nothing"),
        ("---\napproved\n---\n", "one text or a list"),
        ("---\n- $status: approved\n---\n", "one text or a list"),
    ],
)
def test_what_is_no_frontmatter_is_refused_by_what_was_found_instead(raw: str, found: str) -> None:
    ((path, message),) = errors(raw)
    assert path == "" and found in message


FENCES = [("```yaml\n", "\n```\n"), ("\n~~~~\n", "\n~~~~"), ("\ufeff```\r\n", "\n```  \n\n")]


@pytest.mark.parametrize("fence", FENCES)
@pytest.mark.parametrize(
    ("inner", "body", "noted"),
    [
        ("---\n$status: approved\n---\nFine.", "Fine.", "was in a code fence"),
        (
            "---\n$status: approved\n---\n```py\nx\n```\nFine.",
            "```py\nx\n```\nFine.",
            "a code fence",
        ),
        ('{"$status": "approved"}', "", "one JSON object in a code fence"),
        ('{\n  "$status": "approved", "_body": "Fine."\n}', "Fine.", "one JSON object"),
        ("$status: approved # yes", "", "fields without `---` lines in a code fence"),
    ],
)
def test_a_reply_in_one_fence_is_accepted_and_noted(
    fence: tuple[str, str], inner: str, body: str, noted: str
) -> None:
    reply = extract(inner.join(fence))
    assert (reply.output, reply.body) == ({"$status": "approved"}, body)
    (notice,) = reply.notices
    assert noted in notice


def test_one_bare_object_is_accepted_and_its_errors_name_fields() -> None:
    reply = extract(' \n{"$status": "rejected", "comments": "a # b \\ud83d\\ude00"}\n')
    assert reply.output == {"$status": "rejected", "comments": "a # b \U0001f600"}
    assert reply.notices == ("the reply was one JSON object",)
    assert errors('{"$status": "rejected"}')[0][0] == "comments"
    assert extract("---\n$status: approved\n---\n").notices == ()


def test_broken_yaml_is_named_by_the_line_of_the_reply() -> None:
    ((path, message),) = errors("\n---\n$status: rejected\ncomments: a: b\n---\n")
    assert path == "" and message.startswith("line 4, column 12: ")


def test_every_duplicate_key_is_named() -> None:
    found = errors("---\n$status: approved\n$status: rejected\n$status: x\n---\n")
    assert [message.split(":")[0] for _, message in found] == [
        "line 3, column 1",
        "line 4, column 1",
    ]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("aproved", ["'aproved'", "approved, rejected, $SUSPEND", "did you mean 'approved'?"]),
        ("APPROVED", ["did you mean 'approved'?"]),
        ("suspend", ["did you mean '$SUSPEND'?"]),
        ("42", ["'42'", "approved, rejected, $SUSPEND"]),
        ("", ["is missing", "approved, rejected, $SUSPEND"]),
        ("[approved]", ["list"]),
    ],
)
def test_a_wrong_status_lists_the_right_ones_and_the_nearest(status: str, words: list[str]) -> None:
    ((path, message),) = errors(f"---\n$status: {status}\n---\n")
    assert path == "$status"
    assert all(word in message for word in words), message


def test_a_missing_status_is_named() -> None:
    ((path, message),) = errors("---\ncomments: x\n---\n")
    assert path == "$status" and "is missing" in message


def test_a_status_that_looks_like_a_number_is_text() -> None:
    schema = {"properties": {"$status": {"const": "1.0"}}, "required": ["$status"]}
    assert extract("---\n$status: 1.0\n---\n", schema).output == {"$status": "1.0"}


def test_an_error_names_the_field_and_not_the_choice_of_variants() -> None:
    found = errors(
        "---\n$status: rejected\ncount: many\nitems: [{name: a}, {id: x}]\nlevel: 3\n---\n"
    )
    assert {path for path, _ in found} == {"comments", "count", "items.1", "items.1.id", "level"}
    assert not any("oneOf" in message for _, message in found)
    assert dict(found)["comments"] == "is missing; $status 'rejected' requires it"


def test_a_field_with_alternatives_is_told_by_the_nearest_one() -> None:
    either = {
        "anyOf": [
            {"type": "string"},
            {"type": "object", "properties": {"a.b": {"type": "integer"}}, "required": ["a.b"]},
        ]
    }
    schema = {"properties": {"$status": {"const": "x"}, "f": either}, "required": ["$status"]}
    assert errors("---\n$status: x\nf: {a.b: c}\n---\n", schema) == [
        ("f.a.b", '"c" is not of type "integer"')
    ]
    assert errors("---\n$status: x\nf: {}\n---\n", schema) == [
        ("f", '"a.b" is a required property')
    ]
    assert errors("---\n$status: x\nf: [1]\n---\n", schema) == [
        ("f", '[1] is not of type "string"')
    ]


def test_variants_that_share_a_status_are_told_by_the_nearest_one() -> None:
    def form(status: str, **fields: Any) -> dict[str, Any]:
        return {
            "properties": {"$status": {"const": status}, **fields},
            "required": ["$status", *fields],
        }

    number = {"type": "integer"}
    schema = {"oneOf": [form("no"), form("ok", a=number), form("ok", b=number)]}
    assert errors("---\n$status: ok\nb: x\n---\n", schema) == [
        ("b", '"x" is not of type "integer"')
    ]
    assert extract("---\n$status: ok\nb: 1\n---\n", schema).output == {"$status": "ok", "b": 1}


def test_keys_that_the_variant_does_not_know_are_dropped() -> None:
    reply = extract("---\n$status: approved\ncomments: 3\nmood: good\n_body: x\n---\n")
    assert reply.output == {"$status": "approved"}


def test_keys_that_the_schema_welcomes_are_kept() -> None:
    schema = {
        "properties": {"$status": {"const": "x"}},
        "required": ["$status"],
        "additionalProperties": {"type": "string"},
    }
    reply = extract("---\n$status: x\nversion: 1.0\n_body: x\n---\n", schema)
    assert reply.output == {"$status": "x", "version": "1.0"}


def test_a_required_key_without_a_schema_of_its_own_is_kept() -> None:
    schema = {"properties": {"$status": {"const": "x"}}, "required": ["$status", "any"]}
    assert extract("---\n$status: x\nany: 3\n---\n", schema).output == {"$status": "x", "any": 3}
    assert errors("---\n$status: x\n---\n", schema)[0][0] == "any"


@pytest.mark.parametrize(
    "text",
    ["1.0", "0123456", "1234567", "010", "true", "null", "~", "12:30", "2026-01-31", "1e3", ".nan"],
)
def test_where_only_text_is_allowed_the_source_text_is_taken(text: str) -> None:
    reply = extract(f"---\n$status: rejected\ncomments: {text}\nitems: [{{name: {text}}}]\n---\n")
    assert reply.output is not None, reply.errors
    assert reply.output["comments"] == text
    assert reply.output["items"] == [{"name": text}]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("maybe: 1.0", "1.0"),
        ("maybe: null", None),
        ("maybe:", None),
        ("level: 1", "1"),
        ("free: 1.0", 1),
        ("free: true", True),
        ("free: '1.0'", "1.0"),
        (
            "free: {a: [010, 1_000, 12:30, 2026-01-31, yes]}",
            {"a": ["010", "1_000", "12:30", "2026-01-31", "yes"]},
        ),
        ("count: 3.0", 3),
    ],
)
def test_elsewhere_values_are_typed_by_yaml_1_2(field: str, value: Any) -> None:
    reply = extract(rejected(field))
    assert reply.output is not None, reply.errors
    got = reply.output[field.split(":")[0]]
    assert got == value and type(got) is type(value)


def test_text_is_never_taken_for_a_number() -> None:
    assert errors(rejected("count: '3'")) == [("count", '"3" is not of type "integer"')]


@pytest.mark.parametrize(
    "number",
    [
        ".nan",
        ".inf",
        "-.inf",
        "1e999",
        "9007199254740992",
        "-9007199254740993",
        "9" * 400,
        "0x" + "f" * 300,
    ],
)
def test_numbers_that_json_cannot_say_are_corrections_with_their_place(number: str) -> None:
    ((path, message),) = errors(rejected(f"items: [{{name: a, id: {number}}}]"))
    assert path == "items.0.id"
    assert "number" in message


def test_several_unsayable_fields_are_named_at_once() -> None:
    assert [path for path, _ in errors(rejected("count: .nan\nfree: [.inf]"))] == [
        "count",
        "free.0",
    ]


def test_every_role_may_suspend_without_declaring_it() -> None:
    reply = extract("---\n$status: $SUSPEND\nreason: 42\nother: x\n---\nMore.")
    assert reply.output == {"$status": "$SUSPEND", "reason": "42"}
    assert reply.body == "More."


def test_a_suspension_may_carry_a_form() -> None:
    reply = extract("---\n$status: $SUSPEND\nreason: Which?\nform: {type: object}\n---\n")
    assert reply.output == {"$status": "$SUSPEND", "reason": "Which?", "form": {"type": "object"}}


@pytest.mark.parametrize(
    ("fields", "path"),
    [("", "reason"), ("reason: ' '", "reason"), ("reason: x\nform: 3", "form")],
)
def test_a_suspension_must_say_what_it_needs(fields: str, path: str) -> None:
    assert [each for each, _ in errors(f"---\n$status: $SUSPEND\n{fields}\n---\n")] == [path]


def test_the_suspend_schema_can_type_a_node() -> None:
    from uwf_core.cas.schemas import schema_problems

    assert schema_problems(dict(SUSPEND_SCHEMA)) == []


def test_a_local_reference_in_the_schema_is_followed() -> None:
    schema = {
        "$defs": {"name": {"type": "string"}},
        "properties": {"$status": {"const": "x"}, "who": {"$ref": "#/$defs/name"}},
        "required": ["$status", "who"],
    }
    assert extract("---\n$status: x\nwho: 007\n---\n", schema).output == {
        "$status": "x",
        "who": "007",
    }


def test_a_hostile_pattern_in_the_schema_does_not_hang() -> None:
    schema = {
        "properties": {"$status": {"const": "x"}, "a": {"type": "string", "pattern": "^(a+)+$"}},
        "required": ["$status"],
        "patternProperties": {"^(b+)+$": {"type": "string"}},
    }
    text = "a" * 5000 + "!"
    found = errors(f"---\n$status: x\na: {text}\n{'b' * 500}c: 1\n---\n", schema)
    assert [path for path, _ in found] == ["a"]


@pytest.mark.parametrize(
    "raw",
    [
        "---\n" + "[" * 60_000 + "\n---\n",
        "---\na: &a [x]\n" + "".join(f"b{i}: &b{i} [{'*a, ' * 9}*a]\n" for i in range(3)) + "---\n",
        "---\n" + "a: b\n" * 300_000 + "---\n",
        "---\n$status: !!python/object:os.system approved\n---\n",
        "---\n$status: approved\n\x00\n---\n",
        '---\n$status: "\\ud800"\n---\n',
        "---\n? [a]\n: b\n---\n",
        " \n" * 100_000 + "x",
        "---" + " " * 200_000 + "x",
    ],
)
def test_hostile_replies_are_corrections(raw: str) -> None:
    assert errors(raw)


PIECES = ["---", "\n", "$status: rejected\n", "comments: ", "items:\n", "- ", "  ", "{", "}", "["]
SIGNS = ["]", ": ", "&a ", "*a ", "<<: ", "!t ", "|\n", ">-\n", "'", '"', "\\u", "\ufeff", "\t"]
ODD = [".nan", "1e999", "99999999999999999999", "null", "#", "%", "\r\n", "\ud800", "```"]
YAMLISH = st.lists(st.sampled_from([*PIECES, *SIGNS, *ODD]) | st.text(max_size=3), max_size=25).map(
    "".join
)


@settings(CALM, max_examples=300)
@given(YAMLISH, st.booleans())
def test_extraction_never_raises_whatever_the_agent_says(text: str, within: bool) -> None:
    raw = f"---\n$status: rejected\n{text}\n---\n{text}" if within else text
    reply = extract(raw)
    assert (reply.output is None) == bool(reply.errors)
    if reply.output is not None:
        assert reply.output["$status"] in ("approved", "rejected", "$SUSPEND")
