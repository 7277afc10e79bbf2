"""Which trials a run is made of, in which order, and what it may use."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uwf_core.api import Usage
from uwf_eval.plan.budget import Spending, exhausted, read_budget, spending_of, unknown_limits
from uwf_eval.plan.matrix import Matrix, Published, in_order, planned
from uwf_eval.records import Budget, Cell, Trial
from uwf_eval.task.model import Case, JudgeSpec, Task


def task(name: str, *cases: str, agent: str | None = None) -> Task:
    return Task(
        name=name,
        workflow="w",
        cases=[Case(name=each, prompt="p") for each in cases],
        judges=[JudgeSpec(name="j", builtin="duration")],
        agent=agent,
        folder=Path("/task"),
        source="folder",
        place="/task",
        digest=f"digest of {name}",
    )


def matrix(repeat: int = 1, **changes: object) -> Matrix:
    tasks = [task("a", ""), task("b", "x", "y", agent="own")]
    flows = [Published(word=each, ref=each * 13, name=each) for each in "VW"]
    settings = {
        "tasks": tasks,
        "workflows": {"a": flows[:1], "b": flows},
        "fixtures": {(t.name, c.name): f"{t.name}.{c.name}" for t in tasks for c in t.cases},
        "repeat": repeat,
        **changes,
    }
    return Matrix(**settings)  # type: ignore[arg-type]


def test_the_matrix_is_every_combination_numbered_from_one() -> None:
    whole = matrix(repeat=3, agents=("x", None), models=("m", "n"))
    trials = planned(whole, "RUN")
    assert len(trials) == whole.size() == (1 + 2 * 2) * 2 * 2 * 3
    assert [each.number for each in trials] == list(range(1, len(trials) + 1))
    assert len({each.cell for each in trials}) == len(trials)
    assert {each.state for each in trials} == {"not_run"}
    assert all(each.fixture == f"{each.cell.task}.{each.cell.case}" for each in trials)
    assert {each.cell.agent for each in trials if each.cell.task == "b"} == {"x", "own"}
    assert {each.cell.agent for each in trials if each.cell.task == "a"} == {"x", None}


@given(st.integers(0, 2**53), st.integers(1, 6))
def test_trials_are_run_round_by_round_and_the_seed_says_how(seed: int, repeat: int) -> None:
    trials = planned(matrix(repeat), "RUN")
    order = in_order(trials, seed)
    assert Counter(each.number for each in order) == Counter(each.number for each in trials)
    rounds = [each.cell.repeat for each in order]
    assert rounds == sorted(rounds)
    assert order == in_order(trials, seed)


def trial(usage: Usage) -> Trial:
    cell = Cell(task="t", case="", workflow="", workflow_name="", agent=None, model=None, repeat=1)
    return Trial(run="R", number=1, cell=cell, state="scored", usage=usage)


def test_what_is_unknown_is_said_and_never_counted_as_nothing() -> None:
    """The known part counts, of a trial as well as of a call, and ends a run."""
    known = trial(Usage(input_tokens=10, output_tokens=5, cost_usd=0.5))
    unknown = trial(Usage(input_tokens=10))
    spent = spending_of([known, unknown])
    assert (spent.usage.cost_usd, spent.usage.tokens) == (0.5, 25)
    budget = Budget(cost_usd=1.0, tokens=100)
    cost, tokens = unknown_limits(budget, spent.usage)
    assert "cost limit counts only what is known" in cost
    assert "token limit counts only what is known" in tokens
    assert [*unknown_limits(Budget(cost_usd=1.0), unknown.usage)] == [
        "cannot enforce the cost limit: the agent does not report it"
    ]
    assert not list(unknown_limits(Budget(minutes=1.0), spent.usage))
    assert not list(unknown_limits(budget, known.usage))
    assert exhausted(Budget(cost_usd=0.5), spent, 2, 0) == "cost limit reached: $0.5 of $0.5"


def test_each_part_of_a_budget_ends_a_run() -> None:
    spent = Spending(3, Usage(input_tokens=800, output_tokens=100, cost_usd=2.0))
    assert exhausted(Budget(), spent, 3, 1e9) is None
    assert exhausted(Budget(cost_usd=2.0), spent, 3, 0) == "cost limit reached: $2 of $2"
    assert exhausted(Budget(tokens=900), spent, 3, 0) == "token limit reached: 900 of 900"
    assert exhausted(Budget(minutes=1.5), spent, 3, 1.6) == "time limit reached: 1.6 of 1.5 minutes"
    assert exhausted(Budget(trials=3), spent, 3, 0) == "trial limit reached: 3"
    assert exhausted(Budget(trials=4, tokens=901, cost_usd=2.1), spent, 3, 0) is None


def test_a_budget_is_read_as_people_write_it() -> None:
    assert read_budget("$2.50, 1h,500ktok,20trials") == Budget(
        cost_usd=2.5, minutes=60.0, tokens=500_000, trials=20
    )
    assert read_budget("30s") == Budget(minutes=0.5)
    assert read_budget("2usd") == Budget(cost_usd=2.0)
    for wrong in ("", "much", "1", "$", "-1h", "$0", "1h,2m", "nanh", "infusd", "1e400tok"):
        with pytest.raises(ValueError):
            read_budget(wrong)
