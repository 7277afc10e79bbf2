"""Names of every language, and those that people can take for each other."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from uwf_core.fields.mismatch import LONGEST_NAME, name_fault
from uwf_core.workflow.structure import check_look_alike
from uwf_core.yaml.problem import Place

PLACE = Place("f", 1, 1)
NAMES = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12)


@given(NAMES)
@example("größe")
@example("プリンター")
@example("_x.y-z")
def test_a_name_of_letters_and_digits_is_valid_in_its_normal_form(name: str) -> None:
    normal = unicodedata.normalize("NFC", name)
    short = len(normal.encode()) <= LONGEST_NAME
    if all(each.isalnum() for each in normal):
        assert (name_fault(normal) is None) is short
    if normal != name and short and all(each.isalnum() for each in name):
        assert "NFC" in str(name_fault(name))


@pytest.mark.parametrize("name", ["", "-a", ".a", "a b", "a/b", "a\n", "$x", "a\u202eb", "é" * 51])
def test_anything_else_is_no_name(name: str) -> None:
    assert name_fault(name) is not None


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("done", "Done", True),
        ("ﬁn", "fin", True),
        ("writer", "wrіter", True),
        ("paper", "рареr", True),
        ("größe", "grösse", True),
        ("test", "теst", True),
        ("HALT", "НАLТ", True),
        ("step1", "stepl", True),
        ("v0", "vO", True),
        ("done", "dome", False),
        ("done", "done", False),
    ],
)
def test_names_that_look_alike_are_reported_once(one: str, other: str, alike: bool) -> None:
    found = [*check_look_alike([(one, PLACE), (other, PLACE)], "role")]
    assert [each.code for each in found] == ["names-look-alike"] * alike
