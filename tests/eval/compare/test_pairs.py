"""Which trials are compared, and what is said of the others."""

import random
from typing import get_args

from compare_kit import A, B, trial, trials
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_eval.compare.compare import compare
from uwf_eval.compare.pairs import pair_up
from uwf_eval.compare.records import CompareOptions, LeftOut
from uwf_eval.records import TrialState


def out(side: str, reason: str, count: int, *places: str) -> LeftOut:
    return LeftOut(side=side, reason=reason, trials=count, places=list(places))


def test_repeats_of_a_case_are_one_pair_however_many_either_side_has() -> None:
    a = trials(A, [[1.0, 0.0, 1.0], [0.5]])
    b = trials(B, [[1.0], [0.5, 0.7]])
    found = pair_up(a, b)
    assert [(each.task, len(each.a), len(each.b)) for each in found.pairs] == [
        ("task-1", 3, 1),
        ("task-2", 1, 2),
    ]
    assert not found.left_out


def test_what_is_not_on_both_sides_is_left_out_and_told() -> None:
    found = pair_up(trials(A, [[1.0], [1.0]]), trials(B, [[1.0]]))
    assert [each.task for each in found.pairs] == ["task-1"]
    assert found.left_out == [out("A", "unpaired", 1, "task-2")]


def test_another_fixture_is_another_task_and_told_as_such() -> None:
    found = pair_up(trials(A, [[1.0, 1.0]]), trials(B, [[1.0, 1.0]], fixture="f2"))
    assert not found.pairs
    assert found.left_out == [out("A", "fixture", 2, "task-1"), out("B", "fixture", 2, "task-1")]


def test_a_case_is_paired_with_the_same_case_alone() -> None:
    a = [trial(A, "review", 1, 1.0, case="small"), trial(A, "review", 1, 1.0, case="large")]
    b = [trial(B, "review", 1, 1.0, case="large"), trial(B, "review", 1, 1.0, case="other")]
    found = pair_up(a, b)
    assert [each.case for each in found.pairs] == ["large"]
    assert found.left_out == [
        out("A", "unpaired", 1, "review/small"),
        out("B", "unpaired", 1, "review/other"),
    ]


def test_infrastructure_errors_and_what_was_not_run_never_become_a_score() -> None:
    b = [
        trial(B, "task-1", 1, 1.0),
        trial(B, "task-1", 2, None, state="infra_error"),
        trial(B, "task-1", 3, None, state="not_run"),
        trial(B, "task-1", 4, None),
    ]
    comparison = compare(trials(A, [[1.0]]), b)
    assert comparison.trials == (1, 1)
    assert comparison.tested[0].b is not None and comparison.tested[0].b.mean == 1.0
    assert [(each.reason, each.trials) for each in comparison.left_out] == [
        ("infra_error", 1),
        ("not_run", 1),
        ("no_score", 1),
    ]
    said = "With infrastructure errors as failures 1 of 2 trials of B passed, without them 1 of 1."
    assert said in comparison.notes


def test_trials_that_were_tampered_with_count_as_0_and_are_told() -> None:
    b = [trial(B, "task-1", 1, 0.0, state="tampered")]
    comparison = compare(trials(A, [[1.0]]), b)
    assert comparison.tested[0].difference == -1.0
    assert any("look at them first" in note for note in comparison.notes)


def test_failed_trials_count_with_their_score_of_0() -> None:
    b = [trial(B, "task-1", 1, 0.0, state="failed")]
    comparison = compare(trials(A, [[1.0]]), b)
    assert comparison.tested[0].difference == -1.0


def test_pairs_can_be_asked_to_have_more_in_common() -> None:
    a = [trial(A, "task-1", 1, 1.0, model=model) for model in ("large", "small")]
    b = [trial(B, "task-1", 1, 0.0, model="small")]
    assert len(pair_up(a, b).pairs[0].a) == 2
    found = pair_up(a, b, alike=("model",))
    assert [len(each.a) for each in found.pairs] == [1]
    assert found.left_out == [out("A", "unpaired", 1, "task-1")]


def test_a_task_that_changed_and_sides_that_mix_agents_are_told() -> None:
    a = trials(A, [[1.0], [0.0]])
    b = [*trials(B, [[1.0], [0.0]], task_digest="t2"), trial(B, "task-1", 2, 1.0, agent="hermes")]
    notes = " ".join(compare(a, b).notes)
    assert "task-1, task-2 are different in A and B" in notes
    assert "B contains 2 agents" in notes and "A contains" not in notes


def test_a_run_compared_with_itself_is_told() -> None:
    same = trials(A, [[1.0], [0.0]])
    assert any("on both sides" in note for note in compare(same, same).notes)


cells = st.tuples(
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from(["f1", "f2"]),
    st.sampled_from(get_args(TrialState)),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(cells, max_size=15), st.lists(cells, max_size=15), st.randoms())
def test_every_trial_is_counted_or_told_of_and_the_order_does_not_matter(
    left: list[tuple[int, int, str, TrialState]],
    right: list[tuple[int, int, str, TrialState]],
    shuffler: random.Random,
) -> None:
    a, b = (
        [
            trial(run, f"task-{task}", repeat, repeat / 4, fixture=fixture, state=state)
            for task, repeat, fixture, state in cells
        ]
        for run, cells in ((A, left), (B, right))
    )
    comparison = compare(a, b, CompareOptions(metrics=("score", "cost")))
    for side, given_trials, counted in zip("AB", (a, b), comparison.trials, strict=True):
        told = sum(each.trials for each in comparison.left_out if each.side == side)
        assert counted + told == len(given_trials)
    shuffler.shuffle(a)
    shuffler.shuffle(b)
    again = compare(a, b, CompareOptions(metrics=("score", "cost")))
    assert (again.verdict, again.trials) == (comparison.verdict, comparison.trials)
    assert again.tested[0].p == comparison.tested[0].p
