"""Gates: rules of today's optimizers, rebuilt by their idea, and ours.

A rebuilt gate climbs: each edit is tried on top of the best version so far, on the open tasks, and
is kept if the rule holds. What it reports in the end is the last score less the first.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import sqrt

from benchmarks.null_search.search import (
    Claim,
    Differences,
    Gate,
    Outcome,
    Search,
    changes,
    mean,
)
from uwf_improve.gate.bar import MOST_TESTS, Bar
from uwf_improve.gate.decide import Evidence, decide, differences, p_of_gain

Rule = Callable[[Differences], bool]
BAR = Bar(smallest_gain=0.0)


def climb(search: Search, rule: Rule) -> Outcome:
    """Keep each edit that the rule accepts, and continue from it."""
    kept: list[int] = []
    first = best = search.on_open()
    for edit in range(search.setup.edits):
        tried = search.on_open([*kept, edit])
        if rule(changes(best, tried)):
            kept.append(edit)
            best = tried
    claimed = mean(best) - mean(first)
    return Outcome([Claim(edit, claimed / len(kept)) for edit in kept])


def any_gain(found: Differences) -> bool:
    """Any strict improvement of the mean."""
    return sum(found) > 0


def standard_errors(found: Differences, least: float) -> bool:
    """The mean difference of the tasks is more than so many of its standard errors."""
    average = mean(found)
    variance = sum((each - average) ** 2 for each in found) / (len(found) - 1)
    return average > least * sqrt(variance / len(found)) and average > 0


def sign_flip_at(found: Differences, level: float) -> bool:
    """The sign-flip test, two-sided, and the gain is positive."""
    return p_of_gain(found) <= level / 2


def screen(search: Search, edits: Sequence[int]) -> int:
    """The edit with the best mean on the open tasks."""
    return max(edits, key=lambda edit: mean(search.on_open([edit])))


def sealed_test(search: Search, edit: int) -> Evidence:
    """Both sides run anew on the sealed tasks."""
    return Evidence(champion=search.on_sealed(), edit=search.on_sealed([edit]), worse={})


def rounds(search: Search, count: int, accepts: Callable[[int, Evidence], bool]) -> Outcome:
    """Search up to so many times, and test each round's winner on the same sealed tasks."""
    tests = []
    for number in range(1, count + 1):
        edit = screen(search, _edits(search, number - 1))
        found = sealed_test(search, edit)
        tests.append(Claim(edit, mean(differences(BAR, found))))
        if accepts(number, found):
            return Outcome(tests[-1:], tests)
    return Outcome((), tests)


def same_level(_number: int, found: Evidence, level: float) -> bool:
    """The one-sided sign-flip test alone, at the same level each time."""
    return p_of_gain(differences(BAR, found)) <= level


def of_uwf(number: int, found: Evidence) -> bool:
    """The decision of uwf-improve: the k-th test at alpha / 2^k."""
    return decide(BAR, number, found).verdict == "accepted"


def right_winner(search: Search) -> Outcome:
    """The first sealed test of uwf-improve, of edit 0, as if a search had found it."""
    found = sealed_test(search, 0)
    claim = Claim(0, mean(differences(BAR, found)))
    return Outcome([claim] if of_uwf(1, found) else (), [claim])


def _edits(search: Search, number: int) -> Sequence[int]:
    """The edits of a round; edit 0 stays until it is accepted."""
    count = search.setup.edits
    return [0, *range(number * count + 1, (number + 1) * count)]


GATES: Mapping[str, Gate] = {
    "any strict improvement": partial(climb, rule=any_gain),
    "> 0.2 standard errors": partial(climb, rule=partial(standard_errors, least=0.2)),
    "> 1 standard error": partial(climb, rule=partial(standard_errors, least=1.0)),
    "sign-flip test, each edit at 5 %": partial(climb, rule=partial(sign_flip_at, level=0.05)),
    "sealed, 12 rounds at 5 % each": partial(
        rounds, count=12, accepts=partial(same_level, level=0.05)
    ),
    "sealed, winner tested once": partial(
        rounds, count=1, accepts=partial(same_level, level=0.025)
    ),
    "uwf-improve": partial(rounds, count=MOST_TESTS, accepts=of_uwf),
}
"""By the names of the table."""
