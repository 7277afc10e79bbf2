"""Every rule of the Mustache specification that applies (comments, interpolation, inverted
sections, sections), one case or more each, and what is ours; the cases are in `cases.json`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from uwf_core.errors import DefinitionError
from uwf_core.workflow.template import (
    MAX_DEPTH,
    MAX_RENDERED,
    MAX_TAGS,
    TemplateError,
    TemplateName,
    parse,
    render,
)

CASES = json.loads((Path(__file__).parent / "cases.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['rule']}: {case['name']}")
def test_a_template_renders_as_the_specification_says(case: dict[str, Any]) -> None:
    assert render(case["template"], case["data"]) == case["expected"]


@pytest.mark.parametrize(
    ("text", "line", "column", "word"),
    [
        ("one\ntwo {{> header}}", 2, 5, "partials"),
        ("{{<layout}}{{/layout}}", 1, 1, "inheritance"),
        ("x\n\n  {{=<% %>=}}", 3, 3, "delimiters"),
        ("a {{open", 1, 3, "not closed"),
        ("a {{{open}} b", 1, 3, "not closed"),
        ("a {{! open", 1, 3, "not closed"),
        ("{{}}", 1, 1, "without a name"),
        ("{{# }}x{{/ }}", 1, 1, "without a name"),
        ("é {{two words}}", 1, 3, "'two words'"),
        ("{{a..b}}", 1, 1, "empty part"),
        ("{{.a}}", 1, 1, "empty part"),
        ('say {{"a":1}, {"b":2}}', 1, 5, "is not a valid name"),
        ("{{#a}}\n{{/b}}", 2, 1, "open section is 'a' (opened at 1:1)"),
        ("{{#a}}{{^b}}{{/a}}{{/b}}", 1, 13, "open section is 'b' (opened at 1:7)"),
        ("x{{/a}}", 1, 2, "no section is open"),
        ("{{#a}}x\n {{^b}}", 2, 2, "'b' is not closed"),
        ("{{#s}}" * (MAX_DEPTH + 1), 1, 6 * MAX_DEPTH + 1, "deeper than 64"),
        ("{{x}}" * (MAX_TAGS + 1), 1, 5 * MAX_TAGS + 1, "more than 2,000 tags"),
        ("{{" + "a." * MAX_DEPTH + "a}}", 1, 1, "more than 64 parts"),
    ],
)
def test_a_faulty_template_is_refused_with_its_place(
    text: str, line: int, column: int, word: str
) -> None:
    with pytest.raises(TemplateError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert word in caught.value.message
    assert isinstance(caught.value, DefinitionError)


def test_a_value_that_is_no_json_is_refused_with_the_place_of_its_tag() -> None:
    """There are no lambdas: a callable in the data is a fault, and is never called."""
    with pytest.raises(TemplateError) as caught:
        render("a\n b {{call}}", {"call": lambda: pytest.fail("called")})
    assert (caught.value.line, caught.value.column) == (2, 4)
    assert "'call'" in caught.value.message


def test_names_say_where_and_within_which_sections_they_are_used() -> None:
    template = parse("{{a.b}}\n{{#list}}\n  {{{.}}} {{^gone}}{{& c }}{{/gone}}\n{{/list}}{{! d }}")
    assert template.names() == [
        TemplateName(("a", "b"), (), 1, 1, "variable"),
        TemplateName(("list",), (), 2, 1, "section"),
        TemplateName((), (("list",),), 3, 3, "variable"),
        TemplateName(("gone",), (("list",),), 3, 11, "inverted"),
        TemplateName(("c",), (("list",),), 3, 20, "variable"),
    ]


def test_a_template_can_be_rendered_many_times() -> None:
    template = parse("{{#l}}{{.}}{{/l}}")
    assert [template.render({"l": [1]}), template.render({"l": [2, 3]})] == ["1", "23"]


@pytest.mark.parametrize(
    "template",
    [
        "{{#a}}{{#a}}{{#a}}{{.}}{{/a}}{{/a}}{{/a}}",
        "{{#a}}{{#a}}{{#a}}text{{/a}}{{/a}}{{/a}}",
        "{{#a}}{{#a}}{{#a}}{{missing}}{{/a}}{{/a}}{{/a}}",
        "{{#a}}{{#a}}{{#a}}{{#missing}}x{{/missing}}{{/a}}{{/a}}{{/a}}",
        "{{#a}}{{#a}}{{#a}}{{/a}}{{/a}}{{/a}}",
        "{{#a}}{{text}}{{/a}}",
    ],
)
def test_what_would_render_too_much_is_refused_while_it_renders(template: str) -> None:
    """700 items in three sections made 343 MB in 3 GB of memory."""
    data = {"a": list(range(700)), "text": "x" * 10_000}
    with pytest.raises(TemplateError, match="more than 1,000,000 characters rendered") as caught:
        render(template, data)
    assert caught.value.line == 1


def test_as_much_as_may_be_is_rendered() -> None:
    assert len(render("{{a}}", {"a": "x" * (MAX_RENDERED - 1)})) == MAX_RENDERED - 1
