"""Run a gate over many searches, and count."""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from benchmarks.null_search.scores import Population
from benchmarks.null_search.search import Gate, Outcome, Search, Setup, mean
from uwf_eval.statistics.intervals import wilson_interval


class Tally(NamedTuple):
    """What a gate did in many searches. Shares from 0 to 1, gains as differences of scores.

    Attributes:
        searches: their number. accepted: the share in which an edit was accepted.
        upper: the upper 95 % limit of that share (Wilson).
        right: the share in which the right edit was accepted.
        claimed, true: the mean sum of the gains of accepted edits in such searches; 0 without one.
        bias: claimed less true gain, the mean over all sealed tests; None without one.
        runs: the mean number of trials of a search.
    """

    searches: int
    accepted: float
    upper: float
    right: float
    claimed: float
    true: float
    bias: float | None
    runs: float


def tally(gate: Gate, setup: Setup, population: Population, searches: int, seed: int) -> Tally:
    """Run the gate over so many independent searches; the same seed gives the same searches."""
    found = []
    for number in range(searches):
        search = Search(setup, population, Random(f"{seed}/{number}"))
        found.append((search, gate(search)))
    hits = [(search, outcome) for search, outcome in found if outcome.accepted]
    errors = [
        test.gain - search.true_gain(test.edit)
        for search, outcome in found
        for test in outcome.tests
    ]
    return Tally(
        searches=searches,
        accepted=len(hits) / searches,
        upper=wilson_interval(len(hits), searches).high,
        right=_share(found, lambda _, outcome: any(each.edit == 0 for each in outcome.accepted)),
        claimed=mean(sum(each.gain for each in outcome.accepted) for _, outcome in hits),
        true=mean(
            sum(search.true_gain(each.edit) for each in outcome.accepted)
            for search, outcome in hits
        ),
        bias=mean(errors) if errors else None,
        runs=mean(search.runs for search, _ in found),
    )


def _share(found: list[tuple[Search, Outcome]], holds: Callable[[Search, Outcome], bool]) -> float:
    return sum(holds(search, outcome) for search, outcome in found) / len(found)
