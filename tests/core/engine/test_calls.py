"""A role that another workflow plays: one thread that calls another."""

from pathlib import Path

import pytest
from tests.core.calling import (
    ACCEPTED,
    GOOD,
    OUTER,
    PLANNED,
    REFUSED,
    SMOOTH,
    WRITTEN,
    calling_project,
    child_of,
    children,
    lose,
    roles,
    said,
)
from tests.step_parts import call_of, session_of

from uwf_core.client import Client
from uwf_core.errors import UsageError, WrongStateError
from uwf_core.testing.project import Project

ACCEPTED_BELOW = "accepted: {role: judge, prompt: Judge.}"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return calling_project(tmp_path)


@pytest.fixture
def root(uwf: Client) -> str:
    return uwf.start("outer", "Make a poem.")["thread"]


def test_a_call_runs_the_steps_of_its_workflow_and_delivers_its_result(
    uwf: Client, root: str
) -> None:
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed")
    assert roles(outcome.document["steps"]) == ["planner", "writer", "checker", "judge"]
    assert roles(uwf.steps(root)) == ["$START", "planner", "work", "judge"]
    child = child_of(uwf, root)
    called = list(uwf.thread(child).steps())[-1]
    recorded = list(uwf.thread(root).steps())[1]
    assert call_of(recorded.node)["child"] == called.ref
    assert recorded.node["output"] == called.node["output"]
    assert recorded.output == {"$status": "good", "text": "roses are red"}
    assert uwf.prompt(list(uwf.thread(root).steps())[2].ref).count("Judge: roses are red") == 1


def test_exec_takes_one_step_of_an_agent_at_a_time(uwf: Client, root: str) -> None:
    seen = []
    while uwf.show(root)["status"] != "completed":
        outcome = uwf.exec(root)
        seen.append([(step["thread"] == root, step["role"]) for step in outcome.document["steps"]])
    assert seen == [
        [(True, "planner")],
        [(False, "writer")],
        [(False, "checker")],
        [(True, "judge")],
    ]


def test_what_a_call_used_counts_in_the_thread_that_calls(uwf: Client, root: str) -> None:
    outcome = uwf.exec(root, until_done=True)
    assert outcome.document["status"] == "completed"
    usage = uwf.show(root)["usage"]
    assert (usage["inputTokens"], usage["costUsd"]) == (40, 2.0)
    assert uwf.usage(root)["total"]["steps"] == 4


def test_a_called_role_gets_its_task_and_that_of_the_root(uwf: Client, root: str) -> None:
    uwf.exec(root, count=3)
    first, second = uwf.thread(child_of(uwf, root)).steps()
    for prompt in (first.prompt, second.prompt):
        assert "Do this: a poem" in prompt
        assert "Make a poem." in prompt
        assert f"uwf thread read {root}" in prompt
    assert "Plan." not in first.prompt


def test_show_counts_what_an_open_call_has_used(uwf: Client, root: str) -> None:
    uwf.exec(root, count=2)
    assert uwf.show(root)["usage"]["inputTokens"] == 20


def test_a_role_that_calls_again_continues_the_same_thread(
    project: Project, uwf: Client, root: str
) -> None:
    longer = said("writer", "written", text="roses, violets")
    project.script([PLANNED, WRITTEN, longer, GOOD, REFUSED, ACCEPTED], by_role=True)
    outcome = uwf.exec(root, until_done=True)
    assert outcome.document["status"] == "completed"
    assert roles(uwf.steps(root)) == ["$START", "planner", "work", "judge", "work", "judge"]
    child = child_of(uwf, root)
    assert roles(uwf.steps(child)) == ["$START", "writer", "checker", "writer", "checker"]
    again = list(uwf.thread(child).steps())[2]
    assert again.edge_prompt == "There is more to do.\n\nRefused: too short"
    first, _, second = list(uwf.thread(root).steps())[1:4]
    assert (session_of(first.node)["continuation"], session_of(second.node)["continuation"]) == (
        "new",
        "continued",
    )
    assert uwf.show(root)["usage"]["inputTokens"] == 70


def test_a_role_whose_thread_is_gone_continues_from_its_recorded_step(
    project: Project, uwf: Client, root: str
) -> None:
    project.script([PLANNED, WRITTEN, GOOD, REFUSED, ACCEPTED], by_role=True)
    uwf.exec(root, count=3)
    uwf.exec(root)
    child = child_of(uwf, root)
    lose(uwf, child)
    uwf.exec(root, until_done=True)
    again = child_of(uwf, root)
    assert again != child
    assert roles(uwf.steps(again)) == ["$START", "writer", "checker", "writer", "checker"]


def test_a_question_in_a_called_thread_is_answered_through_the_root_or_directly(
    project: Project, uwf: Client, root: str
) -> None:
    form = {"properties": {"colour": {"type": "string"}}, "required": ["colour"]}
    asking = {**WRITTEN, "question": {"message": "Which colour?", "form": form}}
    project.script([PLANNED, asking, GOOD, ACCEPTED], by_role=True)
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (3, "suspended")
    assert outcome.document["suspendMessage"] == "Which colour?"
    shown = uwf.show(root)
    assert (shown["status"], shown["suspendedRole"], shown["form"]) == ("suspended", "work", form)
    child = child_of(uwf, root)
    assert uwf.show(child)["suspendMessage"] == "Which colour?"
    with pytest.raises(WrongStateError):
        uwf.resume(root, "blue")
    resumed = uwf.resume(root, answer="colour=red", until_done=True)
    assert (resumed.exit_code, resumed.document["status"]) == (0, "completed")
    assert resumed.document["thread"] == root


