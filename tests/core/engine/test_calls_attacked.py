"""What people do to threads with calls at the wrong moment."""

import json
from pathlib import Path

import pytest
from tests.core.calling import (
    ACCEPTED,
    GOOD,
    INNER,
    OUTER,
    PLANNED,
    REFUSED,
    SMOOTH,
    WRITTEN,
    calling_project,
    child_of,
    children,
    descendants,
    roles,
    said,
)
from tests.core.running import running

from uwf_core.client import Client
from uwf_core.errors import BusyError, WrongStateError
from uwf_core.testing.project import Project

TOP = """\
version: 1
name: top
roles:
  all: {workflow: outer}
graph:
  $START:
    new: {role: all, prompt: Do all of it.}
    resume: {role: all, prompt: Do more of it.}
  all:
    accepted: {role: $END, prompt: Done.}
    hopeless: {role: $END, prompt: No way.}
"""
FORM = {"properties": {"colour": {"type": "string"}}, "required": ["colour"]}
ASKING = {**WRITTEN, "question": {"message": "Which colour?", "form": FORM}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = calling_project(tmp_path)
    project.workflow("top", TOP)
    return project


@pytest.fixture
def root(uwf: Client) -> str:
    return uwf.start("outer", "Make a poem.")["thread"]


@pytest.fixture
def top(uwf: Client) -> str:
    return uwf.start("top", "Make a poem.")["thread"]


def is_valid(uwf: Client) -> bool:
    found = uwf.verify()
    assert found["valid"], found["problems"]
    return True


@pytest.mark.parametrize("through", [0, 1, 2])
def test_a_question_two_calls_below_is_answered_through_any_thread_above(
    project: Project, uwf: Client, top: str, through: int
) -> None:
    project.script([PLANNED, ASKING, GOOD, ACCEPTED], by_role=True)
    assert uwf.exec(top, until_done=True).exit_code == 3
    middle = child_of(uwf, top)
    threads = [top, middle, child_of(uwf, middle)]
    for thread in threads:
        shown = uwf.show(thread)
        assert (shown["suspendMessage"], shown["form"]) == ("Which colour?", FORM)
    outcome = uwf.resume(threads[through], answer="colour=red")
    assert (outcome.exit_code, outcome.document["thread"]) == (0, threads[through])
    assert uwf.exec(top, until_done=True).document["status"] == "completed"
    assert is_valid(uwf)


def test_a_completed_root_whose_resume_leads_to_a_call_can_be_resumed_and_cancelled(
    uwf: Client, top: str
) -> None:
    uwf.exec(top, until_done=True)
    outcome = uwf.resume(top, "A longer one.")
    assert (outcome.document["status"], roles(outcome.document["steps"])) == ("idle", ["planner"])
    assert uwf.show(top)["status"] == "idle"
    assert uwf.cancel(top)["status"] == "cancelled"
    assert uwf.show(child_of(uwf, top))["status"] == "cancelled"
    assert is_valid(uwf)


def test_a_resumed_root_tells_the_called_thread_what_the_person_said(uwf: Client, top: str) -> None:
    uwf.exec(top, until_done=True)
    uwf.resume(top, "A longer one.", until_done=True)
    steps = list(uwf.thread(child_of(uwf, top)).steps())
    assert steps[3].edge_prompt == "Plan again.\n\nDo more of it.\n\nA longer one."
    assert uwf.show(top)["steps"] == 2
    assert uwf.thread(top).open_calls == []
    assert is_valid(uwf)


def test_a_thread_that_was_just_called_again_rejects_poke(
    project: Project, uwf: Client, root: str
) -> None:
    project.script([PLANNED, WRITTEN, GOOD, REFUSED, ACCEPTED], by_role=True)
    uwf.exec(root, count=4)
    child = child_of(uwf, root)
    died = project.uwf("thread", "exec", root, env={"UWF_TEST_CRASH": "begin:1"})
    assert died.exit_code == -9
    assert uwf.show(child)["status"] == "idle"
    with pytest.raises(WrongStateError, match="no step in its newest call"):
        uwf.poke(child, "again")
    assert uwf.exec(root, until_done=True).document["status"] == "completed"
    assert is_valid(uwf)


def test_the_result_of_a_called_thread_that_a_person_reopened_is_not_recorded_before_its_end(
    uwf: Client, top: str
) -> None:
    project_root = top
    uwf.exec(project_root, count=3)
    middle = child_of(uwf, project_root)
    uwf.exec(middle)
    assert uwf.show(middle)["status"] == "completed"
    uwf.resume(middle, "More.")
    assert uwf.show(middle)["status"] == "idle"
    outcome = uwf.exec(project_root, until_done=True)
    assert outcome.document["status"] == "completed"
    assert uwf.show(project_root)["usage"]["inputTokens"] == 80
    assert is_valid(uwf)


def test_the_usage_of_a_thread_below_a_cancelled_one_is_counted(uwf: Client, top: str) -> None:
    uwf.exec(top, count=2)
    uwf.cancel(child_of(uwf, top))
    uwf.exec(top)
    assert uwf.show(top)["usage"]["inputTokens"] == 20


def test_wait_waits_for_a_called_thread_that_another_process_runs(
    project: Project, uwf: Client, root: str
) -> None:
    uwf.exec(root, count=2)
    with running(project, child_of(uwf, root), GOOD):
        assert uwf.show(root)["status"] == "running"
        with pytest.raises(BusyError, match="still running"):
            uwf.wait(root, timeout_s=0.3)
        with pytest.raises(BusyError):
            uwf.exec(root)
    assert uwf.wait(root, timeout_s=1).document["status"] == "idle"


def test_a_missing_folder_of_a_call_suspends_the_caller_as_that_of_any_step(
    project: Project, uwf: Client
) -> None:
    text = OUTER.replace('prompt: "Do this: {{{plan}}}"', 'prompt: Do., location: "{{{plan}}}"')
    project.workflow("outer", text)
    root = uwf.start("outer", "x")["thread"]
    uwf.exec(root)
    outcome = uwf.exec(root)
    assert (outcome.exit_code, outcome.document["suspendReason"]) == (1, "failure")
    shown = uwf.show(root)
    assert (shown["suspendReason"], shown["suspendedRole"]) == ("failure", "work")
    (project.folder / "a poem").mkdir()
    assert uwf.exec(root, until_done=True).document["status"] == "completed"
    step = next(uwf.thread(child_of(uwf, root)).steps())
    assert step.node["attempt"]["cwd"] == str(project.folder / "a poem")


def test_cwd_moves_the_folders_of_called_threads_for_that_command_only(
    project: Project, uwf: Client, root: str, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    uwf.exec(root, count=2, cwd=str(other))
    uwf.exec(root)
    uwf.exec(root, cwd=str(other))
    child = child_of(uwf, root)
    here = str(project.folder)
    assert [step.node["attempt"]["cwd"] for step in uwf.thread(child).steps()] == [str(other), here]
    assert uwf.show(child)["cwd"] == here
    steps = list(uwf.thread(root).steps())
    assert [step.node["attempt"]["cwd"] for step in steps] == [str(other), here, str(other)]


def test_agent_is_for_every_step_of_the_command(project: Project, uwf: Client, root: str) -> None:
    outcome = uwf.exec(root, until_done=True, agent="human")
    assert (outcome.exit_code, outcome.document["suspendReason"]) == (3, "role")
    uwf.resume(root, answer=json.dumps({"$status": "planned", "plan": "x"}))
    outcome = uwf.exec(root, agent="human")
    assert outcome.document["suspendReason"] == "role"
    answer = json.dumps({"$status": "written", "text": "mine"})
    assert uwf.resume(root, answer=answer).exit_code == 0
    [step] = uwf.thread(child_of(uwf, root)).steps()
    assert (step.node["agent"], step.output["text"]) == ("human", "mine")


def test_a_role_that_suspends_below_is_resumed_through_the_root(
    project: Project, uwf: Client, root: str
) -> None:
    waits = {**WRITTEN, "suspend": {"reason": "I need a day."}}
    del waits["output"]
    project.script([PLANNED, waits, WRITTEN, GOOD, ACCEPTED], by_role=True)
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["suspendMessage"]) == (3, "I need a day.")
    with pytest.raises(WrongStateError):
        uwf.poke(root, "again")
    outcome = uwf.resume(root, "Go on.", until_done=True)
    assert outcome.document["status"] == "completed"
    assert roles(uwf.steps(child_of(uwf, root))) == ["$START", "writer", "writer", "checker"]


def test_a_caller_that_waits_for_a_person_calls_again_with_the_answer(
    project: Project, uwf: Client
) -> None:
    text = OUTER.replace("hopeless: {role: $END", "hopeless: {role: $SUSPEND")
    project.workflow("outer", text)
    hopeless = said("checker", "hopeless")
    project.script([PLANNED, WRITTEN, hopeless, GOOD, ACCEPTED], by_role=True)
    root = uwf.start("outer", "x")["thread"]
    assert uwf.exec(root, until_done=True).exit_code == 3
    outcome = uwf.resume(root, "Try harder.")
    assert (outcome.document["status"], roles(outcome.document["steps"])) == ("idle", ["writer"])
    child = child_of(uwf, root)
    assert "Try harder." in list(uwf.thread(child).steps())[2].edge_prompt
    assert uwf.exec(root, until_done=True).document["status"] == "completed"
    assert is_valid(uwf)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_fork_before_at_and_after_a_call_ends_and_leaves_the_first_alone(
    project: Project, uwf: Client, root: str, at: int
) -> None:
    project.script([PLANNED, WRITTEN, GOOD, REFUSED, ACCEPTED], by_role=True)
    uwf.exec(root, until_done=True)
    before, child = uwf.show(root), child_of(uwf, root)
    below = uwf.show(child)
    fork = uwf.fork(list(uwf.thread(root).steps())[at].ref)["thread"]
    project.script([PLANNED, WRITTEN, GOOD, ACCEPTED], by_role=True)
    assert uwf.exec(fork, until_done=True).document["status"] == "completed"
    assert (uwf.show(root), uwf.show(child)) == (before, below)
    assert is_valid(uwf)


def test_a_fork_during_a_call_calls_anew(uwf: Client, root: str) -> None:
    uwf.exec(root, count=2)
    fork = uwf.fork(uwf.show(root)["head"])["thread"]
    assert uwf.thread(fork).open_calls == []
    assert uwf.exec(fork, until_done=True).document["status"] == "completed"
    assert child_of(uwf, fork) != child_of(uwf, root)
    assert uwf.exec(root, until_done=True).document["status"] == "completed"
    assert is_valid(uwf)


def test_a_fork_of_a_called_thread_has_no_caller(uwf: Client, root: str) -> None:
    uwf.exec(root, count=2)
    fork = uwf.fork(uwf.show(child_of(uwf, root))["head"])["thread"]
    assert uwf.exec(fork, until_done=True).document["status"] == "completed"
    assert children(uwf, root) == [child_of(uwf, root)]
    assert uwf.show(root)["steps"] == 1


def test_gc_frees_nothing_that_an_open_call_needs(project: Project, uwf: Client, top: str) -> None:

    project.script([PLANNED, ASKING, WRITTEN, GOOD, REFUSED, ACCEPTED], by_role=True)
    for _ in range(6):
        uwf.collect_garbage(0)
        assert is_valid(uwf)
        shown = uwf.show(top)
        if shown["form"]:
            uwf.resume(top, answer="colour=red")
        elif shown["status"] != "completed":
            uwf.exec(top)
    assert uwf.exec(top, until_done=True).document["status"] == "completed"


def test_a_secret_of_a_person_or_a_role_is_in_no_text_of_a_call(project: Project) -> None:
    secret = "correct-horse-battery-staple"
    project.env["SERVICE_TOKEN"] = secret
    again = said("judge", "refused", why=f"{secret} is missing")
    planned = said("planner", "planned", plan=f"use {secret}")
    project.script([planned, WRITTEN, GOOD, again, ACCEPTED], by_role=True)
    with project.client() as uwf:
        root = uwf.start("top", f"With {secret}")["thread"]
        uwf.exec(root, until_done=True)
        uwf.resume(root, f"Use {secret} again.", until_done=True)
        below = descendants(uwf, root)
        assert len(below) == 2
        for thread in (root, *below):
            steps = list(uwf.thread(thread).steps())
            texts = [uwf.show(thread)["task"] or "", uwf.read(thread)]
            texts += [text for step in steps for text in (uwf.prompt(step.ref), step.edge_prompt)]
            assert [text for text in texts if secret in text] == []
    stored = (project.home / "store.db").read_bytes()
    assert secret.encode() not in stored


def test_a_limit_of_the_called_workflow_and_of_the_caller_stops_a_run_and_can_be_granted(
    project: Project, uwf: Client
) -> None:
    project.workflow("inner", INNER.replace("roles:", "limits: {maxSteps: 1}\nroles:", 1))
    root = uwf.start("outer", "x")["thread"]
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["suspendReason"]) == (5, "limit")
    assert uwf.show(root)["suspendReason"] == "limit"
    assert uwf.resume(root, until_done=True).document["status"] == "completed"
    project.workflow("outer", OUTER.replace("roles:", "limits: {maxSteps: 2}\nroles:", 1))
    root = uwf.start("outer", "x")["thread"]
    outcome = uwf.exec(root, until_done=True)
    assert outcome.exit_code == 5
    for _ in range(3):
        outcome = uwf.resume(root, until_done=True)
        if outcome.document["status"] == "completed":
            break
    assert outcome.document["status"] == "completed"
    assert is_valid(uwf)


