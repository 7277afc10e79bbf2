"""What lists, documents, texts and exports show of a step with branches."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.core.branching import SPLIT, branch_threads, branching_project, fan_out_of, run

from uwf_core.client import Client
from uwf_core.testing.project import Project
from uwf_eval.trial.thread import read_thread


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return branching_project(tmp_path)


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    with project.client() as client:
        yield client


@pytest.fixture
def root(uwf: Client) -> str:
    return run(uwf)


def test_a_row_and_the_document_of_a_step_have_its_branches(uwf: Client, root: str) -> None:
    rows = uwf.steps(root)
    assert [row["branches"] is None for row in rows] == [True, True, False, True]
    assert rows[2]["childThread"] is None
    shown = fan_out_of(uwf, root)
    assert rows[2]["branches"] == shown["call"]["branches"]
    for each, thread, end in zip(
        shown["call"]["branches"], branch_threads(uwf, root), shown["call"]["children"], strict=True
    ):
        assert each == {"name": None, "role": "worker", "thread": thread, "status": "done"}
        assert uwf.show(thread)["head"] == end


def test_texts_show_the_result_of_each_branch_with_its_thread(
    project: Project, uwf: Client, root: str
) -> None:
    text = project.uwf("thread", "read", root).stdout
    for number, thread in enumerate(branch_threads(uwf, root)):
        assert f"### {number}: worker, done" in text
        assert f"uwf thread read {thread}" in text
    assert "results:" not in text.partition("## Step 2")[2].partition("## Step 3")[0]
    step = fan_out_of(uwf, root)["step"]
    assert "3 branches" in project.uwf("step", "list", root, "--format", "text").stdout
    assert (
        "2: done, worker, thread " in project.uwf("step", "show", step, "--format", "text").stdout
    )
    assert "### 2: worker, done" in project.uwf("step", "read", step).stdout
    rejected = project.uwf("step", "ask", step, "-p", "Why?")
    assert rejected.exit_code == 2
    assert all(thread in rejected.error["message"] for thread in branch_threads(uwf, root))


def test_an_open_fan_out_is_read_with_its_branches(project: Project, uwf: Client) -> None:
    failed = {"role": "worker", "outputs": [{"fail": {"kind": "crashed", "message": "no"}}]}
    project.script([SPLIT, failed], by_role=True, repeat=True)
    root = uwf.start("tasks", "Make a poem.")["thread"]
    uwf.exec(root, until_done=True)
    text = uwf.read(root)
    for number, row in enumerate(uwf.show(root)["children"]):
        assert f"Open: {number} worker, thread {row['thread']}, suspended" in text


@pytest.mark.parametrize("name", ["html", "markdown"])
def test_exports_name_each_branch(project: Project, root: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / "page"
    assert project.uwf("thread", "export", root, "--format", name, "-o", str(file)).exit_code == 0
    text = file.read_text("utf-8")
    assert "1: do two" in text
    assert "because all ended so" in text


def test_each_step_of_a_branch_is_a_test(uwf: Client, root: str, tmp_path: Path) -> None:
    uwf.export_thread(root, tmp_path / "one.thread")
    words = [sys.executable, "-m", "pytest", "-v", "-p", "uwf_core.replay.pytest"]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        words, cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "one.thread::1 planner/planned/2/worker PASSED" in done.stdout


def test_a_trial_has_the_steps_of_branches_and_not_their_sum(uwf: Client, root: str) -> None:
    found = read_thread(uwf, root)
    workers = [f"planner/planned/{number}/worker" for number in range(3)]
    assert [step.role for step in found.steps] == ["planner", *workers, "judge"]
    roles = [step["role"] for step in found.document["steps"]]
    assert roles == ["planner", *workers, "planner/planned", "judge"]
    costs = [step.usage.cost_usd or 0 for step in found.steps]
    assert sum(costs) == found.usage.cost_usd == 2.5
