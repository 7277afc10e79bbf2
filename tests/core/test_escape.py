"""Foreign text cannot drive the reader's terminal."""

import json
import sys
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.cli.render.colours import cells, fit
from uwf_core.cli.session import as_json
from uwf_core.escape import clean, clean_document, escaped, in_line, one_line
from uwf_core.yaml.source import parse_yaml
from uwf_core.yaml.text import yaml_text

TEXTS = st.text(alphabet=st.characters(codec=None), max_size=60)


@given(TEXTS)
def test_no_control_character_but_tab_and_line_feed_is_left(text):
    for letter in clean(text):
        assert letter in "\t\n" or unicodedata.category(letter) not in ("Cc", "Cs")
        assert unicodedata.bidirectional(letter) not in (
            *("LRE", "RLE", "LRO", "RLO", "PDF"),
            *("LRI", "RLI", "FSI", "PDI"),
        )


@given(st.dictionaries(TEXTS, TEXTS | st.lists(TEXTS)))
def test_data_on_a_terminal_hold_nothing_harmful_and_the_same_value(document):
    as_shown = escaped(as_json(document), is_yaml=False)
    assert clean(as_shown) == as_shown
    assert json.loads(as_shown) == json.loads(as_json(document))


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), max_size=20),
        st.text(st.characters(codec="utf-8"), max_size=60),
    )
)
def test_yaml_on_a_terminal_holds_nothing_harmful_and_the_same_value(document):
    as_shown = escaped(yaml_text(document), is_yaml=True)
    assert clean(as_shown) == as_shown
    assert (parse_yaml(as_shown, file="x") or {}) == document


@given(TEXTS)
def test_harmless_text_stays_as_it_is(text):
    if all(letter.isprintable() or letter == "\n" for letter in text):
        assert clean(text) == text


def test_no_character_of_all_unicode_leaves_its_line_or_reorders_it():
    """A list of names: no name adds a line, moves the cursor or turns text around."""
    for number in range(sys.maxunicode + 1):
        shown = in_line(f"a{chr(number)}b")
        assert len(shown.splitlines()) == 1, hex(number)
        assert shown.startswith("a"), hex(number)
        for letter in shown:
            assert unicodedata.category(letter) not in ("Cc", "Cs", "Zl", "Zp"), hex(number)
            assert unicodedata.bidirectional(letter) not in DIRECTIONS, hex(number)
            assert letter not in MARKS, hex(number)


DIRECTIONS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
MARKS = "\u061c\u200e\u200f"


@given(TEXTS)
def test_a_printable_name_stays_as_it_is(text):
    if text.isprintable():
        assert in_line(text) == text


def test_what_was_there_can_still_be_seen():
    assert clean("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m"
    assert clean("\x9b31m \u202eevil \u2066x") == "\\x9b31m \\u202eevil \\u2066x"
    assert clean("a\r\nb\rc") == "a\nb\\x0dc"
    assert clean("tag \U000e0041") == "tag \\U000e0041"


def test_a_document_is_cleaned_in_keys_and_depth():
    assert clean_document({"a\x07": [{"b": "\x1b]0;title\x07"}, 1, None]}) == {
        "a\\x07": [{"b": "\\x1b]0;title\\x07"}, 1, None]
    }


@given(TEXTS)
def test_one_line_is_one_line(text):
    assert "\n" not in one_line(text)
    assert "\t" not in one_line(text)


@settings(max_examples=60)
@given(st.text(max_size=30), st.integers(min_value=1, max_value=20))
def test_a_cut_text_is_never_wider_than_its_room(text, width):
    assert cells(fit(text, width)) <= max(width, 0)


def test_wide_and_combining_characters_count_as_the_cells_they_take():
    assert cells("日本") == 4
    assert cells("e\u0301") == 1
    assert fit("日本語", 4) == "日…"
