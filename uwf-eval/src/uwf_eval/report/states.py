"""How trials ended: which of them count, and how many there are of each."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from uwf_core.api.record import record
from uwf_eval.records import Trial, TrialState

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
    def counted(self) -> int:
        """How many have a score."""
        return self.scored + self.failed


def states_of(trials: Iterable[Trial]) -> States:
    """How these trials ended."""
    counter = Counter(trial.state for trial in trials)
    return States(
        scored=counter["scored"],
        failed=counter["failed"],
        infra_error=counter["infra_error"],
        not_run=counter["not_run"],
        tampered=counter["tampered"],
    )
