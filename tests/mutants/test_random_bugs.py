"""Bugs at random places: each can be planted, and who reaches a place is known."""

from pathlib import Path

from tests.mutants.mutant import Copy
from tests.mutants.random_bug import planted
from tests.mutants.reach import read_reach, recorded

BELOW = "uwf-core/src/uwf_core/moderator/"


def test_a_seed_names_the_same_bugs_each_time_and_each_changes_a_program() -> None:
    bugs = planted(25, 7, BELOW)
    assert bugs == planted(25, 7, BELOW) != planted(25, 8, BELOW)
    assert len({(bug.path, bug.start) for bug in bugs}) == len(bugs) == 25
    assert len({bug.kind for bug in bugs}) >= 4
    for bug in bugs:
        compile(bug.edited(), bug.path, "exec")
        assert bug.edited() != Path(bug.path).read_text("utf-8"), bug.what


def test_the_tests_that_reach_a_place_are_found(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PYTEST_DEBUG_TEMPROOT", str(tmp_path))
    bugs = planted(6, 7, BELOW)
    tests = "tests/core/moderator/test_next.py"
    reach = read_reach(recorded(Copy(tmp_path / "copy"), bugs, [tests], 0))
    reached = [number for number in range(len(bugs)) if reach.nearest(number)]
    assert reached
    assert all(test.startswith(tests) for number in reached for test in reach.nearest(number))
