"""Outputs that an agent delivers as a typed object obey the same rules as frontmatter."""

import datetime
from collections import UserDict
from importlib.metadata import entry_points
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.api.extract import ExtractorSpec
from uwf_core.extract import plugin
from uwf_core.extract.frontmatter import FrontmatterExtractor
from uwf_core.extract.typed import check_structured

SCHEMA: dict[str, Any] = {
    "oneOf": [
        {"properties": {"$status": {"const": "approved"}}, "required": ["$status"]},
        {
            "properties": {
                "$status": {"const": "rejected"},
                "comments": {"type": "string"},
                "count": {"type": "integer"},
            },
            "required": ["$status", "comments"],
        },
    ]
}


def refused(fields: Any) -> list[tuple[str, str]]:
    reply = check_structured(SCHEMA, fields)
    assert reply.output is None and reply.errors
    return [(each.path, each.message) for each in reply.errors]


def test_a_valid_object_is_the_output_and_has_no_body() -> None:
    reply = check_structured(SCHEMA, {"$status": "rejected", "comments": "No.", "count": 3.0})
    assert reply.output == {"$status": "rejected", "comments": "No.", "count": 3}
    assert type(reply.output["count"]) is int
    assert (reply.body, reply.errors) == ("", ())


def test_keys_outside_the_variant_are_dropped() -> None:
    fields = {"$status": "approved", "comments": 3, "_body": "x", 4: 5}
    assert check_structured(SCHEMA, fields).output == {"$status": "approved"}  # type: ignore[arg-type]


def test_any_mapping_will_do() -> None:
    assert check_structured(SCHEMA, UserDict({"$status": "approved"})).output == {
        "$status": "approved"
    }


@pytest.mark.parametrize(
    ("form", "path"),
    [({"type": "text"}, "form.type"), ({"pattern": r"\s|" * 1_500}, "form.pattern")],
)
def test_a_form_that_nobody_could_answer_is_a_fault_of_the_reply(form: Any, path: str) -> None:
    """A thread that waits for an answer by it would wait for ever."""
    fields = {"$status": "$SUSPEND", "reason": "Which?", "form": form}
    assert [path for path, _ in refused(fields)] == [path]


def test_every_role_may_suspend_by_an_object() -> None:
    fields = {"$status": "$SUSPEND", "reason": "Which?", "form": {"type": "object"}}
    assert check_structured(SCHEMA, fields).output == fields
    assert [path for path, _ in refused({"$status": "$SUSPEND"})] == ["reason"]


@pytest.mark.parametrize(
    ("fields", "path", "words"),
    [
        ({}, "$status", "is missing"),
        ({"$status": None}, "$status", "is missing"),
        (
            {"$status": 3},
            "$status",
            "must be text, not int; allowed: approved, rejected, $SUSPEND",
        ),
        ({"$status": "reject"}, "$status", "did you mean 'rejected'?"),
        ({"$status": "rejected"}, "comments", "is missing"),
        ({"$status": "rejected", "comments": 1.0}, "comments", 'not of type "string"'),
        ({"$status": "rejected", "comments": "x", "count": "3"}, "count", 'not of type "integer"'),
        ({"$status": "rejected", "comments": datetime.date(2026, 1, 1)}, "comments", "date"),
        ({"$status": "rejected", "comments": "x", "count": float("nan")}, "count", "nan"),
        ({"$status": "rejected", "comments": "x", "count": 2**60}, "count", "2^53-1"),
    ],
)
def test_what_is_wrong_is_named_by_its_field(fields: dict[str, Any], path: str, words: str) -> None:
    ((found, message),) = refused(fields)
    assert found == path and words in message


def test_an_object_nested_without_end_is_a_correction() -> None:
    fields: dict[str, Any] = {"$status": "rejected", "comments": "x"}
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    ((path, message),) = refused({**fields, "count": deep})
    assert path.startswith("count") and "deep" in message


def test_a_lone_surrogate_is_replaced_as_in_the_store() -> None:
    reply = check_structured(SCHEMA, {"$status": "rejected", "comments": "a\ud800b"})
    assert reply.output is not None and reply.output["comments"] == "a\ufffdb"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(["approved", "rejected", "$SUSPEND"]) | ANYTHING, ANYTHING, ANYTHING)
def test_no_object_raises_and_what_is_accepted_is_valid(
    status: Any, comments: Any, count: Any
) -> None:
    fields = {"$status": status, "comments": comments, "count": count, "reason": comments}
    reply = check_structured(SCHEMA, fields)
    assert (reply.output is None) == bool(reply.errors)
    if reply.output is not None and status == "rejected":
        assert isinstance(reply.output["comments"], str)
        assert isinstance(reply.output["count"], int)


def test_the_extractor_is_announced_as_a_plugin_and_made_as_agents_are() -> None:
    (spec,) = plugin.uwf_extractors()
    assert isinstance(spec, ExtractorSpec)
    assert spec.factory == f"{FrontmatterExtractor.__module__}:{FrontmatterExtractor.__name__}"
    FrontmatterExtractor(None, None)
    (entry,) = entry_points(group="uwf.extractors", name=spec.name)
    assert entry.value == plugin.__name__


@pytest.mark.parametrize(
    ("format_", "right", "wrong"),
    [
        ("date", "2026-01-31", "tomorrow"),
        ("date-time", "2026-01-31T12:00:00Z", "2026-01-31"),
        ("email", "me@example.org", "me"),
        ("uri", "https://example.org/", "example"),
        ("uuid", "00000000-0000-4000-8000-000000000000", "1"),
    ],
)
def test_a_text_must_have_the_format_of_its_field(format_: str, right: str, wrong: str) -> None:
    """The prompt shows the format, so it is not a mere remark."""
    field = {"type": "string", "format": format_}
    schema = {"properties": {"$status": {"const": "done"}, "x": field}, "required": ["$status"]}
    assert check_structured(schema, {"$status": "done", "x": right}).output
    (problem,) = check_structured(schema, {"$status": "done", "x": wrong}).errors
    assert problem.path == "x" and format_ in problem.message
    assert check_structured(schema, {"$status": "done"}).output
