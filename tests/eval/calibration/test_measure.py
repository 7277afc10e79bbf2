"""Figures of a judge from its scores: their intervals hold, and their verdicts follow the bar."""

from random import Random

import pytest

from uwf_eval.calibration.measure import JudgedItem, figures_of, items_needed, verdict_of
from uwf_eval.calibration.records import JudgeBar
from uwf_eval.statistics.kappa import Agreement

LABELS = [float(n % 3 > 0) for n in range(24)]


def figures(items):
    return {each.name: each for each in figures_of(items, 0.5, JudgeBar())}


def test_kappa_is_that_of_cohens_definition():
    found = Agreement(items=100, same=70, one=0.6, other=0.5)
    assert found.chance == pytest.approx(0.5) and found.kappa == pytest.approx(0.4)
    assert Agreement(items=9, same=9, one=1.0, other=1.0).kappa == 0.0
    assert Agreement(items=9, same=9, one=1.0, other=1.0).interval().low == -1.0


@pytest.mark.parametrize("items", [12, 30, 80])
@pytest.mark.parametrize("passing", [0.5, 0.9])
@pytest.mark.parametrize(("right", "wrong"), [(0.95, 0.05), (0.8, 0.4), (0.5, 0.5)])
def test_the_interval_of_kappa_holds_the_true_one(items, passing, right, wrong):
    """`right`, `wrong`: how often the judge passes an item that is right, or wrong."""
    drawn = Random(f"{items} {passing} {right}")
    judged = passing * right + (1 - passing) * wrong
    same = passing * right + (1 - passing) * (1 - wrong)
    chance = passing * judged + (1 - passing) * (1 - judged)
    truth = (same - chance) / (1 - chance)
    held, too_high, sets = 0, 0, 400
    for _ in range(sets):
        gold = [drawn.random() < passing for _ in range(items)]
        by_judge = [drawn.random() < (right if each else wrong) for each in gold]
        agreed = sum(a == b for a, b in zip(gold, by_judge, strict=True))
        one, other = sum(gold) / items, sum(by_judge) / items
        seen = Agreement(items=items, same=agreed, one=one, other=other).interval()
        held += seen.holds(truth)
        too_high += seen.low > truth
    assert held >= 0.9 * sets and too_high <= 0.045 * sets


def test_a_perfect_judge_reaches_the_bar_with_the_needed_items_and_not_with_one_less():
    bar = JudgeBar()
    needed = items_needed(bar, 0.5)
    for items, verdict in ((needed, "reached"), (needed - 2, "cannot_tell")):
        labels = [float(n % 2) for n in range(items)]
        judged = [JudgedItem(gold=g, scores=(g, g), turned=g, longer=g) for g in labels]
        assert verdict_of(figures_of(judged, 0.5, bar)) == verdict
    assert needed == 16 and items_needed(bar, 0.9) > 25
    assert items_needed(JudgeBar(kappa=1.0), 0.5) == items_needed(JudgeBar(length=0), 0.5) == 0


def test_a_judge_that_always_passes_agrees_often_and_has_no_kappa():
    labels = [float(n % 10 > 0) for n in range(100)]
    found = figures([JudgedItem(gold=gold, scores=(1.0, 1.0)) for gold in labels])
    assert found["agreement"].verdict == "reached"
    assert found["kappa"].value == 0.0 and found["kappa"].verdict != "reached"


def test_noise_is_no_effect_of_the_order():
    drawn = Random(3)
    noisy = [
        JudgedItem(gold=g, scores=[drawn.random() for _ in range(4)], turned=drawn.random())
        for g in LABELS * 4
    ]
    found = figures(noisy)
    assert found["agreement"].verdict == "below"
    assert abs(found["position"].value) < 0.1 and found["position"].verdict != "below"


def test_an_effect_of_the_order_is_seen_although_it_goes_both_ways():
    items = [
        JudgedItem(gold=g, scores=(0.5, 0.5), turned=0.5 + (0.4 if n % 2 else -0.4))
        for n, g in enumerate(LABELS)
    ]
    found = figures(items)["position"]
    assert found.value == pytest.approx(0.4) and found.verdict == "below"


@pytest.mark.parametrize("shift", [0.4, -0.4])
def test_longer_texts_that_get_more_or_less_are_seen(shift):
    items = [JudgedItem(gold=g, scores=(0.5, 0.5), longer=0.5 + shift) for g in LABELS]
    found = figures(items)["length"]
    assert found.value == pytest.approx(shift) and found.verdict == "below"


def test_what_was_not_measured_does_not_count():
    items = [JudgedItem(gold=gold, scores=(gold, gold)) for gold in LABELS]
    found = figures(items)
    assert found["position"].verdict == found["length"].verdict == "not_measured"
    assert verdict_of(list(found.values())) == "reached"
