"""The store kit under test: each wrong store breaks its own clause, and no other."""

import pytest
from kit_stores.names import ALSO_BREAKS, BREAKS, OF_LEASES

from uwf_testing.contract import clauses
from uwf_testing.plugin_contract import PluginContract
from uwf_testing.store_contract import StoreContract

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def contracts(run_batch):
    return run_batch("contracts_of_stores.py")


@pytest.mark.parametrize("name", BREAKS)
def test_a_wrong_store_breaks_exactly_its_clause(contracts, name):
    assert contracts.clauses(f"Test_{name}", "fails") == {
        BREAKS[name],
        *ALSO_BREAKS.get(name, ()),
    }


def test_every_clause_has_a_wrong_store():
    """Save those about announcements, which are the same for agents."""
    announced = set(clauses(PluginContract)) - {"test_it_is_registered"}
    assert set(BREAKS.values()) == set(clauses(StoreContract)) - announced - OF_LEASES
