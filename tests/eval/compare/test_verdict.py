"""Better, worse, no difference, cannot tell."""

import random
from itertools import pairwise

import pytest
from compare_kit import A, B, trial, trials
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.api import Usage
from uwf_eval.compare.compare import compare
from uwf_eval.compare.records import CompareOptions, Comparison, Measured

MIRRORED = {"better": "worse", "worse": "better"}
LOW = [[0.2, 0.4, 0.3], [0.1, 0.0, 0.2], [0.5, 0.4, 0.6], [0.3, 0.2, 0.2], [0.6, 0.5, 0.4],
       [0.1, 0.3, 0.2], [0.4, 0.4, 0.3], [0.2, 0.1, 0.3]]  # fmt: skip
HIGH = [[score + 0.3 for score in row] for row in LOW]
MIXED = [
    [round(score + 0.1 * (-1) ** number, 2) for score in row] for number, row in enumerate(LOW)
]


def first(comparison: Comparison) -> Measured:
    return comparison.tested[0]


def test_clearly_higher_scores_are_better_and_clearly_lower_ones_worse() -> None:
    low, high = trials(A, LOW), trials(B, HIGH)
    assert compare(low, high).verdict == "better"
    assert compare(high, low).verdict == "worse"
    measured = first(compare(low, high))
    assert measured.difference == pytest.approx(0.3)
    assert measured.p == 2 / 2**8
    assert (measured.higher, measured.lower, measured.equal) == (8, 0, 0)


def test_differences_that_go_both_ways_cannot_be_told_and_what_would_help_is_said() -> None:
    measured = first(compare(trials(A, LOW), trials(B, MIXED)))
    assert measured.verdict == "cannot_tell"
    assert [plan.kind for plan in measured.plans] == ["margin"]
    assert (measured.plans[0].tasks or 0) > 8


def test_a_lower_cost_is_better() -> None:
    dear = trials(A, LOW)
    cheap = [
        trial(B, each.cell.task, each.cell.repeat, 0.5,
              usage=Usage(cost_usd=0.01 + each.cell.repeat / 1000 + len(each.cell.task) / 9999))
        for each in dear
    ]  # fmt: skip
    options = CompareOptions(metrics=("cost",))
    assert compare(dear, cheap, options).verdict == "better"
    assert compare(cheap, dear, options).verdict == "worse"


@pytest.mark.parametrize("tasks", [1, 2, 5])
def test_fewer_than_6_tasks_can_never_tell(tasks: int) -> None:
    measured = first(compare(trials(A, [[0.0] * 9] * tasks), trials(B, [[1.0] * 9] * tasks)))
    assert measured.verdict == "cannot_tell"
    assert "at least 6" in measured.why
    assert [plan.tasks for plan in measured.plans] == [6, 73]


def test_with_two_metrics_it_takes_7_tasks() -> None:
    options = CompareOptions(metrics=("score", "passed"))
    comparison = compare(trials(A, [[0.0]] * 6), trials(B, [[1.0]] * 6), options)
    assert comparison.verdict == "cannot_tell"
    assert "at least 7" in first(comparison).why
    assert compare(trials(A, [[0.0]] * 7), trials(B, [[1.0]] * 7), options).verdict == "better"


def test_no_difference_takes_enough_tasks_and_a_margin() -> None:
    drawn = random.Random(1)
    scores = [[round(drawn.uniform(0.4, 0.6), 2)] for _ in range(40)]
    moved = [[round(each + drawn.uniform(-0.05, 0.05), 2)] for [each] in scores]
    a, b = trials(A, scores), trials(B, moved)
    assert compare(a, b).verdict == "no_difference"
    assert compare(a, b, CompareOptions(within=0.001)).verdict == "cannot_tell"
    assert compare(a, b, CompareOptions(within=0)).verdict == "cannot_tell"


def test_a_difference_too_small_to_matter_is_none_and_is_told() -> None:
    drawn = random.Random(2)
    scores = [[round(drawn.uniform(0.4, 0.6), 2)] for _ in range(40)]
    moved = [[round(each + drawn.choice((0.01, 0.02, 0.03)), 2)] for [each] in scores]
    a, b = trials(A, scores), trials(B, moved)
    measured = first(compare(a, b))
    assert measured.verdict == "no_difference"
    assert "A small difference is significant" in measured.why
    assert compare(a, b, CompareOptions(within=0.01)).verdict == "better"


@pytest.mark.parametrize("score", [0.0, 0.7, 1.0])
def test_all_alike_cannot_tell_until_there_are_many_tasks(score: float) -> None:
    few = [[score] * 3] * 20
    measured = first(compare(trials(A, few), trials(B, few)))
    assert measured.verdict == "cannot_tell"
    assert "has the same result" in measured.why
    many = [[score]] * 80
    assert compare(trials(A, many), trials(B, many)).verdict == "no_difference"


def test_nothing_at_all_cannot_tell() -> None:
    for a, b in (([], []), (trials(A, [[1.0]]), []), ([], trials(B, [[1.0]]))):
        comparison = compare(a, b)
        assert comparison.verdict == "cannot_tell"
        assert first(comparison).tasks == 0
        assert {each.tasks for each in comparison.beside} == {0}


