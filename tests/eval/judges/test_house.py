"""The judges of the house that count, compare and run a command."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judges_kit import SUMMARY, TASK
from tests.core.engine.conftest import ONE_ROLE

from uwf_core.api import JudgeRequest, Usage
from uwf_core.api.agent import usage_payload
from uwf_core.testing.project import Project
from uwf_eval.judges.builtin.diff_size import changed_files
from uwf_eval.judges.builtin.frontmatter import Compliance, ComplianceOptions
from uwf_eval.judges.builtin.route import fits
from uwf_eval.judges.builtin_judges import builtin_judges
from uwf_eval.judges.run_judge import agreement_of
from uwf_eval.task.model import JudgeSpec
from uwf_eval.trial.thread import read_thread
from uwf_eval.trial.verdict import of_judges


def compliance(steps, count="first"):
    request = JudgeRequest(cwd=".", thread="", record={"steps": steps})
    return Compliance(ComplianceOptions(count=count), None).judge(request)


def step(number=1, role="developer", **fields):
    return {"number": number, "role": role, "corrections": [], "failure": None, **fields}


def test_a_corrected_step_was_not_valid_at_its_first_attempt(bench):
    first = bench.builtin("frontmatter-compliance")
    in_all = bench.builtin("frontmatter-compliance", count="all")
    assert (first.score, in_all.score) == (0.5, 1.0)
    assert first.data["corrected"] == [{"number": 1, "role": "developer", "corrections": 1}]
    assert first.usage.cost_usd == 0.0


def test_an_attempt_that_crashed_says_nothing_about_the_output():
    crashed = step(attempts=[{"failure": {"kind": "crashed"}, "corrections": []}])
    invalid = step(attempts=[{"failure": {"kind": "invalid_output"}, "corrections": []}])
    assert compliance([crashed]).score == 1.0
    assert compliance([invalid]).score == 0.0 and compliance([invalid], "all").score == 1.0


def test_a_step_that_never_became_valid_counts_in_both_shares():
    never = step(failure={"kind": "invalid_output"}, corrections=[{}, {}])
    assert compliance([step(), never]).data["atAll"] == 0.5
    assert compliance([step(), never], "all").score == 0.5


def test_tokens_are_told_in_all_and_by_role_and_unknown_stays_unknown(bench):
    result = bench.builtin("token-stats")
    assert (result.score, result.weight, result.error) == (None, 0.0, None)
    assert result.data["inputTokens"] == 250, "the correction counts as well"
    assert result.data["byRole"]["reviewer"]["outputTokens"] == 10
    assert result.data["cacheReadTokens"] is None


@pytest.mark.parametrize(
    ("name", "options", "score"),
    [
        ("cost", {"fullUsd": 1.0}, 1.0),
        ("cost", {"fullUsd": 0.5}, 0.0),
        ("cost", {"fullUsd": 0.1, "zeroUsd": 1.0}, 0.5),
        ("cost", {"zeroUsd": 0.2}, 0.0),
        ("duration", {"fullSeconds": 600}, 1.0),
        ("duration", {"zeroSeconds": 0}, 0.0),
    ],
)
def test_an_amount_is_graded_between_two_limits(bench, name, options, score):
    result = bench.builtin(name, **options)
    assert result.error is None
    assert result.score == pytest.approx(score, abs=0.01)


def test_an_amount_without_limits_only_informs(bench):
    result = bench.builtin("cost")
    assert (result.score, result.weight, result.error) == (None, 0.0, None)
    assert result.data == {"costUsd": pytest.approx(0.55)}


def test_a_trial_whose_judges_all_inform_has_no_score_and_says_why(bench):
    ended = of_judges(bench.ask(JudgeSpec(name="c", builtin="cost")))
    assert (ended.state, ended.score) == ("infra_error", None)
    assert "gives a score" in ended.failure.message


def test_a_cost_that_nobody_knows_is_no_score_if_there_is_a_limit(bench):
    record = {**bench.evidence.record, "usage": usage_payload(Usage())}
    result = bench.builtin("cost", {"record": record}, fullUsd=1.0)
    assert result.score is None and "is unknown" in result.error


@pytest.mark.parametrize(
    ("options", "score"),
    [
        ({"route": ["developer", "reviewer"]}, 1.0),
        ({"route": ["reviewer", "developer"]}, 0.0),
        ({"route": ["...", "reviewer"]}, 1.0),
        ({"route": ["developer", "...", "reviewer", "..."]}, 1.0),
        ({"includes": ["reviewer", "tester"]}, 0.5),
        ({"excludes": ["tester"], "atMost": {"developer": 0}}, 0.5),
        ({"atLeast": {"reviewer": 1}}, 1.0),
        ({}, None),
    ],
)
def test_the_route_is_held_to_what_was_expected(bench, options, score):
    result = bench.builtin("expected-route", **options)
    assert result.error is None and result.score == score
    assert result.data["route"] == ["developer", "reviewer"]
    assert bool(result.data["broken"]) is (score is not None and score < 1)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from("ab")), st.integers(0, 5), st.integers(0, 5))
def test_three_points_stand_for_any_roles(roles, start, end):
    kept_first, kept_last = roles[:start], roles[max(start, len(roles) - end) :]
    assert fits([*kept_first, "...", *kept_last], roles)
    assert fits(roles, roles) and not fits([*roles, "c"], roles)


def test_a_change_is_told_line_by_line_and_file_by_file(tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        folder.mkdir()
    (before / "same.py").write_text("x\n")
    (after / "same.py").write_text("x\n")
    (before / "a.py").write_text("one\ntwo\nthree\n")
    (after / "a.py").write_text("one\n2\nthree\nfour\n")
    (before / "gone.txt").write_text("1\n2\n")
    (after / "empty.txt").write_text("")
    (after / "logo.png").write_bytes(b"\0\1" * 1000)
    (after / "cache.pyc").write_bytes(b"\0")
    (before / "moved.py").write_text("a\nb\n")
    (after / "moved.py").write_text("b\na\n")
    changes = {name: tuple(change) for name, change in changed_files(before, after, ["*.pyc"])}
    assert changes == {
        "a.py": (2, 1),
        "gone.txt": (0, 2),
        "empty.txt": (1, 0),
        "logo.png": (1, 0),
        "moved.py": (1, 0),
    }


def test_the_size_of_a_change_is_graded(bench):
    (bench.trial / "new.py").write_text("1\n2\n3\n")
    fixture = bench.root / "fixture"
    fixture.mkdir()
    result = bench.builtin("diff-size", {"fixture": fixture}, full=1, zero=5)
    assert (result.score, result.data["lines"], result.data["files"]) == (0.5, 3, 1)
    assert bench.builtin("diff-size").data["added"] == 3, "without a fixture all is new"


@pytest.mark.parametrize(
    ("options", "score"),
    [
        ({"run": "true"}, 1.0),
        ({"run": "exit 1"}, 0.0),
        ({"run": "kill -SEGV $$; sleep 1"}, None),
        ({"run": "no-such-program"}, None),
        ({"run": "echo 80 of 100", "score": "number", "pattern": r"(\d+) of"}, 0.8),
        ({"run": "echo 7; exit 3", "score": "number", "full": 5, "zero": 10}, 0.6),
        ({"run": "echo 900", "score": "number"}, 1.0),
        ({"run": "echo none", "score": "number"}, None),
        ({"run": "sleep 9", "seconds": 0.2}, None),
        ({"run": "sleep 9", "seconds": 0.2, "tooSlow": 0.0}, 0.0),
        ({}, None),
    ],
)
def test_a_command_is_judged_by_its_exit_code_or_by_a_number(bench, options, score):
    result = bench.builtin("command", **options)
    assert result.score == (None if score is None else pytest.approx(score))
    assert (result.error is None) is (score is not None)


def test_a_command_runs_in_a_copy_and_with_a_home_of_its_own(bench):
    (bench.trial / "a").write_text("a")
    result = bench.builtin("command", run="rm a; ls -A $HOME $TMPDIR; echo 5 >b; pwd")
    assert result.error is None
    assert (bench.trial / "a").exists() and not (bench.trial / "b").exists()


def test_wrong_options_are_told_with_their_place(bench):
    result = bench.builtin("command", rum="true")
    assert result.score is None
    assert (
        "judges -> command -> options -> rum" in result.error
        and "did you mean 'run'" in result.error
    )


def test_a_judge_that_takes_too_long_is_told_to_stop(bench):
    spec = JudgeSpec(name="c", builtin="command", options={"run": "sleep 60"}, timeout=0.2)
    result = bench.ask(spec)[0]
    assert result.score is None and "timed out after 0.2 s" in result.error
    assert result.duration_ms < 30_000


def test_the_judges_of_the_house_are_plugins_like_any_other(bench):
    result = bench.ask(JudgeSpec(name="t", plugin="token-stats"))[0]
    assert result.judge == "plugin:token-stats" and result.error is None
    assert len(builtin_judges()) == 10


def test_every_judge_sees_the_task_and_what_failed_before_a_step(bench):
    record = bench.evidence.record
    assert record["prompt"] == TASK
    assert record["steps"][0]["output"]["summary"] == SUMMARY
    assert record["steps"][0]["attempts"] == []


def test_a_step_comes_with_the_whole_attempts_that_failed_before_it(tmp_path):
    project = Project(tmp_path)
    project.workflow("one-role", ONE_ROLE)
    fails = {"fail": {"kind": "crashed", "message": "the disk was full"}}
    project.script([{"role": "worker", "outputs": [fails, {"$status": "again"}]}])
    with project.client() as client:
        thread = client.start("one-role", TASK)["thread"]
        for _ in range(2):
            client.exec(thread)
        (step,) = read_thread(client, thread).document["steps"]
        (attempt,) = step["attempts"]
        assert attempt["failure"]["message"] == "the disk was full"
        assert attempt == client.step(step["previousAttempts"][0])
        assert step == {**client.step(step["step"]), "attempts": [attempt]}


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_agreement_is_one_for_equal_scores_and_less_the_further_they_lie_apart(scores):
    found = agreement_of(scores)
    assert 0 <= found <= 1 + 1e-9
    assert agreement_of([scores[0]] * 3) == 1.0
    assert agreement_of([0.0, 1.0]) == 0.0 and agreement_of(scores[:1]) is None
