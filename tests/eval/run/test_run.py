"""`uwf eval run` and `resume`: nothing that is done is lost, whatever happens."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_site import DONE, FLOW, Site

from uwf_eval.run.folder import run_folder

HANGS_FROM_THE_SECOND_ON = f"""\
echo begun >> $LOG
[ -e $GO ] || [ $(wc -l < $LOG) -lt 2 ] || sleep 600
{DONE}"""


def states(site: Site) -> Counter[str]:
    return Counter(each.state for each in site.stored()[1])


def wait_for(what: Callable[[], Any], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


def lines_of(file: Path) -> int:
    return len(file.read_text().splitlines()) if file.exists() else 0


def nothing_left(site: Site) -> bool:
    return not list(site.temporary.glob("uwf-trial-*"))


def test_a_run_tries_every_cell_and_stores_each_trial(site: Site) -> None:
    site.task("a")
    site.task("b", cases=[{"name": "x", "prompt": "1"}, {"name": "y", "prompt": "2"}], prompt=None)
    text = json.loads((site.folder / "b/task.yaml").read_text())
    text.pop("prompt")
    (site.folder / "b/task.yaml").write_text(json.dumps(text))
    found = site.document("run", "a", "b", "--repeat", "2", "--jobs", "2", "--name", "first")
    assert (found["states"], found["passed"], found["score"]) == ({"scored": 6}, 6, 1.0)
    assert found["finishedAtMs"] and found["jobs"] == 2 and found["stopped"] is None
    run, trials = site.stored("first")
    assert [(t.number, t.cell.task, t.cell.case, t.cell.repeat) for t in trials] == [
        (1, "a", "", 1), (2, "a", "", 2), (3, "b", "x", 1),
        (4, "b", "x", 2), (5, "b", "y", 1), (6, "b", "y", 2),
    ]  # fmt: skip
    assert [each.name for each in run.tasks] == ["a", "b"]
    assert all(t.task_digest and t.fixture and t.thread for t in trials)
    assert nothing_left(site) and not (site.home / "eval" / run.run).exists()


def test_a_run_knows_what_was_typed_whichever_command_it_was_typed_after(site: Site) -> None:
    site.task("eval")
    subprocess.run(
        [sys.executable, "-m", "uwf_core", "eval", "run", "eval"],
        cwd=site.folder, env=site.env, check=True, capture_output=True,
    )  # fmt: skip
    site.document("run", "eval")
    assert [each.command for each in site.runs()] == [("run", "eval"), ("run", "eval")]


def test_half_of_the_trials_fail_and_the_others_count(site: Site) -> None:
    site.task(agent=f'case "$PWD" in *-2.1-*|*-4.1-*) exit 1;; esac\n{DONE}')
    done = site.eval("run", "t", "--repeat", "4", "--seed", "1")
    assert done.returncode == 0
    assert json.loads(done.stdout)["states"] == {"failed": 2, "scored": 2}
    assert [t.state for t in site.stored()[1]] == ["scored", "failed", "scored", "failed"]
    lines = done.stderr.splitlines()
    assert lines[0].endswith(": 4 trials") and lines[-1].startswith("[4/4] #")
    assert sum("failed 0.00" in line and "crashed" in line for line in lines) == 2


def test_ctrl_c_keeps_what_is_done_and_resume_runs_the_rest(site: Site, tmp_path: Path) -> None:
    env = {"LOG": str(tmp_path / "log"), "GO": str(tmp_path / "go")}
    site.task(agent=HANGS_FROM_THE_SECOND_ON, env=env)
    process = site.start("run", "t", "--repeat", "4")
    wait_for(lambda: lines_of(tmp_path / "log") > 1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    document = json.loads(out)
    assert document["finishedAtMs"] is None and document["hint"].startswith("uwf eval resume ")
    before = states(site)
    assert before == {"scored": 1, "not_run": 3} and nothing_left(site)
    (tmp_path / "go").touch()
    assert site.document("resume", "@last")["states"] == {"scored": 4}
    assert site.eval("resume", "@last").returncode == 2, "nothing is left"


def test_trials_that_wait_when_a_run_is_interrupted_have_not_run(
    site: Site, tmp_path: Path
) -> None:
    site.task(agent="echo begun >> $LOG; sleep 600", env={"LOG": str(tmp_path / "log")})
    process = site.start("run", "t", "--repeat", "4")
    wait_for(lambda: lines_of(tmp_path / "log") > 0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert states(site) == {"not_run": 4} and lines_of(tmp_path / "log") == 1
    assert "infra" not in err and nothing_left(site)


def test_kill_9_loses_no_trial_that_was_done_and_leaves_no_process(
    site: Site, tmp_path: Path
) -> None:
    log = str(tmp_path / "log")
    agent = f"echo $$ >> $LOG; test $(wc -l < $LOG) = 2 && sleep 600; {DONE}"
    site.task(agent=agent, env={"LOG": log})
    process = site.start("run", "t", "--repeat", "3")
    wait_for(lambda: lines_of(Path(log)) > 1 and states(site)["scored"] == 1)
    hanging = int(Path(log).read_text().splitlines()[1])
    process.kill()
    process.communicate(timeout=60)
    wait_for(lambda: not Path(f"/proc/{hanging}").exists())
    assert states(site) == {"scored": 1, "not_run": 2}
    document = site.document("resume", "@last")
    assert document["states"] == {"scored": 3} and nothing_left(site)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_trial_whose_worker_is_killed_has_failed_and_the_next_one_runs(
    site: Site, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    agent = f"echo $$ >> $LOG; test $(wc -l < $LOG) = 1 && sleep 600; {DONE}"
    site.task(agent=agent, env={"LOG": str(log)})
    process = site.start("run", "t", "--repeat", "3")
    wait_for(lambda: lines_of(log) > 0)
    hanging = int(log.read_text())
    os.kill(worker_above(hanging), signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert json.loads(out)["states"] == {"failed": 1, "scored": 2}
    lost, *others = sorted(site.stored()[1], key=lambda trial: trial.state)
    assert lost.failure is not None and lost.failure.kind == "worker_died"
    assert (lost.score, lost.passed, lost.attempt) == (0.0, False, 1)
    assert [each.attempt for each in others] == [1, 1] and lines_of(log) == 3
    wait_for(lambda: not Path(f"/proc/{hanging}").exists())
    assert nothing_left(site)


def worker_above(pid: int) -> int:
    """The worker among the ancestors of a process."""
    while b"uwf_eval.run" not in Path(f"/proc/{pid}/cmdline").read_bytes():
        pid = int(re.search(r"PPid:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())[1])
    return pid


def test_resume_runs_infrastructure_errors_again_and_only_those(site: Site, tmp_path: Path) -> None:
    error = '{"error": {"kind": "unavailable", "message": "the network is down"}}'
    flag = tmp_path / "up"
    site.task(agent=f"test -e {flag} || {{ echo '{error}'; exit; }}\n{DONE}")
    assert site.document("run", "t", "--repeat", "2", code=1)["states"] == {"infra_error": 2}
    flag.touch()
    (site.folder / "t/task.yaml").unlink()  # it goes on with its own copy
    found = site.document("resume", "@last", "--jobs", "2")
    assert found["states"] == {"scored": 2}
    assert [t.attempt for t in site.stored()[1]] == [2, 2]


def test_a_budget_ends_a_run_and_resume_goes_on(site: Site) -> None:
    site.task()
    (site.folder / "t/play.yaml").write_text(
        "steps: [{role: writer, output: {$status: done},"
        " usage: {turns: 1, inputTokens: 60, outputTokens: 0, costUsd: 0.4}}]"
    )
    found = site.document("run", "t", "--repeat", "4", "--budget", "$0.75", code=5)
    assert found["states"] == {"not_run": 2, "scored": 2}
    assert found["stopped"] == "cost limit reached: $0.8 of $0.75"
    assert site.document("resume", "@last", "--budget", "1trial", code=5)["states"]["scored"] == 3


def test_two_runs_of_one_task_at_once_do_not_disturb_each_other(site: Site) -> None:
    site.task()
    both = [site.start("run", "t", "--repeat", "3", "--name", name) for name in ("left", "right")]
    assert [each.communicate(timeout=100) and each.returncode for each in both] == [0, 0]
    for name in ("left", "right"):
        assert [t.state for t in site.stored(name)[1]] == ["scored"] * 3


@pytest.mark.parametrize("generations", [2, 3], ids=["worker", "its-reaper"])
def test_an_agent_that_kills_the_process_of_its_trial_has_lost_a_trial(
    site: Site, generations: int
) -> None:
    """Not voided one: what it killed is no accident that `resume` would try again."""
    ancestor = "$PPID"
    for _ in range(generations - 1):
        ancestor = f"$(ps -o ppid= -p {ancestor})"
    site.task(agent=f'test "${{PWD##*-1.1-*}}" || {{ kill -9 {ancestor}; sleep 9; }}\n{DONE}')
    done = site.eval("run", "t", "--repeat", "2", "--seed", "3")
    found = json.loads(done.stdout)
    assert found["states"] == {"failed": 1, "scored": 1}, done.stderr
    first = site.stored()[1][0]
    assert (first.score, first.passed) == (0.0, False)
    assert first.failure is not None and first.failure.kind == "worker_died"
    assert "ended with exit code" in first.failure.message
    assert "has no trials left to run" in site.eval("resume", "@last").stderr
    assert nothing_left(site)


def test_a_worker_without_its_reaper_reports_nothing_and_takes_no_other_trial(site: Site) -> None:
    """The run is stopped meanwhile: however late it notices, the next trial is not lost as well."""
    reaper = "$(ps -o ppid= -p $(ps -o ppid= -p $PPID))"
    attack = f"reaper={reaper}; kill -STOP $(ps -o ppid= -p $reaper); kill -9 $reaper; exit 1"
    site.task(agent=f'test "${{PWD##*-1.1-*}}" || {{ {attack}; }}\n{DONE}')
    process = site.start("run", "t", "--repeat", "2", "--seed", "3")
    wait_for(lambda: "\nState:\tT" in Path(f"/proc/{process.pid}/status").read_text())
    time.sleep(2)  # so that a worker that goes on would have its result told
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=100)
    assert json.loads(out)["states"] == {"failed": 1, "scored": 1}, err
    lost = site.stored()[1][0].failure
    assert lost is not None and lost.kind == "worker_died"
    assert nothing_left(site)


def test_a_full_disk_ends_a_run_with_an_error_and_loses_nothing(site: Site) -> None:
    noise = "$(head -c 60000 /dev/urandom | base64 -w0)"
    frame = '{"output": "---\\\\n$status: done\\\\n---\\\\n%s"}\\n'
    site.task(agent=f"printf '{frame}' \"{noise}\"\n")

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    process = site.start("run", "t", "--repeat", "30", "--name", "full", preexec_fn=small)
    _, err = process.communicate(timeout=100)
    assert process.returncode == 1, err[-2000:]
    assert json.loads(err.splitlines()[-1])["error"]["code"] == "store"
    done = Counter(t.state for t in site.stored("full")[1])
    assert done["scored"] >= 1 and done["not_run"] >= 1 and sum(done.values()) == 30
    assert nothing_left(site)


def test_versions_of_a_workflow_are_tried_side_by_side(site: Site) -> None:
    site.task()
    (site.folder / "new").mkdir()
    (site.folder / "new" / "flow.yaml").write_text(FLOW.replace("Deliver.", "Deliver well."))
    found = site.document("run", "t", "--workflow", "t/flow.yaml", "--workflow", "new/flow.yaml")
    assert len(found["workflows"]) == 2
    assert [t.cell.workflow for t in site.stored()[1]] == found["workflows"]


def test_a_run_is_resumed_by_one_process_at_a_time(site: Site) -> None:
    site.task()
    found = site.document("run", "t", "--repeat", "2", "--budget", "1trial", code=5)
    folder = run_folder(site.home, found["run"])
    with folder.held():
        done = site.eval("resume", "@last")
        assert (done.returncode, done.stdout) == (75, "")
        assert "is already running in another process" in done.stderr
    assert site.document("resume", "@last", "--budget", "9trials")["states"] == {"scored": 2}


def test_folders_that_are_kept_are_named(site: Site) -> None:
    site.task(agent="echo made > made; " + DONE)
    done = site.eval("run", "t", "--repeat", "2", "--keep")
    assert done.returncode == 0, done.stderr
    (line,) = [each for each in done.stderr.splitlines() if "folders of the trials: " in each]
    pattern = Path(line.rpartition(" ")[2])
    found = sorted(pattern.parent.glob(pattern.name))
    assert [(each / "made").read_text() for each in found] == ["made\n", "made\n"]
