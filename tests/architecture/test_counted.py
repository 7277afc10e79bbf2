"""The figures of `python -m benchmarks.size` count what their names say."""

from textwrap import dedent

import pytest

from benchmarks import doors
from benchmarks.size import figures, grown, modules, repeated_classes, rooms, sums, texts
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


def test_a_room_that_has_grown_is_named_with_what_it_may_have(found):
    now = sums(found)
    assert grown(now, now) == []
    lines, expressions = now["uwf-one/room"]
    allowed = {**now, "uwf-one/room": [lines - 2, expressions]}
    assert grown(now, allowed) == [
        "uwf-one: 28 lines of code, 2 more than the recorded 26",
        "uwf-one/room: 14 lines of code, 2 more than the recorded 12",
    ]


def test_a_denser_line_is_no_saving(tmp_path):
    file = tmp_path / "uwf-one/src/one/a.py"
    file.parent.mkdir(parents=True)
    file.write_text("a = f(1)\nb = g(a)\n")
    before = sums(modules(tmp_path))
    file.write_text("a = f(1); b = g(a)\n")
    after = sums(modules(tmp_path))
    assert (before["uwf-one/"], after["uwf-one/"]) == ([2, 2], [1, 2])


def test_templates_and_sql_are_counted_too(tmp_path):
    for name in ("page.html", "schema.sql", "py.typed"):
        (tmp_path / "uwf-one/src/one/room").mkdir(parents=True, exist_ok=True)
        (tmp_path / "uwf-one/src/one/room" / name).write_text("one\n\ntwo\n")
    assert sums(texts(tmp_path)) == {"uwf-one/room": [4, 0]}


def test_a_name_that_is_taken_from_behind_a_door_is_counted_once(tmp_path):
    text = "from uwf_core.engine.step import Step\nimport uwf_core.client\nimport json\n"
    for name in ("a", "b"):
        file = tmp_path / f"uwf-eval/src/uwf_eval/{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    found = modules(tmp_path)
    assert doors.through_walls(found) == {("uwf-eval", "uwf-core"): {"uwf_core.engine.step.Step"}}
    assert sum(doors.tests_of_internals(found).values()) == 6


def test_figures_cover_the_distributions_of_this_repository():
    found = counted_modules()
    assert sum(values[0] for values in sums(found).values()) > 50_000
    shown = {figure.name: figure.value for figure in figures(found)}
    assert 0 < shown["functions longer than 20 lines"] < 10
