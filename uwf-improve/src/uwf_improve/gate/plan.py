"""What a sealed test costs and can find, before its first trial."""

from dataclasses import dataclass
from math import sqrt
from typing import Final

from uwf_eval.statistics.distributions import normal_quantile
from uwf_improve.gate.bar import MOST_TESTS, Bar

POWER: Final = 0.8


@dataclass(frozen=True, kw_only=True)
class PlannedTest:
    """The test of a number: its level, and the gain of a pass rate that it accepts with the
    probability `POWER`.
    """

    number: int
    level: float
    finds: float


@dataclass(frozen=True, kw_only=True)
class SealedPlan:
    """One sealed test: both sides run all sealed tasks.

    Attributes:
        runs: trials of both sides together.
    """

    tasks: int
    repeats: int
    runs: int
    tests: tuple[PlannedTest, ...]


def plan(bar: Bar, tasks: int) -> SealedPlan:
    """Plan a sealed test of that many tasks.

    The gain supposes pass/fail tasks of which each passes in half of its trials, the case with the
    most noise: a mean difference of n tasks with m repeats has the variance 0.5 / (n · m). Scores
    and tasks that always or never pass vary less, and smaller gains are found.
    """
    deviation = sqrt(0.5 / (tasks * bar.repeats))
    tests = []
    for number in range(1, MOST_TESTS + 1):
        level = bar.level(number)
        finds = (normal_quantile(1 - level) + normal_quantile(POWER)) * deviation
        tests.append(PlannedTest(number=number, level=level, finds=max(finds, bar.smallest_gain)))
    runs = tasks * bar.repeats * 2
    return SealedPlan(tasks=tasks, repeats=bar.repeats, runs=runs, tests=tuple(tests))
