"""No agent can change its own score; a trial in which one tried is marked, and counts as 0."""

from pathlib import Path
from typing import Any

import pytest

DONE = """echo '{"output": {"$status": "done"}}'\n"""


@pytest.mark.parametrize(
    ("deed", "said"),
    [
        ("echo x >> tests/test_a.py", "tests/test_a.py was changed"),
        ("rm tests/test_a.py", "tests/test_a.py was removed"),
        ("touch tests/conftest.py", "tests/conftest.py was added"),
        ("chmod +x tests/test_a.py", "tests/test_a.py was changed"),
        ("rm -r tests; ln -s /tmp tests", "tests was changed"),
    ],
)
def test_whoever_touches_what_the_task_protects_has_lost_the_trial(
    table: Any, deed: str, said: str
) -> None:
    table.write("fixture/tests/test_a.py", "assert True")
    table.agent(f"{deed}\n{DONE}")
    trial = table.trial(protect=["tests"])
    assert (trial.state, trial.score, trial.passed) == ("tampered", 0.0, False)
    assert said in trial.tampered
    assert trial.failure.kind == "tampered" and trial.thread


def test_what_is_not_protected_may_be_changed(table: Any) -> None:
    table.write("fixture/tests/test_a.py", "assert True")
    table.write("fixture/a.py", "")
    table.agent(f"echo x > a.py; touch b.py\n{DONE}")
    assert table.trial(protect=["tests"]).state == "scored"


def test_what_setup_makes_is_protected_as_it_left_it(table: Any) -> None:
    table.agent(f"echo cheat > key\n{DONE}")
    assert table.trial(setup=["echo right > key"], protect=["key"]).state == "tampered"
    table.agent(DONE)
    assert table.trial(setup=["echo right > key"], protect=["key"]).state == "scored"


def test_an_agent_that_finds_the_judges_script_and_changes_it_is_found_out(table: Any) -> None:
    judge = table.write("judge.py", 'print(\'{"score": 0, "data": {}}\')\n')
    cheat = 'print(\'{"score": 1, "data": {}}\')'
    # Even if it puts the file's times back afterwards.
    table.agent(
        f"touch -r {judge} /tmp/uwf-ref-$$\ncat > {judge} <<'X'\n{cheat}\nX\n"
        f"touch -r /tmp/uwf-ref-$$ {judge}\nrm /tmp/uwf-ref-$$\n{DONE}"
    )
    trial = table.trial(judges=[{"name": "own", "entry": "judge.py"}])
    assert trial.state == "tampered"
    assert trial.tampered == ("the task's own judge.py was changed",)


def test_a_trial_after_such_an_agent_is_not_run_on_what_it_left(table: Any) -> None:
    from uwf_eval.trial import tampering

    task = table.task()

    before = tampering.stamps(task.folder)
    table.write("flow.yaml", "changed")
    assert tampering.touched(task.folder, before) == ["the task's own flow.yaml was changed"]


def test_a_planted_cache_beside_the_judge_is_removed(table: Any) -> None:
    table.write("judge.py", 'import helper\nprint(\'{"score": %d, "data": {}}\' % helper.x)\n')
    table.write("helper.py", "x = 0\n")
    table.agent(
        f"mkdir -p {table.folder}/__pycache__; touch {table.folder}/__pycache__/x.pyc\n{DONE}"
    )
    trial = table.trial(judges=[{"name": "own", "entry": "judge.py"}])
    assert (trial.state, trial.score) == ("scored", 0.0)
    assert not (table.folder / "__pycache__").exists()


def test_an_answer_that_is_linked_and_not_given_is_not_seen_by_the_judge(table: Any) -> None:
    answer = table.write("solution/answer.txt", "42")
    judges = [{"name": "own", "builtin": "command", "options": {"run": "test -e a.txt"}}]
    table.agent(f"ln -s {answer} a.txt\n{DONE}")
    assert table.trial(judges=judges).score == 0.0
    table.agent(f"echo 42 > a.txt\n{DONE}")
    assert table.trial(judges=judges).score == 1.0


def test_what_the_agent_left_running_is_gone_before_it_is_judged(
    table: Any, tmp_path: Path
) -> None:
    mark = tmp_path / "late"
    table.agent(f"(setsid sh -c 'sleep 1; touch {mark} late' >/dev/null 2>&1 &)\n{DONE}")
    judges = [{"name": "own", "builtin": "command",
               "options": {"run": "sleep 1.3; test ! -e late"}}]  # fmt: skip
    assert table.trial(judges=judges).score == 1.0
    assert not mark.exists()


def test_a_store_that_the_agent_rewrote_is_found_out(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steps that were run are known to who ran them, whatever the store says."""
    from uwf_eval.trial import playing

    real = playing.run_thread

    def forged(*arguments: Any) -> Any:
        finished = real(*arguments)
        return finished._replace(steps=["0000000000000"])

    monkeypatch.setattr(playing, "run_thread", forged)
    trial = table.trial()
    assert trial.state == "tampered" and "differ from those that ran" in trial.tampered[0]


def test_a_program_that_a_judge_runs_cannot_change_the_runs_own_task(table: Any) -> None:
    """It ran after the task's files were compared for the first time."""
    flow = table.folder / "flow.yaml"
    table.agent(f"echo 'echo >>{flow}' > check.sh\n{DONE}")
    judges = [{"name": "own", "builtin": "command", "options": {"run": "sh check.sh"}}]
    trial = table.trial(judges=judges)
    assert (trial.state, trial.score) == ("tampered", 0.0)
    assert trial.tampered == ("the task's own flow.yaml was changed",)


@pytest.mark.parametrize(("route", "state"), [("writer", "infra_error"), ("nobody", "scored")])
def test_an_agent_that_makes_the_teardown_fail_hides_no_loss(
    table: Any, route: str, state: str
) -> None:
    table.agent(f"mkdir made\n{DONE}")
    judges = [{"name": "r", "builtin": "expected-route", "options": {"route": [route]}}]
    assert table.trial(teardown=["rmdir made/nothing"], judges=judges).state == state
    assert bool(table.notices) is (state == "scored")
