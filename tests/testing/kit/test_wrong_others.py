"""The kits of extractors, judges, tools and exporters: each wrong one breaks only its clause."""

import pytest
from kit_others.names import EXPORTERS, EXTRACTORS, JUDGES, TOOLS

from uwf_testing.contract import clauses
from uwf_testing.exporter_contract import ExporterContract
from uwf_testing.extractor_contract import ExtractorContract
from uwf_testing.judge_contract import JudgeContract
from uwf_testing.plugin_contract import PluginWithOptionsContract
from uwf_testing.tool_contract import ToolContract

pytestmark = pytest.mark.timeout(300)
WRONG = EXTRACTORS | JUDGES | TOOLS | EXPORTERS


@pytest.fixture(scope="module")
def contracts(run_batch):
    return run_batch("contracts_of_others.py")


@pytest.mark.parametrize(("name", "clause"), WRONG.items())
def test_a_wrong_one_breaks_exactly_its_clause(contracts, name, clause):
    assert contracts.clauses(f"Test_{name}", "fails") == ({clause} if clause else set())
    assert contracts.clauses(f"Test_{name}", "holds")


@pytest.mark.parametrize(
    ("contract", "breaks"),
    [
        (ExtractorContract, EXTRACTORS),
        (JudgeContract, JUDGES),
        (ToolContract, TOOLS),
        (ExporterContract, EXPORTERS),
    ],
)
def test_every_clause_has_a_wrong_one(contract, breaks):
    """Save those about announcements and options, which are the same for agents."""
    own = set(clauses(contract)) - set(clauses(PluginWithOptionsContract))
    assert set(breaks.values()) - {None, "test_it_is_registered"} == own
