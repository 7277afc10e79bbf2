"""The table in uwf-core/README.md, engine/step.py and the folders are one and the same thing."""

import ast
import re
from typing import NamedTuple

import pytest

from sources import CORE, ROOT, tree

README = ROOT / "uwf-core" / "README.md"
STEP = CORE / "engine" / "step.py"
FIRST_STAGE_OF_A_STEP = 5  # what comes before belongs to `workflow add` and `thread start`


class Stage(NamedTuple):
    """A row of the table."""

    number: int
    name: str
    rooms: tuple[str, ...]
    file: str

    @property
    def function(self) -> str:
        return self.name.replace(" ", "_")


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
    found = []
    for number, name, _, places, *_ in rows("| # | stage |"):
        rooms = re.findall(r"`(\w+)/", places)
        found.append(Stage(int(number), name, tuple(rooms), places.split("`")[1]))
    return found


def other_rooms() -> set[str]:
    """The rooms and modules of the second table, without `.py`."""
    cells = [row[0] for row in rows("| path | contents")]
    found = [name for cell in cells for name in re.findall(r"`([\w.]+)/?`", cell)]
    return {name.removesuffix(".py") for name in found}


def stages_of_run_step() -> list[tuple[int, set[str]]]:
    """The numbers that stand behind the lines of `run_step`, each with what its line calls."""
    source = STEP.read_text(encoding="utf-8")
    function = next(
        node
        for node in tree(STEP).body
        if isinstance(node, ast.FunctionDef) and node.name == "run_step"
    )
    calls: dict[int, set[str]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rsplit(".", 1)[-1]
            calls.setdefault(node.lineno, set()).add(name)
    return [
        (int(mark[1]), calls.get(number, set()))
        for number, line in enumerate(source.splitlines(), start=1)
        if function.lineno <= number <= (function.end_lineno or 0)
        and (mark := re.search(r"# (\d+)$", line))
    ]


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
    """`run_step` has one line per stage, in the order of the table, that calls it by its name."""
    wanted = [stage for stage in stages() if stage.number >= FIRST_STAGE_OF_A_STEP]
    there = stages_of_run_step()
    assert [number for number, _ in there] == [stage.number for stage in wanted]
    for stage, (_, called) in zip(wanted, there, strict=True):
        assert stage.function in called, f"{stage.number} {stage.name}"


def test_a_stage_exists_once_under_its_own_name_in_the_file_of_the_table():
    wanted = [stage for stage in stages() if stage.number >= FIRST_STAGE_OF_A_STEP]
    rooms = {room for stage in wanted for room in stage.rooms}
    found: dict[str, list[str]] = {stage.function: [] for stage in wanted}
    for room in rooms:
        for path in (CORE / room).rglob("*.py"):
            for node in tree(path).body:
                if isinstance(node, ast.FunctionDef) and node.name in found:
                    found[node.name].append(path.relative_to(CORE).as_posix())
    assert found == {stage.function: [stage.file] for stage in wanted}
