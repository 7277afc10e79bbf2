"""`reflect` finds planted defects in simulated histories, and few others."""

import sys
from pathlib import Path

import pytest
from tests.forms import form

from uwf_core.testing.project import Project
from uwf_improve.history.read import read_histories
from uwf_improve.reflect.reflection import reflect

sys.path.insert(0, str(Path(__file__).parent))
from planted_histories import DEFECTS, Office

SEEDS = form(short=[1], long=[1, 2, 3, 4, 5])
TRIED = form(short=["approves", "asks", "rejects"], long=sorted(DEFECTS))
"""README.md has the table of the long form."""


def found_in(tmp_path: Path, defect: str | None, seed: int) -> list[tuple[str, str]]:
    with Office(Project(tmp_path), defect, seed).run() as client:
        seen = reflect(read_histories(client, "letter"))
        for each in seen.findings:
            assert each.steps and all(client.step(step)["step"] == step for step in each.steps)
            assert each.count <= each.of
        assert [each.number for each in seen.findings] == [*range(1, len(seen.findings) + 1)]
    return [(each.kind, each.place) for each in seen.findings]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("defect", TRIED)
def test_a_planted_defect_is_found_with_the_steps_that_show_it(tmp_path, defect, seed):
    found = found_in(tmp_path, defect, seed)
    assert DEFECTS[defect] in found
    assert len(found) <= 3, found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sound_workflow_has_at_most_one_finding(tmp_path, seed):
    assert len(found_in(tmp_path, None, seed)) <= 1
