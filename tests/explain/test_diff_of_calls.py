"""Two threads that call others are compared call by call, down to the steps of these."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.core.calling import (
    ACCEPTED,
    GOOD,
    PLANNED,
    REFUSED,
    SMOOTH,
    WRITTEN,
    calling_project,
    child_of,
    said,
)

from uwf_core.client import Client
from uwf_core.testing.project import Project

TWICE = [PLANNED, WRITTEN, said("writer", "written", text="violets"), GOOD, REFUSED, ACCEPTED]
CALL = ["work", "work/writer", "work/checker"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return calling_project(tmp_path)


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    with project.client() as client:
        yield client


def run(project: Project, uwf: Client, *script: dict[str, Any]) -> str:
    project.script(list(script), by_role=True)
    root = uwf.start("outer", "Make a poem.")["thread"]
    uwf.exec(root, until_done=True)
    return root


def diff(project: Project, a: str, b: str) -> dict[str, Any]:
    document: dict[str, Any] = project.uwf("thread", "diff", a, b).document
    return document


def test_two_runs_that_called_alike_are_the_same(project: Project, uwf: Client) -> None:
    found = diff(project, run(project, uwf, *TWICE), run(project, uwf, *TWICE))
    assert found["same"], found["divergence"]
    assert [row["role"] for row in found["rows"]] == ["planner", *CALL, "judge", *CALL, "judge"]
    assert (found["a"]["steps"], found["commonSteps"], found["sharedSteps"]) == (5, 9, 0)


def test_the_first_divergence_is_found_in_the_called_threads(project: Project, uwf: Client) -> None:
    other = said("writer", "written", text="tulips")
    a, b = run(project, uwf, *SMOOTH), run(project, uwf, PLANNED, other, GOOD, ACCEPTED)
    found = diff(project, a, b)
    first = found["divergence"]
    assert (first["pathA"], first["aspect"], first["part"]) == ("work/writer", "output", "text")
    assert first["stepA"] == uwf.steps(child_of(uwf, a))[1]["step"]
    assert "At step 1 (work/writer; A " in first["sentence"]
    good = said("checker", "good", text="tulips are red")
    c = run(project, uwf, PLANNED, other, good, ACCEPTED)
    found = diff(project, a, c)
    assert found["divergence"]["pathA"] == "work/writer", "not the call, whose output differs too"
    assert found["commonSteps"] == 1


def test_another_prompt_of_a_call_is_a_divergence_of_the_call(
    project: Project, uwf: Client
) -> None:
    planned = said("planner", "planned", plan="an ode")
    found = diff(project, run(project, uwf, *SMOOTH), run(project, uwf, planned, *SMOOTH[1:]))
    assert found["divergence"]["pathA"] == "planner"
    rows = {row["role"]: row["differences"] for row in found["rows"]}
    assert [each["part"] for each in rows["work"]] == ["instruction"]


def test_a_fork_shares_the_steps_of_the_called_thread(project: Project, uwf: Client) -> None:
    root = run(project, uwf, *TWICE)
    fork = uwf.fork(uwf.steps(root)[3]["step"])["thread"]
    uwf.exec(fork, until_done=True)
    found = diff(project, root, fork)
    assert found["sharedSteps"] == 5
    assert [row["shared"] for row in found["rows"]][:6] == [True] * 5 + [False]


def test_one_more_call_is_on_its_side_alone(project: Project, uwf: Client) -> None:
    once, twice = run(project, uwf, *SMOOTH), run(project, uwf, *TWICE)
    found = diff(project, once, twice)
    assert found["divergence"]["pathB"] == "judge"
    alone = [row["role"] for row in found["rows"] if row["a"] is None]
    assert alone == [*CALL, "judge"]
    cost = {row["role"]: row["b"]["usage"]["costUsd"] for row in found["rows"][:4]}
    assert cost == {"planner": 0.5, "work": 1.0, "work/writer": 0.5, "work/checker": 0.5}


def test_the_text_and_the_page_name_the_steps_of_called_threads(
    project: Project, uwf: Client, tmp_path: Path
) -> None:
    other = said("writer", "written", text="tulips")
    a, b = run(project, uwf, *SMOOTH), run(project, uwf, PLANNED, other, GOOD, ACCEPTED)
    page = tmp_path / "diff.html"
    text = project.uwf("thread", "diff", a, b, "-o", str(page), "--format", "text").stdout
    assert "first divergence: at step 1 (work/writer; A " in text
    html = page.read_text("utf-8")
    assert "work/writer" in html
    assert not re.search(r'(?:src|href)="(?!#|data:)', html)
    same = project.uwf("thread", "diff", a, a, "--format", "text").stdout
    assert "the first 5 steps, with those of called threads, are the same" in same
