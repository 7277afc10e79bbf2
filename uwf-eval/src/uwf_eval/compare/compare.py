"""Compare two lists of trials."""

from collections.abc import Sequence
from dataclasses import replace

from uwf_eval.compare.notes import notes
from uwf_eval.compare.pairs import pair_up
from uwf_eval.compare.plans import plans
from uwf_eval.compare.records import METRICS, Comparison, Measured, Options
from uwf_eval.compare.verdict import judge
from uwf_eval.compare.weigh import Weighed, weigh
from uwf_eval.records import Trial
from uwf_eval.statistics.holm import holm
from uwf_eval.statistics.signflip import sign_flip


def compare(a: Sequence[Trial], b: Sequence[Trial], options: Options | None = None) -> Comparison:
    """Whether B is better than A, by how much, at what cost, and what cannot be told.

    Trials count if they are scored or failed, and if the other side has the same task and case
    with the same fixture; all others are told in `left_out`.

    Args:
        a, b: all trials of either side. options: what is asked; by default for the score.
    """
    options = options or Options()
    found = pair_up(a, b, options.alike)
    tested = _tested([weigh(metric, found.pairs, options) for metric in options.metrics], options)
    beside = [
        weigh(metric, found.pairs, options).measured
        for metric in METRICS
        if metric not in options.metrics
    ]
    assert tested[0].verdict is not None
    return Comparison(
        verdict=tested[0].verdict,
        names=options.names,
        tasks=list(dict.fromkeys(pair.task for pair in found.pairs)),
        over=options.over,
        trials=(sum(len(each.a) for each in found.pairs), sum(len(each.b) for each in found.pairs)),
        level=options.level,
        power=options.power,
        within=options.within,
        seed=options.seed,
        tested=tested,
        beside=beside,
        left_out=found.left_out,
        notes=list(notes(found.pairs, found.left_out, options)),
    )


def _tested(weighed: Sequence[Weighed], options: Options) -> list[Measured]:
    flips = [sign_flip(each.differences, seed=options.seed) for each in weighed]
    adjusted = holm([flip.p for flip in flips])
    tested = []
    for each, flip, p in zip(weighed, flips, adjusted, strict=True):
        measured = replace(each.measured, p=flip.p, adjusted=p, exact=flip.exact)
        verdict, why = judge(measured, options)
        needed = plans(each, options) if verdict == "cannot_tell" else ()
        tested.append(replace(measured, verdict=verdict, why=why, plans=needed))
    return tested
