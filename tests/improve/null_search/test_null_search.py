"""The benchmark null search, with few searches; `python -m benchmarks.null_search` has 1,000."""

import json
from random import Random

import pytest

from benchmarks.null_search.gates import GATES, right_winner
from benchmarks.null_search.scores import FromRecords, Recorded, Simulated, read_records
from benchmarks.null_search.search import Claim, Outcome, Search, Setup
from benchmarks.null_search.tally import tally

SEED = 7
SMALL = Setup(open=10, repeats=1)


def test_the_gate_of_uwf_accepts_rarely_what_others_accept_nearly_always():
    ours = tally(GATES["uwf-improve"], SMALL, Simulated(), 150, SEED)
    assert ours.upper <= 0.065
    assert abs(ours.bias or 0) <= 0.02
    for name, least in (("any strict improvement", 0.7), ("> 1 standard error", 0.4)):
        theirs = tally(GATES[name], SMALL, Simulated(), 60, SEED)
        assert theirs.accepted >= least, name
        assert theirs.claimed >= 0.15 and theirs.true == 0, name


def test_a_right_winner_of_20_points_is_accepted_at_40_tasks_by_3_trials():
    found = tally(right_winner, Setup(lift=0.2), Simulated(), 150, SEED)
    assert found.right >= 0.8
    assert abs(found.bias or 0) <= 0.02


def test_edits_that_break_few_tasks_and_help_many_a_little_are_not_accepted_more_often():
    setup = Setup(spread=0.2, skew=True)
    assert tally(right_winner, setup, Simulated(margin=0.2), 400, SEED).upper <= 0.05


def test_the_same_seed_gives_the_same_table():
    first, again, other = (
        tally(GATES["uwf-improve"], SMALL, Simulated(), 5, seed) for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize(
    "setup", [Setup(lift=0.2), Setup(spread=0.1), Setup(spread=0.2, skew=True)]
)
def test_the_true_gain_of_an_edit_is_what_the_benchmark_believes(setup):
    """With many tasks and trials of one search."""
    search = Search(
        setup._replace(open=4000, repeats=10, sealed=0), Simulated(setup.spread), Random(SEED)
    )
    for edit in (0, 1):
        found = sum(search.on_open([edit])) - sum(search.on_open())
        assert found / 4000 == pytest.approx(search.true_gain(edit), abs=0.012)


def test_recorded_scores_are_drawn_as_they_were_recorded(tmp_path):
    file = tmp_path / "scores.json"
    file.write_text(json.dumps({"a": [0, 1, 1], "b": [0.5]}))
    population = read_records(file)
    assert population.records == [[0, 1, 1], [0.5]]
    chance = Random(SEED)
    for task in population.tasks(chance, 20):
        assert isinstance(task, Recorded)
        assert {task.draw(chance, 0.0) for _ in range(50)} == set(task.scores)
    lifted = [Recorded([0.0, 0.5]).draw(chance, 0.15) for _ in range(20_000)]
    assert sum(lifted) / 20_000 == pytest.approx(0.4, abs=0.01)
    found = tally(GATES["uwf-improve"], SMALL, FromRecords([[0, 1], [1], [0, 0, 1]]), 40, SEED)
    assert found.accepted <= 0.1


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"a": []}', '{"a": [2]}', '{"a": ["x"]}', '{"a": 1}']
)
def test_a_file_without_scores_is_rejected(tmp_path, text):
    file = tmp_path / "scores.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"scores\.json"):
        read_records(file)


def test_any_callable_is_a_gate_and_pays_for_its_trials():
    def greedy(search: Search) -> Outcome:
        search.on_open()
        return Outcome([Claim(3, 0.5)])

    found = tally(greedy, SMALL, Simulated(), 10, SEED)
    assert (found.accepted, found.claimed, found.true, found.runs) == (1.0, 0.5, 0.0, 10)
    assert found.bias is None
