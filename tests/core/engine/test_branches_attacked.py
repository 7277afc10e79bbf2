"""Branches against what the items of a planner and the limits of a role may do to them."""

import json
from pathlib import Path

import pytest
from tests.core.obeying import (
    branches,
    for_each,
    joined,
    joint_output,
    obeying_project,
    parallel,
    statuses,
    task,
)
from tests.step_parts import call_of

from uwf_core.client import Client
from uwf_core.errors import WrongStateError
from uwf_core.testing.project import Project

PROMPT_OF_PLACE = for_each("places").replace("{{{title}}} DO", "place {{$index}} DO")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    goal = "    goal: Do a task.\n"
    twice = for_each("twice").replace(goal, f"{goal}    limits: {{maxVisits: 2}}\n")
    return obeying_project(tmp_path, twice=twice, places=PROMPT_OF_PLACE)


def test_each_branch_that_has_begun_is_a_run_of_its_role(uwf: Client) -> None:
    root = uwf.start("twice", task("", "sleep=200", "", ""))["thread"]
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["suspendReason"]) == (5, "limit")
    assert sorted(statuses(uwf, root)) == ["completed", "completed", "limit", "limit"]
    waiting = [each for each in branches(uwf, root) if uwf.show(each)["status"] == "suspended"]
    uwf.resume(waiting[0], grants=["visits=2"])
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed"), outcome
    assert len(joint_output(uwf, root)["results"]) == 4


def test_a_limit_of_a_role_of_branches_does_not_end_the_loop_of_their_planner(
    project: Project, uwf: Client
) -> None:
    """Who cancels the branches that the limit holds up sends the thread on by `$mixed`."""
    text = parallel("again", a="a DO", b="b DO")
    text = text.replace("$mixed: {role: $END", "$mixed: {role: planner")
    goal = "    goal: Do a task.\n"
    file = project.workflow("again", text.replace(goal, f"{goal}    limits: {{maxVisits: 1}}\n"))
    checked = project.uwf("workflow", "check", "--bound", str(file)).document
    assert checked["bounds"][0]["bound"]["cycle"] == ["planner/planned", "planner"]
    root = uwf.start("again", task("", ""))["thread"]
    for _ in range(3):
        assert uwf.exec(root, until_done=True).document["suspendReason"] == "limit"
        for branch in branches(uwf, root):
            if uwf.show(branch)["status"] == "suspended":
                uwf.cancel(branch)
    assert uwf.exec(root, until_done=True).document["suspendReason"] == "limit"
    assert [step.role for step in uwf.thread(root).steps()].count("planner") == 4


def test_a_run_of_a_role_in_several_tries_is_one(uwf: Client) -> None:
    root = uwf.start("twice", task("fail=1", "ask"))["thread"]
    uwf.exec(root, until_done=True)
    assert statuses(uwf, root) == ["failure", "role"]
    uwf.resume(branches(uwf, root)[1], answer="word=x")
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed"), outcome


def test_an_item_cannot_take_the_number_of_another_branch(uwf: Client) -> None:
    items = [{"title": "a", "do": "", "$index": 7}, {"title": "b", "do": "", "$index": 7}]
    root = uwf.start("places", f"Do it. TASKS{json.dumps(items)}TASKS")["thread"]
    assert uwf.exec(root, until_done=True).document["status"] == "completed"
    told = [each["summary"] for each in joint_output(uwf, root)["results"]]
    assert told == ["worker: place 0", "worker: place 1"]


def test_a_recorded_branch_is_only_to_be_forked_since_the_step_of_branches_has_no_agent(
    uwf: Client,
) -> None:
    root = uwf.start("each", task(""))["thread"]
    uwf.exec(root, until_done=True)
    branch = call_of(joined(uwf, root))["branches"][0]["thread"]
    with pytest.raises(WrongStateError) as raised:
        uwf.poke(branch, "Again.")
    assert "thread fork" in (raised.value.hint or "")
    assert "thread poke" not in (raised.value.hint or "")
