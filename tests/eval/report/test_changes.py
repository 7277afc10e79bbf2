"""Two runs side by side."""

from dataclasses import replace

from report_kit import cell, check_golden, ended, not_run, rich_run, run_of, scored

from uwf_core.commands import Screen
from uwf_eval.compare.changes import Changes, changes_between, tables_of, tally
from uwf_eval.records import Trial
from uwf_eval.report.tables import table_text
from uwf_eval.report.trial_text import trial_text


def of(a: list[Trial], b: list[Trial], listed: int = 200) -> Changes:
    return changes_between(run_of(a), a, run_of(b), b, listed)


def text_of(found: Changes) -> str:
    parts = [*(table_text(each, Screen(80, False)) for each in tables_of(found)), tally(found)]
    return "\n\n".join(part for part in parts if part)


def test_two_runs_that_came_out_alike_differ_in_nothing():
    found = of([scored(1, 0.5), not_run(2)], [scored(1, 0.5), not_run(2)])
    assert (found.settings, found.trials, found.changed, found.same) == ([], [], 0, 1)


def test_a_trial_that_ended_otherwise_shows_both_ends():
    found = of([scored(1, 0.5)], [ended(1, "infra_error", "auth", "no key")])
    (change,) = found.trials
    assert change.a is not None
    assert change.b is not None
    assert (change.a.state, change.a.score) == ("scored", 0.5)
    assert (change.b.state, change.b.score) == ("infra_error", None)
    assert found.tasks[0].b is not None
    assert found.tasks[0].b.score is None


def test_another_version_of_the_workflow_is_paired_with_the_one_before():
    before = [scored(n, 0.5, cell(workflow="AAAA000000000", repeat=n)) for n in (1, 2)]
    after = [scored(n, 0.75, cell(workflow="BBBB000000000", repeat=n)) for n in (1, 2)]
    found = of(before, after)
    assert [each.configuration for each in found.trials] == ["solve@AAAA → solve@BBBB"] * 2
    [task] = found.tasks
    assert (task.a and task.a.score, task.b and task.b.score) == (0.5, 0.75)


def test_runs_with_the_same_configurations_pair_each_with_itself_whatever_their_order():
    a, b = cell(agent="a"), cell(agent="b")
    found = of([scored(1, 0.1, a), scored(2, 0.2, b)], [scored(1, 0.2, b), scored(2, 0.1, a)])
    assert found.changed == 0


def test_a_task_that_only_one_run_has_is_shown_as_that():
    found = of([scored(1, 1.0, cell("a"))], [scored(1, 1.0, cell("b"))])
    assert [(each.task, each.a is None, each.b is None) for each in found.tasks] == [
        ("a", False, True),
        ("b", True, False),
    ]
    assert found.changed == 2


def test_what_was_set_otherwise_is_told_and_nothing_else():
    trials = [scored(1, 1.0, fixture="aa" * 32)]
    others = [scored(1, 1.0, fixture="bb" * 32)]
    a, b = run_of(trials), replace(run_of(others), seed=8, models=["big"])
    found = changes_between(a, trials, b, others, 200)
    assert [(each.what, each.a, each.b) for each in found.settings] == [
        ("models", "as configured", "big"),
        ("seed", "7", "8"),
        ("fixture of fix", "aaaaaaaaaaaa", "bbbbbbbbbbbb"),
    ]


def test_of_many_changes_the_rest_is_counted():
    found = of([scored(n, 0.0, cell(repeat=n)) for n in range(9)],
               [scored(n, 1.0, cell(repeat=n)) for n in range(9)], listed=2)  # fmt: skip
    assert (len(found.trials), found.changed) == (2, 9)
    assert "7 trials more changed" in text_of(found)


def test_the_changes_and_a_trial_read_as_in_the_golden_files():
    run, trials = rich_run()
    after = [replace(t, score=1.0, passed=True) if t.number % 9 == 1 else t for t in trials]
    found = changes_between(run, trials, replace(run, name="after", seed=8), after, 200)
    screen = Screen(80, False)
    check_golden("changes.txt", text_of(found) + "\n")
    shown = [trial_text(trials[number], screen) for number in (0, 3, 12, 25, 39)]
    check_golden("trials.txt", "\n\n----\n\n".join(shown) + "\n")
