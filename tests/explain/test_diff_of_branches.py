"""Two threads with branches are compared branch by branch: by name, or by number in the list."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.core.branching import (
    DONE,
    FINE,
    JUDGED,
    POOR,
    SPLIT,
    TEXT,
    branch_threads,
    branching_project,
    panel_script,
    run,
)
from tests.core.calling import children, said

import uwf_explain
from uwf_core.client import Client
from uwf_core.testing.project import Project

REVIEWS = [
    "writer/written",
    "writer/written/style/reviewer",
    "writer/written/facts/writer",
    "writer/written/facts/checker",
    "writer/written/tests/test",
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return branching_project(tmp_path)


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    with project.client(store="memory:", durable=False) as client:
        client.add_workflow(project.folder / ".workflow" / "panel.yaml", allow_programs=True)
        yield client


def play(project: Project, uwf: Client, script: list[dict[str, Any]], workflow: str) -> str:
    project.script(script, by_role=True, repeat=True)
    return run(uwf, workflow)


def diff(uwf: Client, a: str, b: str) -> Any:
    return uwf_explain.diff(uwf, a, b)


def test_two_runs_with_equal_branches_are_the_same(project: Project, uwf: Client) -> None:
    script = panel_script(POOR, FINE)
    found = diff(uwf, play(project, uwf, script, "panel"), play(project, uwf, script, "panel"))
    assert found["same"], found["divergence"]
    assert [row["role"] for row in found["rows"]] == ["writer", *REVIEWS, "writer", *REVIEWS]
    assert (found["a"]["steps"], found["commonSteps"]) == (4, 12)


def test_the_first_divergence_is_found_in_its_branch(project: Project, uwf: Client) -> None:
    worse = said("reviewer", "bad", why="too short")
    a = play(project, uwf, panel_script(POOR, FINE), "panel")
    b = play(project, uwf, panel_script(worse, FINE), "panel")
    first = diff(uwf, a, b)["divergence"]
    assert (first["pathA"], first["aspect"], first["part"]) == (
        "writer/written/style/reviewer", "output", "why"
    )  # fmt: skip
    assert first["stepA"] == uwf.steps(branch_threads(uwf, a)[0])[1]["step"]
    other = said("checker", "good", text="violets are blue")
    c = play(project, uwf, [TEXT, POOR, FINE, other], "panel")
    assert diff(uwf, a, c)["divergence"]["pathA"] == "writer/written/facts/checker"


def test_a_longer_list_has_its_further_branch_alone(project: Project, uwf: Client) -> None:
    fewer = said("planner", "planned", tasks=SPLIT["output"]["tasks"][:2], others=[])
    a = play(project, uwf, [SPLIT, DONE, JUDGED], "tasks")
    b = play(project, uwf, [fewer, DONE, JUDGED], "tasks")
    rows = diff(uwf, a, b)["rows"]
    assert [row["role"] for row in rows if row["b"] is None] == ["planner/planned/2/worker"]
    pairs = {row["role"]: row["differences"] for row in rows if row["a"] and row["b"]}
    assert pairs["planner/planned/1/worker"] == []
    assert pairs["planner/planned"]


def test_a_cancelled_branch_is_a_divergence_of_the_fan_out(project: Project, uwf: Client) -> None:
    a = play(project, uwf, [SPLIT, DONE, JUDGED], "tasks")
    failed = {"role": "worker", "outputs": [{"fail": {"kind": "crashed", "message": "no"}}]}
    project.script([SPLIT, failed, JUDGED], by_role=True, repeat=True)
    b = uwf.start("tasks", "Make a poem.")["thread"]
    uwf.exec(b, until_done=True)
    for child in children(uwf, b):
        uwf.cancel(child)
    uwf.exec(b, until_done=True)
    first = diff(uwf, a, b)["divergence"]
    assert (first["pathA"], first["aspect"], first["part"]) == (
        "planner/planned", "output", "$status"
    )  # fmt: skip


def test_open_branches_are_compared_as_far_as_they_go(project: Project, uwf: Client) -> None:
    project.script([SPLIT, DONE, JUDGED], by_role=True, repeat=True)
    threads = [uwf.start("tasks", "Make a poem.")["thread"] for _ in range(2)]
    for thread, count in zip(threads, (2, 3), strict=True):
        uwf.exec(thread, count=count)
    found = diff(uwf, *threads)
    paths = ["planner", "planner/planned/0/worker", "planner/planned/1/worker"]
    assert [row["role"] for row in found["rows"]] == paths
    assert [row["a"] is None for row in found["rows"]] == [False, False, True]
    assert found["divergence"]["pathB"] == paths[-1]
