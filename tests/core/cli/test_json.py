"""Documents as JSON."""

import json

import pytest

from uwf_core.cli.session import MANY, as_json

ROW = {"name": "grün", "none": None, "inner": {"list": [1, 2]}}


@pytest.mark.parametrize("rows", [0, 1, MANY, MANY + 1, 3 * MANY])
@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("compact", [False, True])
def test_a_document_is_the_same_however_it_is_laid_out(rows, ascii_only, compact):
    document = {"rows": [ROW] * rows, "count": rows, "näme": {"a": [None]}}
    text = as_json(document, ascii_only=ascii_only, compact=compact)
    assert json.loads(text) == document
    assert text.isascii() or not ascii_only


def test_many_rows_stand_on_a_line_each():
    lines = as_json({"rows": [ROW] * (MANY + 1)}).splitlines()
    assert len(lines) == MANY + 1 + 4
    assert json.loads(lines[2].rstrip(",")) == ROW
