"""Every planted bug can still be planted, and a bug that nobody sees makes the run red.

`nox -s mutants` runs them all; here it is a few of the quick ones.
"""

import re

import pytest
from tests.mutants import __main__ as run
from tests.mutants.mutant import ROOT, Mutant
from tests.mutants.planted import MUTANTS

QUICK = ("LIKE decides what a name begins with", "one step too many")
HARMLESS = Mutant(
    "limits", "nothing is wrong", "thread/limits.py", "grants = 1 + state.grants",
    "grants = state.grants + 1", "tests/core/moderator/test_next.py",
)  # fmt: skip


def test_there_are_enough_of_them_and_each_has_a_name_of_its_own() -> None:
    assert len(MUTANTS) >= 60
    assert len({mutant.what for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each.what)
def test_each_bug_can_be_planted_and_its_check_is_there(mutant: Mutant) -> None:
    compile(mutant.edited(), mutant.file, "exec")
    if not mutant.sees.startswith("row: "):
        file, _, name = mutant.sees.partition("::")
        name = name.rpartition("::")[2]  # of a kit's class, which other files may hold
        kits = [ROOT / file, *(ROOT / "uwf-testing/src").rglob("*.py")]
        text = "".join(each.read_text("utf-8") for each in kits)
        assert re.search(rf"def {re.escape(name.partition('[')[0])}\b", text), mutant.sees


def test_an_edit_whose_text_is_gone_makes_the_run_red(monkeypatch, capsys) -> None:
    monkeypatch.setattr(run, "MUTANTS", (HARMLESS._replace(old="no such text"),))
    assert run.main(["--workers", "1"]) == 1
    assert " stale " in capsys.readouterr().out


def test_a_bug_that_nobody_sees_makes_the_run_red(monkeypatch, capsys) -> None:
    monkeypatch.setattr(run, "MUTANTS", (HARMLESS,))
    assert run.main(["--workers", "1"]) == 1
    printed = capsys.readouterr().out
    assert " NO " in printed
    assert printed.splitlines()[-1] == "1 bugs planted, 0 seen: 0 %"


def test_a_check_that_fails_without_any_bug_proves_nothing(monkeypatch, capsys) -> None:
    gone = HARMLESS._replace(sees="tests/core/moderator/test_next.py::test_that_is_not_there")
    monkeypatch.setattr(run, "MUTANTS", (gone,))
    assert run.main(["--workers", "1"]) == 1
    assert "UNFIT: tests/core/moderator" in capsys.readouterr().out


@pytest.mark.timeout(600)  # a check in a process of its own, on a machine that may be busy
@pytest.mark.parametrize("what", QUICK)
def test_a_uwf_that_is_broken_is_found_out(what: str, monkeypatch, capsys) -> None:
    """An experiment that nothing could fail proves nothing."""
    chosen = tuple(mutant for mutant in MUTANTS if mutant.what == what)
    monkeypatch.setattr(run, "MUTANTS", chosen)
    monkeypatch.setattr(run, "_unfit", lambda _copies, sees: (sees, ""))  # CI runs them by itself
    code, printed = run.main(["--workers", "1"]), capsys.readouterr()
    if "skipped:" in printed.err:
        pytest.skip(printed.err.splitlines()[-1])
    assert code == 0, printed
    assert printed.out.splitlines()[-1] == "1 bugs planted, 1 seen: 100 %"
