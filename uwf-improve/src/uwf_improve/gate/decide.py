"""The decision: is the edit accepted? H0: its gain on new tasks is 0 or less.

Accepted needs all of: p <= alpha / 2^k for the k-th test of the sealed set, a gain of at least the
smallest one worth having, whose range at that level excludes 0, and no guard that is worse than its
margin.

The sign-flip test of `uwf_eval.statistics` gives p, of one side: where the gain is positive, half
of the two-sided p-value. That is exact, for the signs are symmetric: each way to set them has its
mirror image. It stays valid for a sample of ways, which is then one of ways and mirror images.

The test supposes that without a gain differences are symmetric. An edit that makes 1 task in 10
much worse and the others a little better has none in the mean, and passes the test at 40 tasks in 8
of 100 cases instead of 2.5. The range does not suppose it, and lets 1.5 of 100 pass; a right edit
is accepted as often as without it. Harm to fewer tasks than one in the number of sealed ones is in
no sample, and no rule can see it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final, Literal

from uwf_eval.compare.measure import higher_is_better, is_bounded
from uwf_eval.statistics.intervals import mean, paired_difference
from uwf_eval.statistics.signflip import least_tasks, sign_flip
from uwf_improve.gate.bar import LEAST_SEALED, MOST_TESTS, Bar, GuardMetric

_ROUNDING: Final = 1e-9

Verdict = Literal["accepted", "not accepted", "refused"]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the trials of both sides on sealed tasks measured. It is never shown as long as the
    edit is not accepted.

    Attributes:
        champion, edit: the mean of the metric of each unit, in the same order.
        worse: of each guard metric by how much the edit is worse, in the unit of its margin; None:
            unknown.
        missing: trials without a result.
    """

    champion: Sequence[float]
    edit: Sequence[float]
    worse: Mapping[GuardMetric, float | None]
    missing: int = 0


@dataclass(frozen=True, kw_only=True)
class Gain:
    """A gain in the unit of the bar: of scores and rates the difference, of others a share of the
    champion's mean. low, high: its range; None where the values do not give one.
    """

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The verdict on one edit.

    Attributes:
        number: which test of the sealed set it was. level: the alpha of that test.
        why: of a refusal, what is missing; says nothing of any score.
        p, gain: only of an accepted edit; the range of the gain is of level 1 - 2 * `level`.
    """

    verdict: Verdict
    number: int
    level: float
    why: str = ""
    p: float | None = None
    gain: Gain | None = None


def refusal(bar: Bar, sealed: int, number: int) -> str | None:
    """Why a set cannot be tested, known before any trial; None: it can.

    Args:
        sealed: sources on the sealed side. number: of the test, from 1.
    """
    if number > MOST_TESTS:
        return (
            f"the sealed tasks were tested {MOST_TESTS} times; open them, and add "
            f"{bar.sealed} new tasks"
        )
    if sealed < LEAST_SEALED:
        return (
            f"{sealed} sealed tasks are too few: at least {LEAST_SEALED} are needed; "
            f"add {LEAST_SEALED - sealed} new tasks"
        )
    least = least_tasks(2 * bar.level(number))
    if sealed < least:
        return (
            f"{sealed} sealed tasks cannot reach the level {bar.level(number):g}, "
            f"even if all of them improve; at least {least} are needed"
        )
    return None


def decide(bar: Bar, number: int, evidence: Evidence, *, seed: int = 0) -> Decision:
    """The verdict of the test with that number.

    A test has its number from the moment its first trial starts: a refused one is repeated under
    the same number, and only to complete the same trials.

    Args:
        seed: of the sign-flip test where not all ways can be counted.
    """
    level = bar.level(min(number, MOST_TESTS))
    why = refusal(bar, len(evidence.champion), number) or _incomplete(bar, evidence)
    if why is not None:
        return Decision(verdict="refused", number=number, level=level, why=why)
    p = p_of_gain(differences(bar, evidence), seed)
    gain = measure_gain(bar, evidence, level)
    if p > level or _is_small(bar, gain) or _is_worse(bar, evidence):
        return Decision(verdict="not accepted", number=number, level=level)
    return Decision(verdict="accepted", number=number, level=level, p=p, gain=gain)


def differences(bar: Bar, evidence: Evidence) -> list[float]:
    """Of each unit, in the unit of the metric; above 0 the edit is better."""
    sign = 1 if higher_is_better(bar.metric) else -1
    return [sign * (b - a) for a, b in zip(evidence.champion, evidence.edit, strict=True)]


def measure_gain(bar: Bar, evidence: Evidence, level: float) -> Gain:
    """The gain with its range, of which each end is passed with the chance `level`."""
    bounded = is_bounded(bar.metric)
    found = paired_difference(evidence.champion, evidence.edit, 1 - 2 * level, bounded=bounded)
    unit = 1.0 if bounded else mean(evidence.champion)
    if not higher_is_better(bar.metric):
        unit = -unit
    if found.interval is None:
        return Gain(mean=found.mean / unit, low=None, high=None)
    low, high = sorted((found.interval.low / unit, found.interval.high / unit))
    return Gain(mean=found.mean / unit, low=low, high=high)


def p_of_gain(differences: Sequence[float], seed: int = 0) -> float:
    """The p-value of H0: the gain is 0 or less. 1 where the mean difference is not above 0."""
    if fsum(differences) <= 0:
        return 1.0
    return sign_flip(differences, seed=seed).p / 2


def _incomplete(bar: Bar, evidence: Evidence) -> str | None:
    if evidence.missing:
        return f"{evidence.missing} trials have no result; resume them"
    if not is_bounded(bar.metric) and not mean(evidence.champion) > 0:
        return f"the {bar.metric} of the champion is 0, so there is no relative gain"
    unknown = [each.metric for each in bar.guards if evidence.worse.get(each.metric) is None]
    if unknown:
        return f"unknown: {', '.join(unknown)}; the agents report no values for these guards"
    return None


def _is_small(bar: Bar, gain: Gain) -> bool:
    reaches_zero = gain.low is not None and gain.low <= 0
    return reaches_zero or gain.mean < bar.smallest_gain - _ROUNDING


def _is_worse(bar: Bar, evidence: Evidence) -> bool:
    found = [(evidence.worse[each.metric], each.margin) for each in bar.guards]
    return any(worse is None or not worse <= margin + _ROUNDING for worse, margin in found)
