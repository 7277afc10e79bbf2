"""A bug that nobody sees, or that cannot be planted, makes the run red.

`nox -s mutants` runs them all; here it is a few of the quick ones. `tests/architecture` looks
whether all can still be planted.
"""

import pytest
from tests.forms import form
from tests.mutants import __main__ as run
from tests.mutants.mutant import Mutant
from tests.mutants.planted import MUTANTS

QUICK = form(
    short=("one step too many",),
    long=("LIKE decides what a name begins with", "one step too many"),
)
HARMLESS = Mutant(
    "limits", "nothing is wrong", "thread/limits.py", "self.base + self.granted",
    "self.granted + self.base", "tests/core/moderator/test_next.py",
)  # fmt: skip


def test_there_are_enough_of_them_and_each_has_a_name_of_its_own() -> None:
    assert len(MUTANTS) >= 60
    assert len({mutant.what for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"old": "no such text"}, "0 places in thread/limits.py read 'no such text'"),
        ({"file": "thread/gone.py"}, "0 places in thread/gone.py"),
        ({"new": "("}, "'(' was never closed"),
        ({"sees": "row: no-such"}, "there is no row: no-such"),
        ({"sees": "tests/core/gone.py"}, "there is no tests/core/gone.py"),
        ({"sees": "tests/core/moderator/test_next.py::test_gone"}, "there is no tests/core/mod"),
    ],
)
def test_a_bug_that_cannot_be_planted_makes_the_run_red_before_it_begins(
    change, said, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(run, "MUTANTS", (HARMLESS._replace(**change),))
    monkeypatch.setattr(run, "Copy", None)  # nothing is copied, no check runs
    assert run.main(["--workers", "1"]) == run.main(["--check"]) == 1
    assert f"stale: nothing is wrong: {said}" in capsys.readouterr().out


def test_a_bug_that_nobody_sees_makes_the_run_red(monkeypatch, capsys) -> None:
    monkeypatch.setattr(run, "MUTANTS", (HARMLESS,))
    assert run.main(["--workers", "1"]) == 1
    printed = capsys.readouterr().out
    assert " NO " in printed
    assert printed.splitlines()[-1] == "1 bugs planted, 0 seen: 0 %"


def test_a_check_that_fails_without_any_bug_proves_nothing(monkeypatch, capsys) -> None:
    failing = HARMLESS._replace(sees="tests/mutants/mutant.py")  # a file without a test
    monkeypatch.setattr(run, "MUTANTS", (failing,))
    assert run.main(["--workers", "1"]) == 1
    assert "UNFIT: tests/mutants/mutant.py" in capsys.readouterr().out


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
