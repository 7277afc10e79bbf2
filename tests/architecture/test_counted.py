"""The figures of `python -m benchmarks.size` count what their names say."""

from textwrap import dedent

import pytest

from benchmarks.size import figures, modules, repeated_classes, rooms
from sources import counted_modules

SOURCE = '''
    """A docstring."""

    import os  # a comment

    LIMIT = 3
    """An attribute's docstring
    of two lines.
    """
    TEXT = """three
    lines

    of data, one of them empty"""


    class Place:
        """A class."""

        # a comment
        def go(self):
            """Go."""
            import json

            def inner():
                import csv

            return (
                json, inner,
            )
'''


@pytest.fixture
def found(tmp_path):
    for place in ("uwf-one/src/one/room/a.py", "uwf-one/src/one/b.py", "uwf-two/src/two/c.py"):
        file = tmp_path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(SOURCE), encoding="utf-8")
    return modules(tmp_path)


def test_docstrings_comments_and_blank_lines_are_no_code(found):
    assert [each.code_lines for each in found] == [14, 14, 14]


def test_rooms_add_up_to_their_distribution(found):
    counted = {figure.name: figure.value for figure in rooms(found)}
    assert counted == {
        "all distributions": 42, "uwf-one": 28, "  /": 14, "  /room": 14, "uwf-two": 14,
    }  # fmt: skip


def test_a_class_name_is_repeated_only_within_its_distribution(found):
    assert {name: len(files) for name, files in repeated_classes(found).items()} == {
        "uwf-one Place": 2
    }


def test_each_import_inside_a_function_counts_once(found):
    assert [len(list(each.inner_imports())) for each in found] == [2, 2, 2]


def test_figures_cover_the_distributions_of_this_repository():
    shown = {figure.name: figure.value for figure in figures(counted_modules())}
    assert shown["core and testing"] > shown["step path"]
    assert shown["uwf-eval"] > 1_000
    assert 0 < shown["functions longer than 20 lines"] < 10
