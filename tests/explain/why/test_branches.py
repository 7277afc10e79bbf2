"""Branches are explained: the task and result of each, and why their joint status is what it is."""

import sys
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
    branch_threads,
    branching_project,
    panel_script,
    run,
)
from tests.core.calling import OUTER, SMOOTH, child_of, children, said

sys.path.insert(0, str(Path(__file__).parent))

from why_checks import Checks

from uwf_core.client import Client
from uwf_core.testing.project import Project
from uwf_explain.explanation.html import why_html
from uwf_explain.explanation.statements import Statement, WhyPage
from uwf_explain.explanation.text import why_text


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return branching_project(tmp_path)


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    with project.client(store="memory:", durable=False) as client:
        yield client


def of_kind(page: WhyPage, kind: str) -> list[Statement]:
    return [each for section in page.sections for each in section.statements if each.kind == kind]


def decision(page: WhyPage, role: str) -> str:
    [section] = [each for each in page.sections if each.role == role]
    [found] = [each.text for each in section.statements if each.kind == "decided"]
    return found


def panel(project: Project, uwf: Client, *reviews: dict[str, Any]) -> str:
    project.script(panel_script(*reviews), by_role=True, repeat=True)
    uwf.add_workflow(project.folder / ".workflow" / "panel.yaml", allow_programs=True)
    return run(uwf, "panel")


def test_a_fan_out_says_what_each_branch_was_asked_and_delivered(uwf: Client) -> None:
    root = run(uwf)
    page = Checks(uwf, root).page()
    tasks, results = of_kind(page, "branch"), of_kind(page, "delivered")
    assert [each.quote for each in tasks] == ["0: do one", "1: do two", "2: do three"]
    for each, thread in zip(tasks, branch_threads(uwf, root), strict=True):
        assert f"is the run {thread}" in each.text
    assert [each.quote for each in results] == ["text: ok"] * 3
    assert decision(page, "planner/planned").endswith("is “done”, because all ended so.")
    assert "rule graph.planner.planned.then.done" in "\n".join(why_text(page))
    fields = [each.text.partition(":")[0] for each in of_kind(page, "field")]
    assert fields == ["tasks", "others"], "the results are those of the branches"


def test_named_branches_that_end_differently_say_how(project: Project, uwf: Client) -> None:
    root = panel(project, uwf, POOR, FINE)
    page = Checks(uwf, root).page()
    first, second = [each for each in page.sections if each.role == "writer/written"]
    [why] = [each.text for each in first.statements if each.kind == "decided"]
    assert why.endswith("because they ended differently: 1 with “bad”, 2 with “good”.")
    asked = [each.quote for each in second.statements if each.kind == "branch"]
    assert asked == ["Style of roses", "Facts of roses", "Test roses"]
    assert "Facts of roses" in "".join(why_html(page))


def test_an_empty_list_and_a_missing_rule_are_reasons(project: Project, uwf: Client) -> None:
    project.script([said("planner", "planned", tasks=[], others=[])], by_role=True)
    page = Checks(uwf, run(uwf)).page()
    assert decision(page, "planner/planned").endswith("“$empty”, because the list was empty.")
    stuck = said("worker", "stuck", why="no")
    project.script([SPLIT, stuck, JUDGED], by_role=True, repeat=True)
    page = Checks(uwf, run(uwf)).page()
    assert "no rule for the case that all end with “stuck”" in decision(page, "planner/planned")


def test_a_cancelled_branch_and_open_branches_are_shown(project: Project, uwf: Client) -> None:
    fails = {**DONE, "outputs": [{"fail": {"kind": "crashed", "message": "no"}}, DONE["output"]]}
    del fails["output"]
    project.script([SPLIT, fails, JUDGED], by_role=True, repeat=True)
    root = uwf.start("tasks", "Make a poem.")["thread"]
    uwf.exec(root, until_done=True)
    first, second, third = children(uwf, root)
    uwf.exec(second)
    found = of_kind(Checks(uwf, root).page(), "open")
    assert [each.quote for each in found] == ["0: do one", "1: do two", "2: do three"]
    states = [each.text.partition(", ")[2].partition(". ")[0] for each in found]
    waits = "which waits for a person or for more of a limit"
    assert states == [waits, "which has ended", waits]
    uwf.cancel(first)
    uwf.exec(third)
    uwf.exec(root, until_done=True)
    page = Checks(uwf, root).page()
    assert "the branch “0” was cancelled" in decision(page, "planner/planned")
    assert of_kind(page, "open") == []


def test_an_open_call_of_a_workflow_is_shown(project: Project, uwf: Client) -> None:
    project.workflow("outer", OUTER)
    project.script(SMOOTH, by_role=True)
    root = uwf.start("outer", "Make a poem.")["thread"]
    uwf.exec(root, count=2)
    [found] = of_kind(Checks(uwf, root).page(), "open")
    assert found.quote == "Do this: a poem"
    assert "the role “work” is played by the run " + child_of(uwf, root) in found.text


def test_the_page_of_a_branch_names_the_run_that_called_it(uwf: Client) -> None:
    root = run(uwf)
    for thread in branch_threads(uwf, root):
        [called] = of_kind(Checks(uwf, thread).page(), "called")
        assert f"of the run {root} called this run" in called.text