def test_a_failure_below_is_the_state_of_the_root_and_exec_tries_again(
    project: Project, uwf: Client, root: str
) -> None:
    failing = {**WRITTEN, "outputs": [{"fail": {"kind": "crashed"}}, WRITTEN["output"]]}
    del failing["output"]
    project.script([PLANNED, failing, GOOD, ACCEPTED], by_role=True)
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["suspendReason"]) == (6, "failure")
    assert uwf.show(root)["suspendReason"] == "failure"
    assert uwf.exec(root, until_done=True).document["status"] == "completed"


def test_a_thread_that_ended_is_recorded_by_the_next_exec_of_the_root(
    uwf: Client, root: str
) -> None:
    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    uwf.exec(child)
    assert uwf.show(child)["status"] == "completed"
    assert uwf.show(root)["steps"] == 1
    outcome = uwf.exec(root)
    assert roles(outcome.document["steps"]) == ["judge"]
    assert roles(uwf.steps(root)) == ["$START", "planner", "work", "judge"]


def test_a_thread_whose_result_is_recorded_takes_no_further_step(uwf: Client, root: str) -> None:
    uwf.exec(root, until_done=True)
    child = child_of(uwf, root)
    for act in (uwf.exec, uwf.resume, lambda thread: uwf.poke(thread, "again")):
        with pytest.raises(WrongStateError, match="is recorded in step 2"):
            act(child)
    assert uwf.fork(uwf.show(child)["head"])["thread"] != child


def test_a_thread_that_is_called_again_cannot_replace_its_recorded_result(
    project: Project, uwf: Client, root: str
) -> None:
    failing = {**WRITTEN, "outputs": [{"fail": {"kind": "crashed"}}, WRITTEN["output"]]}
    del failing["output"]
    project.script([PLANNED, WRITTEN, failing, GOOD, REFUSED, ACCEPTED], by_role=True)
    uwf.exec(root, until_done=True)
    child = child_of(uwf, root)
    assert uwf.show(child)["suspendReason"] == "failure"
    with pytest.raises(WrongStateError):
        uwf.poke(child, "again")
    project.script([PLANNED, WRITTEN, GOOD, REFUSED, ACCEPTED], by_role=True)
    uwf.exec(root, until_done=True)
    assert uwf.show(root)["status"] == "completed"


def test_during_a_call_the_caller_cannot_be_poked(uwf: Client, root: str) -> None:
    uwf.exec(root, count=2)
    with pytest.raises(WrongStateError, match=child_of(uwf, root)):
        uwf.poke(root, "again")


def test_poke_of_a_call_calls_the_thread_again(project: Project, uwf: Client, root: str) -> None:
    uwf.exec(root, count=3)
    assert roles(uwf.exec(root, count=1).document["steps"]) == ["judge"]
    fork = uwf.fork(list(uwf.thread(root).steps())[1].ref)["thread"]
    outcome = uwf.poke(fork, "Make it longer.")
    assert roles(outcome.document["steps"]) == ["writer"]
    below = child_of(uwf, fork)
    assert "Make it longer." in list(uwf.thread(below).steps())[-1].edge_prompt
    uwf.exec(fork, until_done=True)
    [replaced] = [step for step in uwf.thread(fork).steps() if step.node["attempt"]["replaces"]]
    assert (replaced.role, session_of(replaced.node)["continuation"]) == ("work", "forked")


def test_cancel_goes_down_the_tree(uwf: Client, root: str) -> None:
    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    uwf.cancel(root)
    assert (uwf.show(root)["status"], uwf.show(child)["status"]) == ("cancelled", "cancelled")


def test_after_a_called_thread_is_cancelled_the_next_exec_calls_a_new_one(
    uwf: Client, root: str
) -> None:
    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    uwf.cancel(child)
    outcome = uwf.exec(root)
    assert (outcome.exit_code, outcome.document["suspendReason"]) == (130, "interrupted")
    assert uwf.exec(root, until_done=True).document["status"] == "completed"

    assert len(children(uwf, root)) == 2
    assert uwf.show(root)["usage"]["inputTokens"] == 50


def test_a_thread_is_removed_with_all_that_it_called(uwf: Client, root: str) -> None:
    uwf.exec(root, until_done=True)
    child = child_of(uwf, root)
    with pytest.raises(WrongStateError, match="was called by"):
        uwf.remove(child)
    uwf.remove(root)
    with pytest.raises(UsageError):
        uwf.show(child)


def test_a_call_without_an_instruction_suspends_the_thread_as_any_step_does(
    project: Project, uwf: Client, root: str
) -> None:
    project.script([said("planner", "planned", plan=" "), *SMOOTH[1:]], by_role=True)
    blank = OUTER.replace("name: outer", "name: blank").replace("Do this: {{{plan}}}", "{{{plan}}}")
    project.workflow("blank", blank)
    thread = uwf.start("blank", "Go.")["thread"]
    outcome = uwf.exec(thread, until_done=True)
    assert (outcome.document["status"], outcome.document["suspendReason"]) == (
        "suspended",
        "failure",
    )
    assert "renders blank" in (outcome.document["suspendMessage"] or "")


def test_a_call_beyond_the_depth_suspends_the_thread(project: Project, uwf: Client) -> None:
    again = OUTER.replace("name: outer", "name: endless").replace("inner", "$SELF")
    again = again.replace("    hopeless: {role: $END, prompt: No way.}\n", "")
    again = again.replace('good: {role: judge, prompt: "Judge: {{{text}}}"}', ACCEPTED_BELOW)
    project.workflow("endless", again)
    root = uwf.start("endless", "Go.")["thread"]
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["suspendReason"]) == (5, "limit")
    assert "depth 3" in (outcome.document["suspendMessage"] or "")
    assert roles(outcome.document["steps"]) == ["planner"] * 4
