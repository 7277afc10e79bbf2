"""The experiments find nothing, and would find it if there were something.

`nox -s faults` makes them in full; here it is a little of the quick ones.
"""

import pytest
from tests.faults.breaks import BREAKS
from tests.faults.conftest import table


def test_the_table_says_what_was_tried_and_that_nothing_gave_way() -> None:
    done = table("--tiny", "--seed", "1", "--only", "templates", "clocks", "archives")
    assert done.returncode == 0, done.stdout + done.stderr
    heading, *rows, total = done.stdout.splitlines()
    assert heading.split() == ["what", "count", "failures", "seed", "seconds"]
    assert len(rows) == 3
    assert total.split()[0] == "all"
    assert total.split()[2] == "0"


@pytest.mark.parametrize("name", BREAKS)
def test_a_uwf_that_is_broken_is_found_out(name: str) -> None:
    """An experiment that nothing could fail proves nothing."""
    share = str(BREAKS[name].share)
    words = ("--tiny", "--share", share, "--seed", "1", "--only", BREAKS[name].row)
    done = table(*words, "--break", name)
    if "skipped:" in done.stdout:
        pytest.skip(done.stdout.splitlines()[-1])
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAILED: " in done.stdout, done.stderr
