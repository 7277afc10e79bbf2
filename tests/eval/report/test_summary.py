"""What a run's trials come to."""

from report_kit import RUN, cell, ended, not_run, rich_run, run_of, scored, step, usage

from uwf_core.commands import Screen
from uwf_core.fields.records import write_record
from uwf_eval.records import JudgeResult, Trial
from uwf_eval.report.groups import mean_score
from uwf_eval.report.html.page import page
from uwf_eval.report.markdown import report_markdown
from uwf_eval.report.shares import roles_of, routes_of
from uwf_eval.report.summary import Report, summarise
from uwf_eval.report.text import report_text


def of(*trials: Trial, listed: int = 200) -> Report:
    return summarise(run_of(list(trials)), trials, listed)


def test_what_did_not_count_is_shown_apart_and_is_never_a_score():
    report = of(
        scored(1, 1.0),
        scored(2, 1.0),
        ended(3, "infra_error", "rate_limited", "wait"),
        not_run(4),
    )
    line = report.overall
    assert (line.success.passed, line.success.trials, line.score.value) == (2, 2, 1.0)
    assert (line.states.infra_error, line.states.not_run) == (1, 1)
    assert line.trials == 4


def test_whoever_voids_lost_trials_sees_the_rate_with_them_beside_the_one_without():
    voided = [ended(n, "infra_error", "judge", "it raised") for n in range(4, 9)]
    report = of(scored(1, 1.0), scored(2, 1.0), scored(3, 0.0), *voided)
    line = report.overall
    assert round(line.success.value or 0, 2) == 0.67
    assert (line.success_at_least.passed, line.success_at_least.trials) == (2, 8)
    for text in (report_text(report, Screen(100, False)), report_markdown(report), page(report)):
        assert "2 of 8, infra errors as failures" in text


def test_a_trial_that_was_tampered_with_counts_with_score_0():
    line = of(scored(1, 1.0), ended(2, "tampered", "tampered", "", tampered=["a"])).overall
    assert (line.success.passed, line.success.trials, line.score.value) == (1, 2, 0.5)


def test_a_trial_that_failed_by_its_own_fault_counts_with_score_0():
    line = of(scored(1, 1.0), ended(2, "failed", "invalid_output", "no $status")).overall
    assert (line.success.passed, line.success.trials, line.score.value) == (1, 2, 0.5)


def test_a_run_in_which_nothing_counts_has_no_rate_and_no_score():
    line = of(not_run(1), ended(2, "infra_error", "unavailable", "no network")).overall
    assert (line.success.value, line.success.low, line.score.value) == (None, None, None)
    assert line.passes == []


def test_trials_of_one_case_have_wilsons_interval_on_their_success_rate():
    """scipy.stats.binomtest(3, 5).proportion_ci(method="wilson")."""
    line = of(*(scored(n, float(n <= 3)) for n in range(1, 6))).overall
    assert line.success.low is not None
    assert line.success.high is not None
    assert (round(line.success.low, 4), round(line.success.high, 4)) == (0.2307, 0.8824)


