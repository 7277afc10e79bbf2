"""The page of what the conformance kits try: every clause, every ability of a scripted peer."""

import inspect
from importlib import import_module

from generate.tables import table
from uwf_testing.contract import KIT_VERSION, clauses, needs_of
from uwf_testing.peer import ABILITIES

CONTRACTS = ("agent", "store", "extractor", "judge")

INTRODUCTION = f"""\
# Contracts

What the conformance kits of `uwf_testing` try, kit {KIT_VERSION}. How they are used:
[Conformance](../guides/conformance.md). The name of a clause is a promise: it is not changed within
a major version of the kit, and never means less than it did.
"""
PEER = """
## What a scripted peer can do

A clause needs abilities of the author's `Peer`. Each is the `do` of an `Act`, and the last three
are methods. What a peer has not is skipped, with the peer's own reason.
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
