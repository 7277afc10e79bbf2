"""Whatever the template and the data: no character comes from anywhere else."""

import json
from typing import Any

import chevron
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.workflow.template import TemplateError, parse, render

CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=150)

# What data may hold: anything, and above all what a template engine would stumble over.
NASTY = st.sampled_from(
    ["{{a}}", "{{{a}}}", "}}", "{{", "{{!", "{{#a}}", "&<>\"'", "\r\n", "---", "{{>x}}"]
)
TEXTS = st.lists(NASTY | st.text(max_size=5), max_size=3).map("".join)
NAMES = st.sampled_from(["a", "b", "$status", "_body", "long-name"])
PLAIN = st.text("xyz <&>é\n\t\"'", max_size=6)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@CALM
@given(
    st.lists(
        st.tuples(PLAIN, NAMES, st.sampled_from(["{{%s}}", "{{{%s}}}", "{{& %s }}"])), max_size=5
    ),
    st.dictionaries(NAMES, TEXTS),
    PLAIN,
)
def test_every_character_comes_from_the_template_or_the_data(
    pieces: list[tuple[str, str, str]], data: dict[str, str], end: str
) -> None:
    template = "".join(text + form % name for text, name, form in pieces) + end
    expected = "".join(text + data.get(name, "") for text, name, _ in pieces) + end
    assert render(template, data) == expected


@CALM
@given(st.lists(JSON, max_size=4), TEXTS)
def test_a_section_repeats_for_each_item_and_reads_nothing_twice(
    items: list[Any], outer: str
) -> None:
    def shown(item: Any) -> str:
        return item if isinstance(item, str) else "" if item is None else render("{{.}}", item)

    data = {"items": [{"it": item} for item in items], "outer": outer}
    assert render("{{#items}}<{{it}}|{{outer}}>{{/items}}", data) == "".join(
        f"<{shown(item)}|{outer}>" for item in items
    )


@CALM
@given(JSON)
def test_what_is_not_a_text_renders_as_json_of_the_same_value(value: Any) -> None:
    text = render("{{v}}", {"v": value})
    if value is None or isinstance(value, str):
        assert text == (value or "")
    else:
        assert json.loads(text) == value


@CALM
@given(st.text("{}#^/!&>= .ab\n", max_size=25) | st.text(max_size=20), JSON)
def test_any_text_is_a_template_or_a_fault_with_a_place_within_it(text: str, data: Any) -> None:
    try:
        template = parse(text)
    except TemplateError as error:
        lines = text.split("\n")
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1])
    else:
        assert isinstance(template.render(data), str)


# Where chevron agrees by design: no falsy items in lists, no attributes, {{{ }}} for escaping,
# sections alone on their lines or not, mappings that are not empty, no `{{^l}}` over a list that
# is not empty (chevron 0.14 then loses count of its scopes). `b` is always missing.
OPENINGS = st.sampled_from(["#a", "#b", "#c", "#l", "^a", "^b", "^c"])
AGREED = st.deferred(lambda: st.lists(AGREED_PIECE, max_size=4).map("".join))
AGREED_PIECE: st.SearchStrategy[str] = st.one_of(
    st.text("xy \n", min_size=1, max_size=4),
    st.sampled_from(["{{{a}}}", "{{&b}}", "{{{ c.d }}}", "{{! gone }}", "\n{{! alone }}\n"]),
    st.tuples(OPENINGS, AGREED).map(
        lambda part: "{{" + part[0] + "}}" + part[1] + "{{/" + part[0][1] + "}}"
    ),
    st.tuples(OPENINGS, AGREED).map(
        lambda part: "\n  {{" + part[0] + "}}\n" + part[1] + "\n{{/" + part[0][1] + "}}\n"
    ),
)
AGREED_DATA = st.fixed_dictionaries(
    {},
    optional={
        "a": st.text("pq<&", min_size=1, max_size=3) | st.integers(1, 99) | st.just(""),
        "c": st.fixed_dictionaries({"d": st.text("rs", max_size=2)}),
        "l": st.lists(
            st.fixed_dictionaries({"a": st.text("tu", min_size=1, max_size=2)}), max_size=2
        ),
    },
)


@CALM
@given(AGREED, AGREED_DATA)
def test_chevron_renders_the_same_where_both_follow_the_specification(
    template: str, data: dict[str, Any]
) -> None:
    # Known fault of chevron 0.14: it keeps the blanks behind a standalone tag that ends the
    # template without a newline, so that every template here ends with one.
    assert render(f"{template}\n", data) == chevron.render(f"{template}\n", data)


def test_blanks_behind_a_standalone_tag_at_the_end_of_a_template_go_with_it() -> None:
    """What chevron gets wrong, and so cannot be compared with: a rule of the specification."""
    assert render("x\n{{#a}}\ny\n{{/a}}  ", {"a": "1"}) == "x\ny\n"
    assert render("x\n  {{! gone }}  ", {}) == "x\n"
