"""The short form of the kits' tests: a right plugin has every clause, a wrong one those that it
breaks and those about its announcement. The long form shows that it breaks no other.
"""

import os
from collections.abc import Iterable

from uwf_testing.contract import Contract, clauses
from uwf_testing.plugin_contract import PluginContract


def shortened(contract: type[Contract], broken: Iterable[str]) -> type[Contract]:
    """The contract of a plugin that breaks these clauses, in the form that runs."""
    if broken and "UWF_TESTS_LONG" not in os.environ:
        for name in {*clauses(contract)} - {*broken, *clauses(PluginContract)}:
            setattr(contract, name, None)  # pytest takes no notice of it
    return contract
