"""The table in uwf-core/README.md, engine/step.py and the folders are one and the same thing."""

import ast
import re
from typing import NamedTuple

import pytest

from sources import CORE, ROOT, tree

README = ROOT / "uwf-core" / "README.md"
STEP = CORE / "engine" / "step.py"
FIRST_STAGE_OF_A_STEP = 5  # what comes before belongs to `workflow add` and `thread start`
PURE = {"moderate", "prompt", "extract"}


class Stage(NamedTuple):
    """A row of the table."""

    number: int
    name: str
    rooms: tuple[str, ...]


def rows(heading: str) -> list[list[str]]:
    """The cells of the table that begins with `heading`, without its two first lines."""
    lines = README.read_text(encoding="utf-8").splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith(heading))
    table = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return table


def stages() -> list[Stage]:
    return [
        Stage(int(cells[0]), cells[1], tuple(re.findall(r"`(\w+)/`", cells[3])))
        for cells in rows("| # | stage |")
    ]


def other_rooms() -> set[str]:
    return {
        name for cells in rows("| where | what") for name in re.findall(r"`([\w.]+)/?`", cells[0])
    }


def calls_in_order(function: ast.FunctionDef) -> list[str]:
    """The names that a function calls, as they stand in its source."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    calls.sort(key=lambda node: (node.func.end_lineno or 0, node.func.end_col_offset or 0))
    return [ast.unparse(node.func).rsplit(".", 1)[-1] for node in calls]


def test_the_table_counts_from_one_without_a_gap():
    assert [stage.number for stage in stages()] == list(range(1, len(stages()) + 1))
    assert len(stages()) == 11


@pytest.mark.parametrize("stage", stages(), ids=lambda stage: stage.name)
def test_every_stage_is_a_folder(stage):
    assert stage.rooms
    for room in stage.rooms:
        assert (CORE / room / "__init__.py").is_file()


def test_every_folder_is_a_stage_or_one_of_the_other_rooms():
    named = {room for stage in stages() for room in stage.rooms} | other_rooms()
    there = {path.parent.name for path in CORE.glob("*/__init__.py")}
    there |= {path.stem for path in CORE.glob("*.py")} - {"__init__", "__main__"}
    assert there == named


def test_run_step_reads_like_the_table():
    """`run_step` calls one function per stage, in the order of the table."""
    functions = {node.name: node for node in tree(STEP).body if isinstance(node, ast.FunctionDef)}
    called = calls_in_order(functions["run_step"])
    wanted = [stage.name for stage in stages() if stage.number >= FIRST_STAGE_OF_A_STEP]
    assert [name for name in called if name in wanted] == wanted