def test_a_call_that_a_poke_opened_goes_on_at_a_limit(project: Project, uwf: Client) -> None:
    project.workflow("top", TOP.replace("roles:", "limits: {maxSteps: 4}\nroles:", 1))
    root = uwf.start("top", "x")["thread"]
    uwf.exec(root, until_done=True)
    uwf.poke(root, "again")
    for _ in range(6):
        shown = uwf.show(root)
        if shown["status"] == "completed":
            break
        act = uwf.resume if shown["suspendReason"] == "limit" else uwf.exec
        act(root)
    assert uwf.show(root)["status"] == "completed"
    assert is_valid(uwf)


def test_a_background_run_of_a_call_is_waited_for_and_stopped(
    project: Project, uwf: Client, root: str
) -> None:
    slow = {**WRITTEN, "delayMs": 60_000}
    project.script([PLANNED, slow, GOOD, ACCEPTED], by_role=True)
    started = project.uwf("thread", "exec", root, "--until-done", "--background")
    assert started.document["status"] == "running", started.stderr
    import time

    for _ in range(200):
        if uwf.show(root)["steps"] == 1 and children(uwf, root):
            child = child_of(uwf, root)
            if uwf.show(child)["running"]:
                break
        time.sleep(0.1)
    with pytest.raises(BusyError):
        uwf.wait(child, timeout_s=0.2)
    assert uwf.stop(child)["status"] == "suspended"
    outcome = uwf.wait(root, timeout_s=30)  # the process releases the child first
    assert uwf.show(root)["status"] == "suspended"
    assert (outcome.exit_code, outcome.document["suspendReason"]) == (130, "interrupted")
    project.script(SMOOTH, by_role=True)
    assert uwf.exec(root, until_done=True).document["status"] == "completed"


def test_a_background_resume_through_the_root_is_what_wait_reports(
    project: Project, uwf: Client, root: str
) -> None:
    project.script([PLANNED, ASKING, GOOD, ACCEPTED], by_role=True)
    uwf.exec(root, until_done=True)
    done = project.uwf(
        "thread", "resume", root, "--answer", "colour=red", "--until-done", "--background"
    )
    assert done.exit_code == 0, done.stderr
    outcome = uwf.wait(root, timeout_s=30)
    assert outcome.document["status"] == "completed"
    assert roles(outcome.document["steps"]) == ["writer", "checker", "judge"]


def test_exec_in_the_background_goes_on_with_the_open_call_of_a_completed_thread(
    project: Project, uwf: Client, top: str
) -> None:
    uwf.exec(top, until_done=True)
    uwf.poke(top, "again")
    started = project.uwf("thread", "exec", top, "--until-done", "--background")
    assert (started.exit_code, started.document["status"]) == (0, "running")
    assert uwf.wait(top, timeout_s=30).document["status"] == "completed"
    assert uwf.show(child_of(uwf, top))["steps"] > 3
