"""`python -m tests.walks --seed N --workflows N --walks N`: random walks, and their table."""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from tests.walks.checked import RandomWorkflow, random_workflow
from tests.walks.walk import Unsound, Walk, Workflows

from uwf_core.cas.store import Store
from uwf_core.stores.memory import open_memory
from uwf_core.workflow.publish import publish


def walked(seed: int, workflows: int, walks: int) -> "tuple[Counter[str], list[str]]":
    """Walk `walks` times in all through `workflows` random workflows that check without errors.

    Returns:
        What happened, and the violations, each with the seed of its workflow.
    """
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    number = seed
    while counts["workflows"] < workflows:
        rng = Random(number)
        with tempfile.TemporaryDirectory() as folder:
            found = random_workflow(Path(folder), rng)
        counts["files"] += 1
        if found.checked.valid:
            counts["workflows"] += 1
            counts["without a warning"] += not found.checked.problems
            wrong += _through(found, rng, number, -(-walks // workflows), counts)
        number += 1
    return counts, wrong


def _through(
    found: RandomWorkflow, rng: Random, number: int, walks: int, counts: "Counter[str]"
) -> list[str]:
    store = Store(open_memory("memory:", ""), lambda: 0)
    known = Workflows(store, found.doubts, rng)
    definition = known.definition(publish(store, found.checked.require()))
    for _ in range(walks):
        try:
            Walk(known, rng, counts).run(definition)
        except Unsound as violation:
            counts["violations"] += 1
            return [f"seed {number}: {violation}"]
    return []


def main() -> int:
    """Print the table; exit code 1 after a violation."""
    parser = argparse.ArgumentParser(prog="python -m tests.walks", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workflows", type=int, default=1_000)
    parser.add_argument("--walks", type=int, default=1_000_000)
    given = parser.parse_args()
    counts, wrong = walked(given.seed, given.workflows, given.walks)
    print("\n".join(f"{count:>12,} {name}" for name, count in sorted(counts.items())))
    print("\n".join(wrong) or "no violation")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
