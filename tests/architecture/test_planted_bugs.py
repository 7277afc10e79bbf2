"""Who moves or renames code takes the planted bugs along: `nox -s mutants` runs by hand only."""

from tests.mutants.__main__ import faults
from tests.mutants.planted import MUTANTS


def test_each_planted_bug_applies_to_the_source_and_its_check_is_there() -> None:
    assert list(faults(MUTANTS)) == []