def test_many_repeats_of_few_tasks_are_no_more_certain_than_the_tasks_allow():
    """Ten tasks, half of which always pass: 200 trials say no more than 10 tasks do."""
    trials = [
        scored(n + 1, float(n % 10 < 5), cell(f"task-{n % 10}", repeat=n // 10)) for n in range(200)
    ]
    success = of(*trials).overall.success
    assert success.clusters == 10
    assert success.low is not None
    assert success.low < 0.3


def test_pass_at_k_says_over_how_many_cases_it_is():
    trials = [scored(n, float(n == 1), cell("a", repeat=n)) for n in range(1, 4)]
    trials += [scored(4, 1.0, cell("b"))]
    passes = {each.k: each for each in of(*trials).overall.passes}
    assert set(passes) == {1, 2, 3}
    assert (passes[3].at, passes[3].all, passes[3].items, passes[3].of) == (1.0, 0.0, 1, 2)
    assert round(passes[1].at or 0, 4) == round((1 / 3 + 1) / 2, 4)


def test_what_an_agent_did_not_report_is_unknown_and_not_0():
    known, unknown = scored(1, 1.0), scored(2, 1.0, usage=usage(None, None))
    line = of(known, unknown).overall
    assert (line.cost.mean, line.cost.known, line.cost.of) == (0.02, 1, 2)
    assert (line.tokens.known, line.tokens.total) == (1, 2200)
    nothing = of(unknown).overall
    assert (nothing.cost.total, nothing.tokens.mean) == (None, None)


def test_versions_of_a_workflow_are_told_apart_by_as_much_of_their_reference_as_it_takes():
    trials = [
        scored(1, 1.0, cell(workflow="3F2AA00000000")),
        scored(2, 0.0, cell(workflow="3F2AB00000000")),
    ]
    labels = [each.configuration.label for each in of(*trials).configurations]
    assert labels == ["solve@3F2AA", "solve@3F2AB"]


def test_tasks_that_have_their_own_workflows_are_one_configuration():
    trials = [
        scored(1, 1.0, cell("a", workflow="AAAA000000000", workflow_name="one", agent="x")),
        scored(2, 0.0, cell("b", workflow="BBBB000000000", workflow_name="two", agent="x")),
    ]
    report = of(*trials)
    assert [each.configuration.label for each in report.configurations] == ["x"]
    assert [len(task.configurations) for task in report.tasks] == [0, 0]


def test_tasks_that_bring_their_own_agents_are_one_configuration():
    report = of(scored(1, 1.0, cell("a", agent="mock")), scored(2, 0.0, cell("b", agent="played")))
    assert [each.configuration.label for each in report.configurations] == ["as configured"]
    assert [len(task.configurations) for task in report.tasks] == [0, 0]


def test_every_configuration_of_a_task_has_a_line_of_its_own():
    trials = [
        scored(1, 1.0, cell(agent="a", model="m")),
        scored(2, 0.5, cell(agent="b", model="m")),
        scored(3, 0.0, cell(agent="b", model="n")),
    ]
    (task,) = of(*trials).tasks
    found = {each.configuration.label: each.line.score.value for each in task.configurations}
    assert found == {"a · m": 1.0, "b · m": 0.5, "b · n": 0.0}


def test_judges_show_how_far_they_agree_with_themselves_and_how_often_they_failed():
    failed = JudgeResult(name="rubric", judge="builtin:rubric", weight=0.0, score=None, error="no")
    trials = [scored(1, 1.0), ended(2, "infra_error", "judge", "no"), scored(3, 0.0)]
    trials[2] = scored(3, 0.0, judges=[trials[0].judges[0], failed])
    tests, rubric = of(*trials).overall.judges
    assert (tests.name, tests.weight, tests.agreement) == ("tests", 1.0, None)
    assert (rubric.failed, rubric.error, rubric.agreement, rubric.repeated) == (1, "no", 0.8, 1)
    assert rubric.score.value == 0.8


def test_roles_say_where_time_and_tokens_went():
    steps = [step("a", duration_ms=10), step("b", duration_ms=30, corrections=2), step("a")]
    roles = of(scored(1, 1.0, steps=steps), scored(2, 1.0, steps=steps[:1])).roles
    assert [(each.role, each.steps, each.trials) for each in roles] == [("a", 3, 2), ("b", 1, 1)]
    assert (roles[0].duration_ms, roles[0].tokens.total) == (1520, 3300)
    assert roles[1].corrections == 2


def test_routes_join_repeats_and_the_rare_ones_are_added_up():
    common = [scored(n, 1.0, steps=[step("a"), step("a"), step("b")]) for n in range(1, 4)]
    rare = [scored(10 + n, 0.0, steps=[step("a")] * (n + 3)) for n in range(15)]
    routes = of(*common, *rare).routes
    first, last = routes[0], routes[-1]
    assert [(each.role, each.times) for each in first.stations] == [("a", 2), ("b", 1)]
    assert (first.trials, first.passed, first.score) == (3, 3, 1.0)
    assert (last.stations, last.routes, last.trials) == ([], 4, 4)
    assert len(routes) == 13


def test_failures_by_kind_tell_those_that_count_from_those_that_do_not():
    report = of(
        ended(1, "failed", "timeout", "took too long"),
        ended(2, "infra_error", "timeout", "judge took too long"),
        ended(3, "failed", "timeout", "again"),
        ended(4, "tampered", "judge", "", tampered=["tests/a.py"]),
    )
    found = [(each.kind, each.state, each.trials, each.message) for each in report.failures]
    assert found == [
        ("timeout", "failed", 2, "took too long"),
        ("tampered", "tampered", 1, "changed: tests/a.py"),
        ("timeout", "infra_error", 1, "judge took too long"),
    ]


def test_of_many_trials_those_that_did_not_pass_are_listed_first():
    report = of(*(scored(n, float(n != 7)) for n in range(1, 11)), listed=3)
    assert [trial.number for trial in report.trials] == [1, 2, 7]
    assert report.left_out == 7


def test_the_document_is_stable():
    document = write_record(summarise(*rich_run()))
    assert list(document) == [
        "format", "run", "overall", "configurations", "tasks", "roles", "routes", "failures",
        "recorded", "trials", "leftOut",
    ]  # fmt: skip
    assert list(document["overall"]) == [
        "trials", "states", "success", "successAtLeast", "score", "passes", "cost", "tokens",
        "duration", "spent", "judges",
    ]  # fmt: skip
    assert document["overall"]["states"] == {
        "scored": 35, "failed": 2, "infraError": 1, "notRun": 1, "tampered": 1,
    }  # fmt: skip
    assert document["run"]["run"] == RUN


def test_what_run_prints_at_its_end_is_the_score_that_report_prints():
    """Tasks with several numbers of repeats: each counts alike."""
    uneven = [scored(1, 0.2, cell("a")), *(scored(n, 1.0, cell("b")) for n in (2, 3, 4))]
    for trials in (uneven, [*uneven[:1], not_run(5)], rich_run()[1], [not_run(1)], []):
        assert mean_score(trials) == of(*trials).overall.score.value
    assert mean_score(uneven) == 0.6


def test_roles_and_routes_of_equal_sums_have_the_order_of_their_names():
    steps = [step("writer"), step("editor"), step("author")]
    trials = [scored(number, 1.0, steps=[one]) for number, one in enumerate(steps, 1)]
    names = ["author", "editor", "writer"]
    assert [each.role for each in roles_of(trials)] == names
    assert [each.stations[0].role for each in routes_of(trials)] == names
