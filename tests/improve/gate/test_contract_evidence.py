"""From trials to evidence: tasks are the unit, and nothing that is missing becomes a score."""

from dataclasses import replace

import pytest

from uwf_core.api import Usage
from uwf_eval.records import Cell, Trial
from uwf_improve.gate.bar import Bar, Guard
from uwf_improve.gate.decide import decide, differences
from uwf_improve.gate.evidence import Contest, weigh_evidence

TASKS = [f"t{number:02}" for number in range(24)]
UNITS = {task: f"source:{task}" for task in TASKS}


def trial(task: str, repeat: int, score: float | None, **more) -> Trial:
    cell = Cell(
        task=task, case="", workflow="W", workflow_name="w", agent=None, model=None, repeat=repeat
    )
    given = {
        "state": "scored", "passed": None if score is None else score >= 1,
        "usage": Usage(input_tokens=9, output_tokens=1, cost_usd=0.02), "duration_ms": 1000, **more,
    }  # fmt: skip
    return Trial(run="R", number=repeat, cell=cell, score=score, **given)


def side(score: float, repeats: int = 3, tasks=TASKS, **more) -> list[Trial]:
    return [trial(task, number + 1, score, **more) for task in tasks for number in range(repeats)]


BAR = Bar(
    guards=(
        Guard(metric="cost", margin=0.5),
        Guard(metric="duration", margin=0.5),
        Guard(metric="tampering", margin=0),
        Guard(metric="infra_errors", margin=0.01),
    )
)


def decided(champion, edit, bar=BAR, **more):
    found = weigh_evidence(bar, Contest(champion=champion, edit=edit, units=UNITS, **more))
    return found, decide(bar, 1, found)


def test_a_better_edit_is_accepted():
    found, decision = decided(side(0.5), side(1.0))
    assert decision.verdict == "accepted" and decision.gain is not None
    assert decision.gain.mean == 0.5 and 0 < (decision.gain.low or 0) < 0.5
    assert found.worse == {"cost": 0, "duration": 0, "tampering": 0, "infra_errors": 0}


def test_tasks_of_one_source_count_as_one():
    units = {task: f"source:{task[:2]}" for task in TASKS}  # t0, t1, t2
    found = weigh_evidence(BAR, Contest(champion=side(0.5), edit=side(1.0), units=units))
    assert (found.champion, found.edit) == ([0.5] * 3, [1.0] * 3)
    assert decide(BAR, 1, found).verdict == "refused"


@pytest.mark.parametrize(
    "worse",
    [
        {"usage": Usage(input_tokens=9, output_tokens=1, cost_usd=0.04)},
        {"duration_ms": 1600},
    ],
)
def test_an_edit_that_buys_its_gain_is_not_accepted(worse):
    assert decided(side(0.5), side(1.0, **worse))[1].verdict == "not accepted"


def test_tampering_and_infrastructure_errors_count_against_the_edit():
    edit = side(1.0)
    edit[0] = replace(edit[0], state="tampered", score=0.0, passed=False)
    assert decided(side(0.5), edit)[1].verdict == "not accepted"
    assert decided(side(0.5), side(1.0), infra_errors=(0, 4))[1].verdict == "not accepted"
    assert decided(side(0.5), side(1.0), infra_errors=(4, 4))[1].verdict == "accepted"


def test_a_trial_without_a_result_is_refused_wherever_it_is_missing():
    lost = replace(side(1.0)[0], state="infra_error", score=None, passed=None)
    for edit in (
        side(1.0)[1:],  # one trial was never started
        side(1.0)[3:],  # nor one task
        [lost, *side(1.0)[1:]],
        [replace(lost, state="not_run"), *side(1.0)[1:]],
    ):
        assert decided(side(0.5), edit)[1].verdict == "refused"
        assert decided(edit, side(1.0))[1].verdict == "refused"
    both = side(1.0, tasks=TASKS[1:])  # a lost task cannot be left out on both sides
    assert decided(side(0.5, tasks=TASKS[1:]), both)[0].missing == 6


def test_a_trial_of_an_open_task_is_an_error():
    with pytest.raises(ValueError, match="not sealed: other"):
        decided(side(0.5), [*side(1.0), trial("other", 1, 1.0)])


def test_unknown_costs_refuse_a_bar_that_guards_them():
    nothing = {"usage": Usage()}
    assert decided(side(0.5, **nothing), side(1.0, **nothing))[1].verdict == "refused"
    one_unknown = [replace(side(1.0)[0], **nothing), *side(1.0)[1:]]
    assert decided(side(0.5), one_unknown)[1].verdict == "refused"
    assert decided([replace(side(0.5)[0], **nothing), *side(0.5)[1:]], side(1.0))[1].verdict == (
        "refused"
    )


def test_a_metric_of_which_less_is_better_is_improved_by_less():
    bar = Bar(metric="duration", smallest_gain=0.1, guards=(Guard(metric="score", margin=0.01),))
    slow, fast = side(1.0), side(1.0, duration_ms=800)
    found, decision = decided(slow, fast, bar)
    assert decision.verdict == "accepted" and decision.gain is not None
    assert decision.gain.mean == pytest.approx(0.2)
    assert differences(bar, found) == [200.0] * 24
    assert decided(fast, slow, bar)[1].verdict == "not accepted"
    worse = side(0.9, duration_ms=800)
    assert decided(slow, worse, bar)[1].verdict == "not accepted"
