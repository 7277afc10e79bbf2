"""The kits under test as a whole: the share of all wrong plugins that they notice."""

import pytest
from kit_agents.names import ANNOUNCED_WRONGLY
from kit_agents.names import BREAKS as AGENTS
from kit_others.names import EXPORTERS, EXTRACTORS, JUDGES, OBSERVERS, TOOLS
from kit_stores.names import BREAKS as STORES

pytestmark = pytest.mark.timeout(600)
BATCHES = (
    ("contracts_of_agents.py", {**AGENTS, **ANNOUNCED_WRONGLY}),
    ("contracts_of_stores.py", STORES),
    ("contracts_of_others.py", EXTRACTORS | JUDGES | TOOLS | EXPORTERS),
    ("contracts_of_observers.py", OBSERVERS),
)
"""Each file of contracts, with its wrong plugins and the clauses that they break."""


def test_the_kits_notice_95_of_100_wrong_plugins(run_batch):
    noticed, missed = [], []
    for file, plugins in BATCHES:
        contracts = run_batch(file)
        for name in (name for name, broken in plugins.items() if broken):
            fails = contracts.clauses(f"Test_{name}", "fails")
            (noticed if fails else missed).append(name)
    assert len(noticed) + len(missed) > 180, "wrong plugins are missing"
    share = len(noticed) / len(noticed + missed)
    assert share >= 0.95, f"noticed {share:.0%}; not noticed: {', '.join(missed)}"
