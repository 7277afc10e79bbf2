"""The page of the contracts: every clause, every ability of a scripted peer."""

import inspect
from importlib import import_module

from generate.tables import table
from uwf_testing.contract import KIT_VERSION, clauses, needs_of
from uwf_testing.peer import ABILITIES

CONTRACTS = ("agent", "store", "extractor", "judge", "tool", "exporter", "model", "observer")

INTRODUCTION = f"""\
# Contracts

All tests (*clauses*) of the contracts in `uwf_testing`, kit {KIT_VERSION}.
[Conformance](../guides/conformance.md) shows how to use them. Within a major version of the kit a
clause keeps its name and never requires less.
"""
PEER = """
## Abilities of a scripted peer

A clause needs abilities of your `Peer`. Each is the `do` of an `Act`; the last three are methods.
Clauses that need a missing ability are skipped with the peer's reason.
"""


def markdown() -> str:
    """The whole page."""
    parts = [INTRODUCTION, *map(_contract, CONTRACTS), PEER]
    parts.append(table(["ability", "the peer …"], [(f"`{k}`", v) for k, v in ABILITIES.items()]))
    return "\n".join(parts) + "\n"


def _contract(kind: str) -> str:
    module = import_module(f"uwf_testing.{kind}_contract")
    name = f"{kind.capitalize()}Contract"
    contract = getattr(module, name)
    rows = []
    for clause in clauses(contract):
        needed = needs_of(contract, clause)
        wanted = [f"`{needed.capability}`"] if needed.capability else []
        wanted += [f"{ability}" for ability in needed.peer]
        promise = inspect.getdoc(getattr(contract, clause)) or ""
        assert promise, f"{name}.{clause} promises nothing"
        rows.append((f"`{clause}`", promise, ", ".join(wanted)))
    head = f"\n## {name}\n\n`from uwf_testing.{kind}_contract import {name}`\n\n"
    return head + table(["clause", "the promise", "needs (capability, peer)"], rows)
