"""`{{#name?}}` shows its text for whatever is present."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.workflow.checking import check_text

from uwf_core.workflow.template import render

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-1, 1) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
ASKED = "{{#x?}}x={{x}}{{/x?}}{{^x?}}none{{/x?}}"


@given(VALUES)
def test_a_value_is_shown_unless_it_is_missing_or_null(value: Any) -> None:
    shown = "none" if value is None else "x=" + render("{{x}}", {"x": value})
    assert render(ASKED, {"x": value}) == shown
    assert render(ASKED.replace("x", "a.x"), {"a": {"x": value}}) == shown.replace("x=", "a.x=")
    assert render(ASKED, {}) == "none"
    assert render(ASKED.replace("x", "l.0"), {"l": []}) == "none"


def test_a_field_of_that_very_name_comes_first() -> None:
    assert render("{{#x?}}{{x?}}{{/x?}}", {"x?": "own", "x": None}) == "own"


WORKFLOW = """\
version: 1
name: count
roles:
  tester:
    goal: Test.
    frontmatter:
      properties: {$status: {const: done}, found: SCHEMA}
      required: [$status]
graph:
  $START:
    new: {role: tester, prompt: Test.}
    resume: {role: tester, prompt: Test again.}
  tester: {done: {role: $END, prompt: "PROMPT"}}
"""


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ("{type: integer}", 0),
        ("{type: number}", 0.0),
        ("{type: boolean}", False),
        ("{type: string}", ""),
        ("{type: [integer, 'null']}", 0),
        ("{}", 0),
    ],
)
def test_the_form_that_the_check_suggests_shows_what_is_present(schema: str, value: Any) -> None:
    written = WORKFLOW.replace("SCHEMA", schema)
    (warning,) = check_text(written.replace("PROMPT", "found {{found}}"), "count.yaml").problems
    begin = warning.hint.index("{{#")
    opening = warning.hint[begin : warning.hint.index("}}", begin) + 2]
    section = f"{opening}found {{{{found}}}}{opening.replace('#', '/')}"
    checked = check_text(written.replace("PROMPT", f"Done. {section}"), "count.yaml")
    assert checked.problems == []
    text = "" if value == "" else json.dumps(int(value) if type(value) is float else value)
    assert render(section, {"found": value}) == f"found {text}"
    assert render(section, {}) == ""