def test_unknown_costs_are_counted_and_never_taken_as_0() -> None:
    silent = [
        trial(B, each.cell.task, each.cell.repeat, 0.5, usage=Usage()) for each in trials(A, LOW)
    ]
    comparison = compare(trials(A, LOW), silent, CompareOptions(metrics=("cost", "score")))
    assert comparison.verdict == "cannot_tell"
    assert (first(comparison).tasks, first(comparison).unknown) == (0, (0, 24))
    beside = {each.metric: each for each in comparison.beside}
    assert (beside["tokens"].tasks, beside["tokens"].unknown) == (0, (0, 24))


def test_costs_of_nothing_divide_nothing() -> None:
    free = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)
    comparison = compare(
        trials(A, LOW, usage=free, duration_ms=0), trials(B, LOW, usage=free, duration_ms=0),
        CompareOptions(metrics=("cost", "tokens", "duration")),
    )  # fmt: skip
    for measured in comparison.tested:
        assert measured.verdict == "cannot_tell"
        assert (measured.relative, measured.margin, measured.interval) == (None, None, None)
        assert measured.plans == []


def test_holm_takes_away_what_several_metrics_find_by_chance() -> None:
    slower = (6000, 5000, 4000, 3000, 2000, 1000, 500, -700)
    a = trials(A, LOW)
    b = [
        trial(B, each.cell.task, each.cell.repeat, each.score, duration_ms=40_000 + more)
        for each in trials(B, MIXED)
        for more in [slower[int(each.cell.task[5:]) - 1]]
    ]
    alone = first(compare(a, b, CompareOptions(metrics=("duration",))))
    assert alone.verdict == "worse"
    both = compare(a, b, CompareOptions(metrics=("duration", "score", "passed", "tokens", "cost")))
    assert first(both).p == alone.p
    assert first(both).verdict == "cannot_tell"
    assert (first(both).adjusted or 0) > 0.05 >= (alone.p or 1)


def test_over_cases_each_case_counts_as_one() -> None:
    a = [trial(A, "review", 1, 0.0, case=f"case-{n}") for n in range(8)]
    b = [trial(B, "review", 1, 1.0, case=f"case-{n}") for n in range(8)]
    by_task = compare(a, b)
    assert (by_task.verdict, first(by_task).tasks) == ("cannot_tell", 1)
    assert any("--over case" in note for note in by_task.notes)
    by_case = compare(a, b, CompareOptions(over="case"))
    assert (by_case.verdict, first(by_case).tasks) == ("better", 8)


def test_a_case_with_many_repeats_weighs_no_more_than_another() -> None:
    a = [trial(A, "t", r, 0.0, case="x") for r in range(9)] + [trial(A, "t", 1, 1.0, case="y")]
    b = [trial(B, "t", 1, 1.0, case="x"), trial(B, "t", 1, 1.0, case="y")]
    assert first(compare(a, b)).difference == 0.5


@pytest.mark.parametrize(
    "asked",
    [{"level": 1.0}, {"level": 0.1}, {"within": -1.0}, {"within": float("nan")},
     {"metrics": ()}, {"metrics": ("score", "score")}, {"power": 1.0}],
)  # fmt: skip
def test_questions_that_make_no_sense_are_refused(asked: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"level|within|metrics"):
        CompareOptions(**asked)


def test_test_and_interval_must_agree() -> None:
    """All 7 tasks are ahead, six of them by a hair: the test says yes, the range reaches 0."""
    gains = (0.01, 0.02, 0.01, 0.03, 0.01, 0.02, 0.9)
    measured = first(compare(trials(A, [[0.05]] * 7), trials(B, [[0.05 + gain] for gain in gains])))
    assert (measured.p or 1) <= 0.05
    assert measured.verdict == "cannot_tell"
    assert "still contains 0" in measured.why


rows = st.lists(
    st.tuples(*[st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=1, max_size=3)] * 2),
    min_size=1,
    max_size=9,
)


@settings(max_examples=50, deadline=None)
@given(rows)
def test_swapping_the_sides_turns_the_verdict_around(
    both: list[tuple[list[float], list[float]]],
) -> None:
    a, b = trials(A, [left for left, _ in both]), trials(B, [right for _, right in both])
    options = CompareOptions(metrics=("score", "duration"))
    there, back = compare(a, b, options), compare(b, a, options)
    assert back.verdict == MIRRORED.get(there.verdict, there.verdict)
    for one, other in zip(there.tested, back.tested, strict=True):
        assert (one.p, one.adjusted) == (other.p, other.adjusted)
        assert one.difference == pytest.approx(-(other.difference or 0))
        assert (one.higher, one.lower) == (other.lower, other.higher)


def test_a_larger_difference_is_never_less_clear() -> None:
    gains = [first(compare(trials(A, LOW), trials(B, [[s + g for s in row] for row in LOW])))
             for g in (0.0, 0.1, 0.2, 0.4)]  # fmt: skip
    for smaller, larger in pairwise(gains):
        assert (larger.p or 0) <= (smaller.p or 0)
