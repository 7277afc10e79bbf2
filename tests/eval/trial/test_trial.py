"""A trial: from a fresh folder to a state that tells the truth."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.core.cas.collisions import colliding_texts
from trial_kit import DONE

from uwf_core.cas.hashing import PRIMITIVES
from uwf_core.client import Client, ThreadFilter

LOOP = """\
version: 1
name: flow
roles:
  writer:
    goal: Deliver.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: done}}, required: [$status]}
        - {properties: {$status: {const: end}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Begin.}
    resume: {role: writer, prompt: Again.}
  writer:
    done: {role: writer, prompt: Once more.}
    end: {role: $END, prompt: Done.}
"""
LISTS_THREADS = """
from uwf_core.client import Client
with Client.open() as uwf:
    found = [row["thread"] for row in uwf.list()]
"""
JUDGE = "import json, sys, pathlib\n{}\nprint(json.dumps({{'score': {}, 'data': {{}}}}))\n"


def test_a_trial_that_reaches_its_end_is_scored_and_its_thread_is_in_the_main_store(
    table: Any,
) -> None:
    trial = table.trial()
    assert (trial.state, trial.score, trial.passed, trial.failure) == ("scored", 1.0, True, None)
    assert [(s.role, s.status, s.attempts) for s in trial.steps] == [("writer", "done", 0)]
    assert trial.status == "completed" and trial.attempt == 1 and trial.duration_ms > 0
    with Client.open(env=table.env) as main:
        shown = main.show(trial.thread)
        assert (shown["head"], shown["status"]) == (trial.head, "completed")
        assert main.read(trial.thread)


def test_threads_of_trials_stay_out_of_a_persons_list(table: Any, tmp_path: Path) -> None:
    with Client.open(env=table.env, cwd=table.root) as main:
        own = main.start(str(table.folder / "flow.yaml"), "a task of a person", agent="mock")[
            "thread"
        ]
        trial = table.trial()
        both = ThreadFilter(all=True, trials=True)
        assert trial.thread > own, "the trial's thread is newer"
        assert main.show("@last")["thread"] == own
        assert [row["thread"] for row in main.list(ThreadFilter(all=True))] == [own]
        assert [row["thread"] for row in main.list(both)] == [trial.thread, own]
        main.export_thread(trial.thread, tmp_path / "trial.tar")
        main.import_bundle(tmp_path / "trial.tar", as_new=True)
        assert len(main.list(ThreadFilter(all=True))) == 2, "an imported copy is a person's"
        assert not main.verify()["problems"]


def test_a_trial_whose_thread_the_main_store_refuses_has_no_score(table: Any) -> None:
    """The main store has another text under the reference of this task's prompt."""
    yes, no = colliding_texts(PRIMITIVES["string"], b"approved", b"rejected")
    with Client.open(env=table.env) as main:
        main._engine.store.put_text(no)
    trial = table.trial(prompt=yes)
    assert (trial.state, trial.score, trial.passed) == ("infra_error", None, None)
    assert trial.failure is not None and trial.failure.kind == "store"
    assert (trial.thread, trial.head) == (None, None)
    with Client.open(env=table.env) as main:
        assert main.list() == []


def test_judges_that_are_programs_find_the_thread_in_a_store_where_there_is_no_other(
    table: Any,
) -> None:
    table.write("judge.py", JUDGE.format(LISTS_THREADS, "float(found == [sys.argv[2]])"))
    with Client.open(env=table.env, cwd=table.root) as main:
        main.start(str(table.folder / "flow.yaml"), "another thread of the same user", agent="mock")
    trial = table.trial(judges=[{"name": "own", "entry": "judge.py"}])
    assert (trial.state, trial.score) == ("scored", 1.0), trial.judges


def test_nothing_of_a_trial_is_left_on_the_disk(table: Any, tmp_path: Path) -> None:
    table.write("fixture/a", "a")
    table.write("judge.py", JUDGE.format("", 1))
    own = {"name": "own", "entry": "judge.py"}
    assert table.trial(judges=[own]).state == "scored"
    assert list((tmp_path / "tmp").iterdir()) == []
    assert list(table.private.iterdir()) == []


def test_the_agent_begins_in_a_fresh_copy_of_the_fixture_and_sees_no_judge(
    table: Any, tmp_path: Path
) -> None:
    table.write("fixture/sub/data.txt", "data")
    table.write("judge.py", JUDGE.format("", 1))
    said = tmp_path / "said"
    table.agent(f'find . | sort > {said}; pwd >> {said}; env >> {said}\n{"echo"} x > sub/data.txt\n'
                """echo '{"output": {"$status": "done"}}'\n""")  # fmt: skip
    judges = [{"name": "own", "entry": "judge.py"}]
    assert table.trial(judges=judges).state == "scored"
    assert (table.folder / "fixture/sub/data.txt").read_text() == "data"
    text = said.read_text()
    assert text.startswith(".\n./sub\n./sub/data.txt\n/")
    assert "judge.py" not in text and "UWF_EVAL_TASK" not in text and "UWF_STORE" not in text


def test_a_task_without_a_fixture_begins_in_an_empty_folder(table: Any, tmp_path: Path) -> None:
    table.agent(f"find . > {tmp_path / 'said'}\n" + """echo '{"output": {"$status": "done"}}'\n""")
    table.trial()
    assert (tmp_path / "said").read_text() == ".\n"


def test_judges_see_what_the_agent_left_and_find_its_thread(table: Any) -> None:
    table.write(
        "judge.py",
        JUDGE.format(
            "import os, subprocess\n"
            "said = subprocess.run([sys.executable, '-m', 'uwf_core', 'thread', 'show', "
            "sys.argv[2]], capture_output=True, text=True)\n"
            "ok = 'completed' in said.stdout and pathlib.Path('made').read_text() == 'x\\n'",
            "float(ok)",
        ),
    )
    table.agent("echo x > made\n" + """echo '{"output": {"$status": "done"}}'\n""")
    trial = table.trial(judges=[{"name": "own", "entry": "judge.py"}])
    assert (trial.state, trial.score) == ("scored", 1.0), trial.judges


def test_the_score_is_the_weighted_mean_of_those_that_count(table: Any) -> None:
    judges = [
        {"name": "a", "builtin": "command", "weight": 3, "options": {"run": "true"}},
        {"name": "b", "builtin": "command", "weight": 1, "options": {"run": "false"}},
        {"name": "c", "builtin": "duration", "weight": 0},
    ]
    trial = table.trial(judges=judges, **{"pass": 0.75})
    assert (trial.score, trial.passed) == (0.75, True), trial
    assert table.trial(judges=judges).passed is False


@pytest.mark.parametrize(
    ("agent", "state", "kind"),
    [
        ("exit 3\n", "failed", "crashed"),
        ("echo '{\"output\": {\"$status\": \"nonsense\"}}'\n", "failed", "invalid_output"),
        ("echo '{\"error\": {\"kind\": \"rate_limited\", \"message\": \"later\"}}'\n",
         "infra_error", "rate_limited"),
        ("echo '{\"error\": {\"kind\": \"auth\", \"message\": \"no\"}}'\n", "infra_error", "auth"),
        ("echo '{\"output\": {\"$status\": \"$SUSPEND\", \"reason\": \"who?\"}}'\n",
         "failed", "suspended"),
    ],
)  # fmt: skip
def test_only_the_agents_own_faults_count_as_failures(
    table: Any, agent: str, state: str, kind: str
) -> None:
    table.agent(agent)
    trial = table.trial()
    assert trial.failure is not None
    assert (trial.state, trial.failure.kind) == (state, kind)
    assert (trial.score, trial.passed) == ((0.0, False) if state == "failed" else (None, None))


def test_a_missing_agent_is_an_infrastructure_error(table: Any) -> None:
    trial = table.trial(agent="./nobody --here")
    assert (trial.state, trial.score) == ("infra_error", None)
    assert trial.failure is not None and trial.failure.kind == "unavailable"


def test_a_judge_that_fails_gives_no_score(table: Any) -> None:
    table.write("judge.py", "raise SystemExit(3)\n")
    trial = table.trial(judges=[{"name": "own", "entry": "judge.py"}])
    assert (trial.state, trial.score, trial.failure.kind) == ("infra_error", None, "judge")
    assert trial.judges[0].score is None and trial.judges[0].error


def test_a_judge_that_only_informs_may_fail(table: Any) -> None:
    table.write("judge.py", "raise SystemExit(3)\n")
    route = {"name": "route", "builtin": "expected-route", "options": {"route": ["writer"]}}
    trial = table.trial(judges=[route, {"name": "own", "entry": "judge.py", "weight": 0}])
    assert (trial.state, trial.score) == ("scored", 1.0)


def test_setup_and_teardown_run_in_the_trials_folder_and_know_the_task(
    table: Any, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    table.agent("test -f ready && " + """echo '{"output": {"$status": "done"}}'\n""")
    trial = table.trial(
        setup=["touch ready", 'test -f "$UWF_EVAL_TASK/task.yaml"'],
        teardown=[f"test -f ready && echo down >> {log}"],
    )
    assert trial.state == "scored" and log.read_text() == "down\n"


@pytest.mark.parametrize("when", ["setup", "teardown"])
def test_setup_and_teardown_get_no_variable_that_is_not_declared_for_them(
    table: Any, tmp_path: Path, when: str
) -> None:
    table.env |= {"SHOP_API_KEY": "sk-live-1234567890", "PYTHONPATH": ":."}
    log = tmp_path / "log"
    trial = table.trial(env={"SEED": "7", "DATA": "./data"}, **{when: [f"env > {log}"]})
    assert trial.state == "scored"
    got = dict(line.split("=", 1) for line in log.read_text().splitlines() if "=" in line)
    assert (got["SEED"], got["DATA"]) == ("7", str(table.folder / "data"))
    assert "HOME" in got and got.keys().isdisjoint({"SHOP_API_KEY", "PYTHONPATH"})


@pytest.mark.parametrize(
    "python", ["-c 'import json'", "-m json.tool --help", '"$UWF_EVAL_TASK/down.py"']
)
def test_the_python_of_a_teardown_is_ours_and_imports_nothing_that_the_agent_wrote(
    table: Any, tmp_path: Path, python: str
) -> None:
    log, down = tmp_path / "log", tmp_path / "down"
    hostile = f"open({str(log)!r}, 'a').write('executed')"
    table.write("down.py", "import json\n")
    table.agent(f'echo "{hostile}" | tee json.py sitecustomize.py python3 >&2\n{DONE}')
    own = f'test "$(command -v python3)" = "{Path(sys.executable).with_name("python3")}"'
    table.env["PATH"] = f".:{table.env['PATH']}"
    trial = table.trial(teardown=[f"{own} && python3 {python} && echo ok > {down}"])
    assert trial.state == "scored" and not log.exists() and down.exists(), trial


@pytest.mark.parametrize("command", ["echo no room >&2; exit 4", "sleep 60"])
def test_a_setup_that_fails_is_an_infrastructure_error(table: Any, command: str) -> None:
    trial = table.trial(setup=[command], commandTimeout=0.3)
    assert (trial.state, trial.failure.kind) == ("infra_error", "setup")
    assert "no room" in trial.failure.message or "longer than 0.3 s" in trial.failure.message


def test_a_teardown_runs_even_where_the_agent_failed(table: Any, tmp_path: Path) -> None:
    table.agent("exit 1\n")
    trial = table.trial(teardown=[f"touch {tmp_path / 'down'}"])
    assert trial.state == "failed" and (tmp_path / "down").exists()


def test_the_limits_of_the_task_end_a_thread(table: Any) -> None:
    table.write("flow.yaml", LOOP)
    trial = table.trial(limits={"maxSteps": 2})
    assert (trial.state, trial.failure.kind, len(trial.steps)) == ("failed", "limit", 2)
    trial = table.trial(limits={"maxTokens": 5, "maxSteps": 1})
    assert table.notices == ["cannot enforce the token limit: the agent does not report it"]


def test_an_interrupted_trial_is_not_run(table: Any) -> None:
    table.cancel.set("Ctrl-C")
    trial = table.trial()
    assert (trial.state, trial.score, trial.thread) == ("not_run", None, None)


def test_a_path_in_the_word_of_an_agent_is_seen_from_where_it_was_said(table: Any) -> None:
    (table.root / "mine.sh").write_text("""echo '{"output": {"$status": "done"}}'\n""")
    trial = table.trial(agent="sh nowhere.sh")
    assert trial.state == "failed"
    cell = replace(trial.cell, agent="sh mine.sh")
    assert table.run(table.task(), cell=cell).state == "scored"
