"""The bar: what an edit must reach to be accepted. It is stored before the first trial."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final, Literal

from uwf_eval.compare.records import METRICS, Metric

LEAST_SEALED: Final = 12
"""Fewer sealed sources than this are refused: the gain that they can show is a guess."""

MOST_TESTS: Final = 4
"""A set of sealed tasks is tested so often at most."""

GuardMetric = Metric | Literal["tampering", "infra_errors"]
"""A metric of uwf-eval, or the share of trials in which protected files were changed, or the
infrastructure errors of a trial.
"""

SHARES: Final = ("tampering", "infra_errors")


@dataclass(frozen=True, kw_only=True)
class Guard:
    """A metric that must not become worse.

    Attributes:
        margin: the most by which it may: of scores, rates and shares the difference itself, of
            cost, tokens and duration a share of what the champion needs.
    """

    metric: GuardMetric
    margin: float

    def __post_init__(self) -> None:
        if self.metric not in (*METRICS, *SHARES):
            known = ", ".join((*METRICS, *SHARES))
            raise ValueError(f"unknown guard metric {self.metric!r}; known are {known}")
        if not (isfinite(self.margin) and self.margin >= 0):
            raise ValueError(f"the margin of {self.metric} must be 0 or more, not {self.margin}")


@dataclass(frozen=True, kw_only=True)
class Bar:
    """What an edit must reach.

    Attributes:
        metric: what must become better. smallest_gain: the smallest gain worth having, in the unit
            of a guard's margin. guards: what must not become worse.
        alpha: the chance that a whole search without a better edit has one accepted.
        sealed: how many sealed sources a set shall have. repeats: trials of a task on each side.
    """

    metric: Metric = "score"
    smallest_gain: float = 0.02
    guards: Sequence[Guard] = ()
    alpha: float = 0.05
    sealed: int = 40
    repeats: int = 3

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise ValueError(f"unknown metric {self.metric!r}; known are {', '.join(METRICS)}")
        if not (isfinite(self.smallest_gain) and self.smallest_gain >= 0):
            raise ValueError(f"the smallest gain must be 0 or more, not {self.smallest_gain}")
        if not 0 < self.alpha <= 0.2:
            raise ValueError(f"alpha must be above 0 and at most 0.2, not {self.alpha}")
        if self.sealed < LEAST_SEALED:
            raise ValueError(f"at least {LEAST_SEALED} tasks must be sealed, not {self.sealed}")
        if self.repeats < 1:
            raise ValueError(f"a task needs at least 1 trial on each side, not {self.repeats}")
        guarded = [each.metric for each in self.guards]
        if len({*guarded, self.metric}) != len(guarded) + 1:
            raise ValueError("each metric may occur once, as the metric or as a guard")

    def level(self, number: int) -> float:
        """The level of the test of that number: alpha / 2^number.

        The chances of false acceptance of all tests of a set add up to less than alpha, also if
        each edit is chosen by what the tests before it answered (Bonferroni's inequality, with
        weights that are fixed before).
        """
        if not 1 <= number <= MOST_TESTS:
            raise ValueError(f"a set is tested 1 to {MOST_TESTS} times; {number} is none of them")
        return float(self.alpha / 2**number)
