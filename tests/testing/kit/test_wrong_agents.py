"""The agent kit under test: a right agent keeps every clause, each wrong one breaks its own."""

import pytest
from kit_agents.names import ANNOUNCED_WRONGLY, BREAKS

from uwf_testing.agent_contract import AgentContract
from uwf_testing.contract import clauses

pytestmark = pytest.mark.timeout(300)
WRONG = {**BREAKS, **{name: (clause,) for name, clause in ANNOUNCED_WRONGLY.items()}}


@pytest.fixture(scope="module")
def contracts(run_batch):
    return run_batch("contracts_of_agents.py")


def test_a_right_agent_keeps_every_clause(contracts):
    kept = contracts.clauses("Test_right", "holds")
    skipped = contracts.clauses("Test_right", "skipped")
    assert kept | skipped == set(clauses(AgentContract)), contracts.output[-3000:]
    assert skipped == {
        "test_every_option_has_a_default",
        "test_options_refuse_what_they_do_not_know",
    }


@pytest.mark.parametrize("name", [name for name in WRONG if name != "right"])
def test_a_wrong_agent_breaks_exactly_its_clause(contracts, name):
    assert contracts.clauses(f"Test_{name}", "fails") == set(WRONG[name])


def test_every_clause_has_a_wrong_agent():
    broken = {clause for broken in WRONG.values() for clause in broken}
    assert broken == set(clauses(AgentContract))
