"""The scores of a judge beside gold labels -> figures with intervals and verdicts. Pure.

position: how much more two judgements of an item differ if the order of what the judge was shown
    differs too; without an effect of the order it is 0, however much the judge varies.
length: how much more an item gets if its result is there twice, which adds only length. Zheng et
    al., "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", NeurIPS 36 (2023), test
    verbosity with repetitions too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, Literal

from uwf_eval.calibration.records import Figure, FigureName, FigureVerdict, JudgeBar
from uwf_eval.judges.run_judge import agreement_of
from uwf_eval.statistics.intervals import (
    Interval,
    bounded_interval,
    mean,
    paired_difference,
    wilson_interval,
)
from uwf_eval.statistics.kappa import Agreement

_LEVEL: Final = 0.95
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, kw_only=True)
class JudgedItem:
    """One item: its label, its scores as it is, and its score in the reversed order and with the
    result twice; None if there is none.
    """

    gold: float
    scores: Sequence[float]
    turned: float | None = None
    longer: float | None = None


def agreement_with(items: Sequence[JudgedItem], passes: float) -> Agreement:
    """How the judge and the labels pass the items; `passes`: from which score on."""
    gold = [each.gold >= passes for each in items]
    judged = [mean(each.scores) >= passes - _ROUNDING for each in items]
    return Agreement(
        items=len(items),
        same=sum(one == other for one, other in zip(gold, judged, strict=True)),
        one=sum(gold) / len(items),
        other=sum(judged) / len(items),
    )


def figures_of(items: Sequence[JudgedItem], passes: float, bar: JudgeBar) -> Sequence[Figure]:
    """The four figures of a judge, on items that each have a score."""
    return [
        _agreement(items, bar.agreement),
        _kappa(agreement_with(items, passes), bar.kappa),
        _position(items, bar.position),
        _length(items, bar.length),
    ]


def verdict_of(figures: Sequence[Figure]) -> Literal["reached", "below", "cannot_tell"]:
    """The worst verdict of the measured figures."""
    found = {each.verdict for each in figures}
    if "below" in found:
        return "below"
    return "cannot_tell" if "cannot_tell" in found or found == {"not_measured"} else "reached"


def items_needed(bar: JudgeBar, passing: float) -> int:
    """The fewest items, a share `passing` of which passes, with which a perfect judge can reach the
    bar; 0 if none can.
    """
    chance = Agreement(items=1, same=1, one=passing, other=passing).chance
    share = max(bar.agreement, chance + bar.kappa * (1 - chance))
    most = min(bar.position, bar.length)
    if share >= 1 or most <= 0:
        return 0
    return next(
        items
        for items in count(2)
        if wilson_interval(items, items, _LEVEL).low >= share
        and wilson_interval(0, items, _LEVEL).high <= most
    )


def _agreement(items: Sequence[JudgedItem], bar: float) -> Figure:
    found = [each for item in items if (each := agreement_of(item.scores)) is not None]
    if not found:
        return Figure(name="agreement", bar=bar)
    return _at_least("agreement", mean(found), bounded_interval(found, _LEVEL), bar, len(found))


def _kappa(found: Agreement, bar: float) -> Figure:
    return _at_least("kappa", found.kappa, found.interval(_LEVEL), bar, found.items)


def _position(items: Sequence[JudgedItem], bar: float) -> Figure:
    within, across = [], []
    for item in items:
        own = agreement_of(item.scores)
        if own is not None and (turned := item.turned) is not None:
            within.append(1 - own)
            across.append(mean([abs(turned - score) for score in item.scores]))
    return _at_most("position", within, across, bar)


def _length(items: Sequence[JudgedItem], bar: float) -> Figure:
    pairs = [(mean(each.scores), each.longer) for each in items if each.longer is not None]
    return _at_most("length", [one for one, _ in pairs], [other for _, other in pairs], bar)


def _at_least(name: FigureName, value: float, seen: Interval, bar: float, items: int) -> Figure:
    verdict: FigureVerdict = "cannot_tell"
    if seen.low >= bar - _ROUNDING:
        verdict = "reached"
    elif seen.high < bar - _ROUNDING:
        verdict = "below"
    return Figure(
        name=name, value=value, low=seen.low, high=seen.high, bar=bar, verdict=verdict, items=items
    )


def _at_most(name: FigureName, a: Sequence[float], b: Sequence[float], bar: float) -> Figure:
    """The figure for the mean of b - a, which is wrong with either sign."""
    if not a:
        return Figure(name=name, bar=bar)
    found = paired_difference(a, b, _LEVEL)
    seen = found.interval
    assert seen is not None
    verdict: FigureVerdict = "cannot_tell"
    if seen.inside(bar + _ROUNDING):
        verdict = "reached"
    elif seen.low > bar + _ROUNDING or seen.high < -bar - _ROUNDING:
        verdict = "below"
    return Figure(
        name=name, value=found.mean, low=seen.low, high=seen.high, bar=bar, verdict=verdict,
        items=len(a),
    )  # fmt: skip
