"""A trial that only its judges could not judge is judged again, and its agents are paid once."""

import json
import signal
import time
from pathlib import Path

import pytest
from tests.eval.run.run_site import DONE, Site

SCRIPT = {"name": "own", "entry": "judge.py"}
VERDICT = """import json\nprint(json.dumps({"score": SCORE}))\n"""
BROKEN = {
    "syntax error": "print(\n",
    "missing library": "import no_such_library\n" + VERDICT,
    "missing file": "open('/no/such/file')\n" + VERDICT,
    "exit code": "import sys; print('{\"score\": 1}'); sys.exit(3)\n",
    "exception": "1 / 0\n",
}
WORDS = {
    "syntax error": "SyntaxError",
    "missing library": "no_such_library",
    "missing file": "/no/such/file",
    "exit code": "exit code 3",
    "exception": "ZeroDivisionError",
}


@pytest.fixture
def paid(site: Site) -> Path:
    return site.folder / "paid"


def write(site: Site, paid: Path, judge: str, **changes) -> Path:
    agent = f"echo x >> {paid}; echo made > made.txt\n{DONE}"
    task = site.task(agent=agent, judges=[SCRIPT], **changes)
    (task / "judge.py").write_text(judge)
    return task


def calls(paid: Path) -> int:
    return paid.read_text().count("x")


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_judge_is_an_error_of_the_task_and_the_corrected_one_judges(
    site: Site, paid: Path, kind: str
) -> None:
    task = write(site, paid, BROKEN[kind])
    first = site.document("run", "t", code=1)
    assert first["states"] == {"infra_error": 1} and first["score"] is None
    assert first["hint"] == f"uwf eval resume {first['run']} --task {task}"
    [trial] = site.stored()[1]
    assert trial.failure is not None and trial.failure.kind == "judge"
    assert WORDS[kind] in trial.failure.message
    if kind in ("syntax error", "missing library", "exception"):
        assert str(task / "judge.py") in trial.failure.message, "a path that exists"
    (task / "judge.py").write_text(
        "import pathlib, sys\nassert pathlib.Path(sys.argv[1], 'made.txt').exists()\n"
        + VERDICT.replace("SCORE", "0.5")
    )
    same = site.eval("resume", "@last")
    assert same.returncode == 1 and "own copy" in same.stderr and "was changed" in same.stderr
    assert "no agent runs" in same.stderr
    done = site.document("resume", "@last", "--task", "t")
    assert done["states"] == {"scored": 1} and done["score"] == 0.5
    assert calls(paid) == 1, "no agent was paid again"
    [trial] = site.stored()[1]
    assert (trial.attempt, trial.status, trial.kept) == (1, "completed", "")
    assert trial.thread and trial.steps and trial.task_digest == done["tasks"][0]["digest"]
    assert not (site.home / "eval" / done["run"]).exists()


def test_a_judge_that_reads_only_the_record_judges_again_as_well(site: Site, paid: Path) -> None:
    task = site.task(
        agent=f"echo x >> {paid}\n{DONE}",
        judges=[{"name": "cost", "builtin": "cost", "options": {"fullUsd": 1, "zeroUsd": 2}}],
    )
    assert site.document("run", "t", code=1)["states"] == {"infra_error": 1}
    changed = json.loads((task / "task.yaml").read_text())
    changed["judges"] = [{"name": "own", "builtin": "command", "options": {"run": "test -d ."}}]
    (task / "task.yaml").write_text(json.dumps(changed))
    done = site.document("resume", "@last", "--task", "t")
    assert done["states"] == {"scored": 1} and calls(paid) == 1


def test_a_corrected_task_may_differ_in_its_judges_alone(site: Site, paid: Path) -> None:
    task = write(site, paid, "1 / 0\n")
    site.document("run", "t", code=1)
    other = json.loads((task / "task.yaml").read_text())
    (task / "task.yaml").write_text(json.dumps({**other, "prompt": "do more"}))
    done = site.eval("resume", "@last", "--task", "t")
    assert done.returncode == 2 and "differs in cases" in done.stderr
    site.task("other")
    done = site.eval("resume", "@last", "--task", "other")
    assert done.returncode == 2 and "no task 'other'" in done.stderr
    again = site.document("resume", "@last", code=1)
    assert again["states"] == {"infra_error": 1}, "a refusal changes nothing"
    assert calls(paid) == 1


def test_kept_files_that_were_changed_are_not_judged(site: Site, paid: Path) -> None:
    task = write(site, paid, "1 / 0\n")
    run = site.document("run", "t", code=1)["run"]
    (site.home / "eval" / run / "kept" / "1" / "made.txt").write_text("forged")
    (task / "judge.py").write_text(VERDICT.replace("SCORE", "1"))
    done = site.eval("resume", "@last", "--task", "t")
    assert done.returncode == 0 and "agents run again" in done.stderr
    assert calls(paid) == 2


def test_other_judges_are_not_asked_again(site: Site, paid: Path) -> None:
    task = write(site, paid, "1 / 0\n")
    asked = site.folder / "asked"
    judges = [{"name": "good", "entry": "good.py"}, SCRIPT]
    write(site, paid, f"import os\nif not os.path.exists({str(asked) + '.ok'!r}): 1 / 0\n"
          + VERDICT.replace("SCORE", "1"))  # fmt: skip
    given = json.loads((task / "task.yaml").read_text())
    (task / "task.yaml").write_text(json.dumps({**given, "judges": judges}))
    (task / "good.py").write_text(
        f"open({str(asked)!r}, 'a').write('x')\n" + VERDICT.replace("SCORE", "1")
    )
    site.document("run", "t", code=1)
    Path(f"{asked}.ok").touch()
    assert site.document("resume", "@last")["states"] == {"scored": 1}
    assert asked.read_text() == "x" and calls(paid) == 1


def test_ctrl_c_while_a_judge_works_costs_no_agent(site: Site, paid: Path) -> None:
    asked = site.folder / "asked"
    text = f"import os, time\nopen({str(asked)!r}, 'a').write('x')\n"
    text += f"if os.path.getsize({str(asked)!r}) == 1: time.sleep(60)\n"
    write(site, paid, text + VERDICT.replace("SCORE", "1"))
    going = site.start("run", "t")
    deadline = time.monotonic() + 60
    while not asked.exists():
        assert time.monotonic() < deadline and going.poll() is None
        time.sleep(0.05)
    going.send_signal(signal.SIGINT)
    going.communicate(timeout=60)
    assert going.returncode == 130
    assert [each.state for each in site.stored()[1]] == ["not_run"]
    assert site.document("resume", "@last")["states"] == {"scored": 1}
    assert calls(paid) == 1
