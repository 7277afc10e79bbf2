"""The observer kit under test: each wrong one breaks its own clause, and no other."""

import pytest
from kit_others.names import OBSERVERS

from uwf_testing.contract import clauses
from uwf_testing.observer_contract import ObserverContract
from uwf_testing.plugin_contract import PluginWithOptionsContract

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def contracts(run_batch):
    return run_batch("contracts_of_observers.py")


@pytest.mark.parametrize(("name", "clause"), OBSERVERS.items())
def test_a_wrong_one_breaks_exactly_its_clause(contracts, name, clause):
    assert contracts.clauses(f"Test_{name}", "fails") == ({clause} if clause else set())
    assert contracts.clauses(f"Test_{name}", "holds")


def test_every_clause_has_a_wrong_one():
    """Save those about announcements and options, which are the same for agents."""
    own = set(clauses(ObserverContract)) - set(clauses(PluginWithOptionsContract))
    assert set(OBSERVERS.values()) - {None, "test_it_is_registered"} == own
