"""What a reader of a page sees is what Python passed, also in figures and odd characters."""

import pytest

from uwf_core.markup import tag, text


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [("\x1b", "\\x1b"), ("\u202e", "\\u202e"), ("\U000e0041", "\\U000e0041")],
)
def test_an_invisible_character_is_shown_as_python_writes_it(hidden: str, shown: str):
    assert text(f"a{hidden}b") == f"a{shown}b"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.126, "0.13"), (2.0, "2"), (0.0, "0"), (10.0, "10"), (10, "10"), (0.5, "0.5")],
)
def test_a_figure_in_an_attribute_has_no_more_digits_than_a_plot_needs(value: float, shown: str):
    assert tag("rect", x=value) == f'<rect x="{shown}"></rect>'
