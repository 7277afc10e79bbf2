"""How trials ended: which of them count, and how many there are of each."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from uwf_core.api.record import record
from uwf_eval.records import TrialState

COUNTED: Final[frozenset[TrialState]] = frozenset(("scored", "failed"))
"""States of trials that have a score. All others say nothing of the workflow."""


@record
class States:
    """How many trials ended in each state."""

    scored: int = 0
    failed: int = 0
    infra_error: int = 0
    not_run: int = 0
    tampered: int = 0

    @property
    def all(self) -> int:
        """How many there are."""
        return self.counted + self.infra_error + self.not_run + self.tampered

    @property
    def counted(self) -> int:
        """How many have a score."""
        return self.scored + self.failed


def states_of(counters: Iterable[Mapping[str, int]]) -> States:
    """How many trials ended in each state, all of these counts together."""
    sums: Counter[str] = Counter()
    for each in counters:
        sums.update(each)
    return States(
        scored=sums["scored"],
        failed=sums["failed"],
        infra_error=sums["infra_error"],
        not_run=sums["not_run"],
        tampered=sums["tampered"],
    )
