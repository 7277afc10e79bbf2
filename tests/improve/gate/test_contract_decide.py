"""The decision rule: what it accepts, what it never does, and what it shows."""

import random
from math import fsum

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from uwf_improve.gate.bar import LEAST_SEALED, MOST_TESTS, Bar, Guard
from uwf_improve.gate.decide import Evidence, decide, measure_gain, p_of_gain, refusal

NUMBERS = st.integers(1, MOST_TESTS)
THIRDS = st.integers(-3, 3).map(lambda each: each / 3)
DIFFERENCES = st.lists(THIRDS, min_size=LEAST_SEALED, max_size=40)


def evidence(differences, worse=None, missing=0) -> Evidence:
    """Of scores that differ so much."""
    champion = [0.0 if each >= 0 else -each for each in differences]
    edit = [each if each >= 0 else 0.0 for each in differences]
    return Evidence(champion=champion, edit=edit, worse=worse or {}, missing=missing)


def test_an_edit_that_is_better_on_every_sealed_task_is_accepted_with_its_figures():
    found = decide(Bar(), 1, evidence([1 / 3] * 12))
    assert (found.verdict, found.level, found.p) == ("accepted", 0.025, 2.0**-12)
    assert found.gain is not None and found.gain.low is not None
    assert (found.gain.mean, found.gain.low > 0) == (pytest.approx(1 / 3), True)


@given(DIFFERENCES, NUMBERS)
def test_what_is_not_accepted_shows_no_figure_of_a_sealed_trial(differences, number):
    found = decide(Bar(), number, evidence(differences))
    assume(found.verdict != "accepted")
    plain = decide(Bar(), number, evidence([0.0] * len(differences)))
    assert found == plain


@given(DIFFERENCES, NUMBERS)
def test_an_edit_with_no_gain_in_the_mean_is_never_accepted(differences, number):
    down = [-abs(each) for each in differences]
    assert decide(Bar(smallest_gain=0), number, evidence(down)).verdict == "not accepted"


@given(DIFFERENCES, NUMBERS)
def test_accepted_means_that_each_condition_of_the_bar_holds(differences, number):
    bar = Bar(smallest_gain=0.1, guards=(Guard(metric="cost", margin=0.2),))
    for worse in (0.2, 0.21):
        found = decide(bar, number, evidence(differences, {"cost": worse}))
        holds = (
            p_of_gain(differences) <= 0.05 / 2**number
            and fsum(differences) / len(differences) >= 0.1 - 1e-9
            and (measure_gain(bar, evidence(differences), 0.05 / 2**number).low or 0) > 0
            and worse <= 0.2
        )
        assert (found.verdict == "accepted") == holds


@given(DIFFERENCES)
def test_what_a_later_test_accepts_an_earlier_one_accepts_too(differences):
    verdicts = [decide(Bar(), k, evidence(differences)).verdict for k in range(1, MOST_TESTS + 1)]
    assert verdicts == sorted(verdicts), "accepted comes before not accepted"


@given(DIFFERENCES, st.randoms(use_true_random=False))
def test_the_order_of_the_tasks_does_not_matter(differences, chance: random.Random):
    mixed = chance.sample(differences, len(differences))
    assert decide(Bar(), 2, evidence(mixed)) == decide(Bar(), 2, evidence(differences))


def test_an_edit_that_breaks_a_few_tasks_and_helps_the_others_a_little_is_not_accepted():
    """The sign-flip test alone would: it supposes that differences are symmetric."""
    differences = [-0.5] + [0.05] * 30
    assert p_of_gain(differences) < 0.025
    assert decide(Bar(), 1, evidence(differences)).verdict == "not accepted"
    assert decide(Bar(), 1, evidence([0.05] * 31)).verdict == "accepted"


def test_the_levels_of_all_tests_add_up_to_less_than_alpha():
    bar = Bar(alpha=0.05)
    assert [bar.level(k) for k in range(1, 5)] == [0.025, 0.0125, 0.00625, 0.003125]
    assert sum(bar.level(k) for k in range(1, MOST_TESTS + 1)) < bar.alpha
    for number in (0, MOST_TESTS + 1):
        with pytest.raises(ValueError, match="1 to 4 times"):
            bar.level(number)


@pytest.mark.parametrize("size", [12, 13, 20])
def test_p_is_exact_for_all_ways_to_set_the_signs(size):
    chance = random.Random(size)
    sizes = [chance.choice((1, 2, 3)) for _ in range(size)]
    seen = sum(sizes) - 2 * sizes[0] - 2 * sizes[1]
    differences = [-sizes[0], -sizes[1], *sizes[2:]]
    ways = [0] * (2 * sum(sizes) + 1)
    ways[sum(sizes)] = 1
    for each in sizes:
        ways = [
            (ways[at - each] if at >= each else 0)
            + (ways[at + each] if at + each < len(ways) else 0)
            for at in range(len(ways))
        ]
    expected = sum(ways[sum(sizes) + seen :]) / 2**size
    assert p_of_gain(differences) == pytest.approx(expected, rel=1e-12)


def test_a_test_that_cannot_be_made_is_refused_before_a_trial():
    bar = Bar()
    assert "at least 12" in (refusal(bar, 11, 1) or "")
    assert "4 times" in (refusal(bar, 40, 5) or "")
    assert refusal(bar, 12, 4) is None
    assert "cannot reach the level" in (refusal(Bar(alpha=0.0001), 12, 1) or "")
    assert decide(bar, 5, evidence([1.0] * 40)).verdict == "refused"
    assert decide(bar, 1, evidence([1.0] * 11)).verdict == "refused"


def test_trials_without_a_result_and_unknown_guards_are_refused_and_no_score():
    bar = Bar(guards=(Guard(metric="cost", margin=0.1),))
    lost = decide(bar, 1, evidence([1.0] * 40, {"cost": 0.0}, missing=2))
    assert (lost.verdict, lost.why) == ("refused", "2 trials have no result; resume them")
    for worse in ({}, {"cost": None}):
        found = decide(bar, 1, evidence([1.0] * 40, worse))
        assert found.verdict == "refused" and "unknown: cost" in found.why
    assert decide(bar, 1, evidence([1.0] * 40, {"cost": float("nan")})).verdict == "not accepted"


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"sealed": 11}, "at least 12"),
        ({"alpha": 0}, "alpha"),
        ({"alpha": float("nan")}, "alpha"),
        ({"smallest_gain": float("nan")}, "smallest gain"),
        ({"metric": "beauty"}, "unknown metric 'beauty'"),
        ({"repeats": 0}, "at least 1 trial"),
        ({"guards": (Guard(metric="score", margin=0.1),)}, "once"),
    ],
)
def test_a_bar_that_decides_nothing_is_rejected(given_, message):
    with pytest.raises(ValueError, match=message):
        Bar(**given_)
    with pytest.raises(ValueError, match="unknown guard metric"):
        Guard(metric="beauty", margin=0.1)
    with pytest.raises(ValueError, match="0 or more"):
        Guard(metric="cost", margin=-0.1)
