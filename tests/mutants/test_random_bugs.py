"""Bugs at random places: each can be planted, and who reaches a place is known."""

from pathlib import Path

from tests.mutants.at_random import Kept, Verdict, table
from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.mutant import ROOT, Copy
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


def test_only_bugs_of_the_wanted_kinds_are_planted() -> None:
    kinds = ("threshold", "durability")
    assert {bug.kind for bug in planted(20, 7, "uwf-core", kinds)} == set(kinds)


def test_a_verdict_is_asked_once_and_the_table_names_who_noticed(tmp_path: Path) -> None:
    first, second = planted(2, 7, BELOW)
    file = tmp_path / "results.jsonl"
    noticed = Verdict(first.kind, first.what, "yes", "tests/a.py::test_a", 3, 1.5)
    Kept(file).add(noticed)
    kept = Kept(file)
    assert (kept.get(first), kept.get(second)) == (noticed, None)
    missed = Verdict(second.kind, second.what, "NO", "", 60, 9.0)
    lines = list(table([noticed, missed], 7))
    assert lines[-2:] == [
        f"yes: {first.kind}: {first.what} (tests/a.py::test_a)",
        f"NO: {second.kind}: {second.what} (60 tests asked)",
    ]
    assert any(line.split()[:3] == ["uwf-core", "2", "1"] for line in lines)


def test_what_is_listed_as_no_bug_is_in_the_sources() -> None:
    for path, change in EQUIVALENT:
        source = " ".join((ROOT / path).read_text("utf-8").split())
        assert change.partition(" -> ")[0] in source, (path, change)


def test_the_tests_that_reach_a_place_are_found(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PYTEST_DEBUG_TEMPROOT", str(tmp_path))
    bugs = planted(12, 7, BELOW)
    tests = "tests/core/moderator/test_next.py"
    reach = read_reach(recorded(Copy(tmp_path / "copy"), bugs, [tests], 0))
    reached = [number for number in range(len(bugs)) if reach.nearest(number)]
    assert reached
    assert all(test.startswith(tests) for number in reached for test in reach.nearest(number))
