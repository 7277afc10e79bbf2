"""The experiments find nothing. (That they would is what `tests/mutants` shows.)

`nox -s faults` makes them all, in CI before this test; here it is the quickest.
"""

from tests.faults.conftest import table


def test_the_table_says_what_was_tried_and_that_nothing_gave_way() -> None:
    done = table("--tiny", "--seed", "1", "--only", "templates")
    assert done.returncode == 0, done.stdout + done.stderr
    heading, *rows, total = done.stdout.splitlines()
    assert heading.split() == ["what", "count", "failures", "seed", "seconds"]
    assert len(rows) == 1
    assert total.split()[0] == "all"
    assert total.split()[2] == "0"
