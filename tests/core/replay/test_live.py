"""`--live` and `fork --workflow`: only what the replay does not confirm runs again."""

from typing import Any

import pytest
from tests.core.replay.conftest import ACCEPTED, CHECKED, TRIO, UNSURE

from uwf_core.client import Client
from uwf_core.testing.project import Project


def draft(project: Project, old: str, new: str) -> str:
    file = project.folder / "draft" / "trio.yaml"
    file.parent.mkdir(exist_ok=True)
    assert TRIO.count(old) == 1
    file.write_text(TRIO.replace(old, new), "utf-8")
    return str(file)


def newest(project: Project) -> str:
    return str(project.uwf("thread", "list", "--all").document["threads"][0]["thread"])


def test_live_pays_only_for_the_rest(project: Project, uwf: Client, story: str) -> None:
    file = draft(project, "goal: Check the facts", "goal: Check it all")
    done = project.uwf("replay", story, "--workflow", file, "--live")
    assert (done.exit_code, done.document["status"]) == (0, "completed"), done.stderr
    assert [each["role"] for each in done.document["steps"]] == ["checker"]
    fork = done.document["thread"]
    assert [each["step"] for each in uwf.steps(fork)][:7] == [
        each["step"] for each in uwf.steps(story)
    ][:7], "the steps before it are shared"
    assert uwf.thread(fork).workflow.roles["checker"].goal == "Check it all."
    old, new = list(uwf.thread(fork).steps())[5:]
    assert old.workflow.ref != new.workflow.ref
    assert uwf.replay(fork)["verdict"] == "same", "each step by the workflow that ran it"


def test_a_step_after_whose_reply_only_the_question_differs_is_not_run_again(
    project: Project, uwf: Client
) -> None:
    project.script([UNSURE])
    thread = uwf.start("trio", "The task.")["thread"]
    uwf.exec(thread)
    file = draft(project, "Please say: ", "Tell me: ")
    done = project.uwf("replay", thread, "--workflow", file, "--live")
    assert (done.exit_code, done.document["steps"]) == (3, [])
    assert done.document["suspendMessage"] == "Tell me: red or blue?"


def test_live_without_a_difference_runs_nothing(project: Project, story: str) -> None:
    done = project.uwf("replay", story, "--live")
    assert done.exit_code == 0
    assert "nothing is run" in done.stderr
    assert newest(project) == story


def test_from_names_the_step_to_continue_after(project: Project, uwf: Client, story: str) -> None:
    third = uwf.steps(story)[3]["step"]
    done = project.uwf("replay", story, "--live", "--from", third)
    assert done.document["steps"][0]["role"] == "editor"
    assert uwf.steps(done.document["thread"])[3]["step"] == third


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--from", "0000000000000"), "--from has no effect without --live"),
        (("--agent", "mock"), "--agent has no effect without --live"),
        (("--live", "--allow", "stale"), "--allow has no effect with --live"),
        (("--live", "--format", "junit"), "--live cannot print JUnit"),
    ],
)
def test_options_that_do_not_belong_together_are_an_error(
    project: Project, story: str, words: Any, message: str
) -> None:
    refused = project.uwf("replay", story, *words)
    assert (refused.exit_code, refused.error["message"]) == (2, message)


def test_from_is_a_step_of_the_thread(project: Project, uwf: Client, story: str) -> None:
    other = uwf.start("trio", "Another task.")["thread"]
    uwf.exec(other)
    step = uwf.steps(other)[1]["step"]
    refused = project.uwf("replay", story, "--live", "--from", step)
    assert refused.exit_code == 2
    assert refused.error["message"] == f"step {step} is not a step of thread {story}"
    assert newest(project) == other, "nothing is forked"


def test_an_unknown_agent_leaves_no_thread_behind(project: Project, story: str) -> None:
    file = draft(project, "goal: Check the facts", "goal: Check it all")
    refused = project.uwf("replay", story, "--workflow", file, "--live", "--agent", "nobody")
    assert refused.exit_code == 2
    assert "unknown agent 'nobody'" in refused.error["message"]
    assert newest(project) == story


def test_the_warnings_of_the_workflow_are_shown_once(project: Project, story: str) -> None:
    file = draft(project, "goal: Check the facts", "goal: Check it all")
    done = project.uwf("replay", story, "--workflow", file, "--live")
    assert done.stderr.count("template-optional-field") == 1, done.stderr


def test_live_takes_one_thread(project: Project, story: str) -> None:
    assert project.uwf("replay", story, story, "--live").exit_code == 2


def test_a_fork_continues_with_another_workflow(project: Project, uwf: Client, story: str) -> None:
    file = draft(project, "goal: Check the facts", "goal: Check it all")
    step = uwf.steps(story)[6]["step"]
    fork = project.uwf("thread", "fork", step, "--workflow", file).document
    assert fork["workflow"] != uwf.show(story)["workflow"]
    project.script([CHECKED] * 7)
    uwf.exec(fork["thread"])
    assert "Check it all" in uwf.prompt(uwf.steps(fork["thread"])[-1]["step"])
    again = uwf.fork(uwf.steps(fork["thread"])[-1]["step"])
    assert again["workflow"] == fork["workflow"], "a fork of it keeps the new one"
    before = uwf.fork(step)
    assert before["workflow"] == uwf.show(story)["workflow"], "an inherited step keeps its own"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("editor", "reader", "has no role 'editor'"),
        ("accepted", "good", "no edge for editor with status 'accepted'"),
    ],
)
def test_a_workflow_that_cannot_continue_is_refused_and_changes_nothing(
    project: Project, uwf: Client, story: str, old: str, new: str, message: str
) -> None:
    file = project.folder / "draft" / "trio.yaml"
    file.parent.mkdir()
    file.write_text(TRIO.replace(old, new), "utf-8")
    step = uwf.steps(story)[6]["step"]
    refused = project.uwf("thread", "fork", step, "--workflow", str(file))
    assert refused.exit_code == 2
    assert message in refused.error["message"]
    assert newest(project) == story


def test_a_fork_at_the_start_begins_with_the_other_workflow(
    project: Project, uwf: Client, story: str
) -> None:
    file = draft(project, "new: {role: writer", "new: {role: editor")
    start = uwf.steps(story)[0]["step"]
    fork = project.uwf("thread", "fork", start, "--workflow", file).document["thread"]
    project.script([ACCEPTED, CHECKED])
    assert uwf.exec(fork).document["steps"][0]["role"] == "editor"
