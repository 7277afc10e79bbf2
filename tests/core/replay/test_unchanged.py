"""An unchanged thread replays the same: each prompt, output, route and reference, with no agent."""

import socket
from typing import Any

import pytest
from tests.core.replay.conftest import ACCEPTED, CHECKED, RETURNED, TRIO, UNSURE, WRITTEN

from uwf_core.client import Client
from uwf_core.testing.project import Project

FAILED = {"fail": {"kind": "crashed", "message": "no"}}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("a replay opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def verdicts(uwf: Client, thread: str) -> list[tuple[int, str, str]]:
    return [(each["number"], each["kind"], each["verdict"]) for each in uwf.replay(thread)["steps"]]


def test_a_finished_thread_is_the_same_step_by_step(uwf: Client, story: str) -> None:
    found = uwf.replay(story)
    assert found["counts"] == {"same": 7, "stale": 0, "different": 0, "unreachable": 0}
    assert found["first"] is None
    assert [each["step"] for each in found["steps"]] == [
        each["step"] for each in uwf.steps(story)[1:]
    ]


def test_what_persons_and_failures_add_is_replayed_as_well(project: Project, uwf: Client) -> None:
    question = {
        "question": {"message": "Which?", "form": {"properties": {"x": {"type": "string"}}}}
    }
    project.script(
        [
            {"role": "writer", "outputs": [FAILED, UNSURE["output"]]},
            {**WRITTEN, **question},
            {"role": "editor", "outputs": [RETURNED["output"], ACCEPTED["output"]]},
            {**CHECKED},
            {**ACCEPTED},
            {**CHECKED},
        ]
    )
    thread = uwf.start("trio", "The task.")["thread"]
    uwf.exec(thread)
    uwf.resume(thread, "try again")
    uwf.resume(thread, "blue")
    uwf.resume(thread, answer='{"x": "1"}')
    uwf.exec(thread)
    uwf.poke(thread, "be kinder")
    uwf.exec(thread)
    uwf.resume(thread, "once more")
    uwf.exec(thread, until_done=True)
    assert uwf.show(thread)["status"] == "completed"
    kinds = [(number, kind) for number, kind, _ in verdicts(uwf, thread)]
    assert kinds == [
        (1, "failed"), (1, "step"), (2, "asked"), (2, "step"), (3, "replaced"), (3, "step"),
        (4, "step"), (5, "step"), (6, "step"),
    ]  # fmt: skip
    assert {verdict for *_, verdict in verdicts(uwf, thread)} == {"same"}


def test_the_attempts_at_a_step_that_is_still_open_are_replayed(
    project: Project, uwf: Client
) -> None:
    project.script([WRITTEN, {"role": "editor", **FAILED}])
    thread = uwf.start("trio", "The task.")["thread"]
    uwf.exec(thread, until_done=True)
    assert verdicts(uwf, thread) == [(1, "step", "same"), (2, "failed", "same")]


def test_an_attempt_that_failed_after_its_session_was_lost_is_replayed(
    project: Project, uwf: Client
) -> None:
    outputs = [FAILED, FAILED, WRITTEN["output"]]  # the first is for the lost session
    project.script([WRITTEN, RETURNED, {"role": "writer", "outputs": outputs}])
    thread = uwf.start("trio", "The task.")["thread"]
    for _ in range(2):
        uwf.exec(thread)
    for file in project.home.rglob("sessions/*.jsonl"):
        file.unlink()
    for _ in range(2):
        uwf.exec(thread)
    assert verdicts(uwf, thread)[2:] == [(3, "failed", "same"), (3, "step", "same")]


def test_a_text_after_an_answer_whose_attempt_failed_is_replayed(
    project: Project, uwf: Client
) -> None:
    question = {"message": "Which?", "form": {"properties": {"x": {"type": "string"}}}}
    outputs = [FAILED, WRITTEN["output"]]
    project.script([{"role": "writer", "outputs": outputs, "question": question}])
    thread = uwf.start("trio", "The task.")["thread"]
    uwf.exec(thread)
    uwf.resume(thread, answer='{"x": "1"}')
    uwf.resume(thread, "try again")
    assert verdicts(uwf, thread) == [
        (1, "asked", "same"),
        (1, "failed", "same"),
        (1, "step", "same"),
    ]


def test_a_fork_replays_what_it_inherited_and_what_it_ran(uwf: Client, story: str) -> None:
    second = uwf.steps(story)[2]["step"]
    fork = uwf.fork(second)["thread"]
    uwf.exec(fork, until_done=True)
    assert uwf.replay(fork)["counts"]["same"] == len(uwf.steps(fork)) - 1
    assert uwf.replay(fork)["verdict"] == "same"


def test_a_fork_with_another_workflow_is_the_same_where_the_workflow_changes(
    project: Project, uwf: Client, story: str
) -> None:
    file = project.folder / "draft" / "trio.yaml"
    file.parent.mkdir()
    file.write_text(TRIO.replace("Check it.", "Check all of it."), "utf-8")
    step = uwf.steps(story)[6]["step"]
    fork = project.uwf("thread", "fork", step, "--workflow", str(file)).document["thread"]
    project.script([CHECKED] * 7)
    uwf.exec(fork)
    assert "Check all of it." in uwf.prompt(uwf.steps(fork)[-1]["step"])
    assert uwf.replay(fork)["counts"]["same"] == 7


def test_a_fork_replays_after_its_parent_was_deleted(uwf: Client, story: str) -> None:
    fork = uwf.fork(uwf.steps(story)[5]["step"])["thread"]
    uwf.remove(story)
    assert uwf.replay(fork)["counts"]["same"] == 5


def test_a_thread_without_a_step_has_nothing_to_replay(uwf: Client) -> None:
    thread = uwf.start("trio", "The task.")["thread"]
    assert uwf.replay(thread)["steps"] == []
    assert uwf.replay(thread)["verdict"] == "same"


def test_the_answer_of_a_person_who_plays_a_role_is_replayed(uwf: Client) -> None:
    thread = uwf.start("trio", "The task.", agent="human")["thread"]
    uwf.exec(thread)
    uwf.resume(thread, answer='{"$status": "written", "title": "Mine"}')
    assert verdicts(uwf, thread) == [(1, "asked", "same"), (1, "step", "same")]


def test_configuration_that_changes_later_changes_no_verdict(
    project: Project, uwf: Client, story: str
) -> None:
    project.config("defaultAgent: gone\nextractors: [gone]\nallowedFolders: []\n")
    (project.folder / "part").rmdir()
    with project.client() as later:
        assert later.replay(story)["verdict"] == "same"


def test_a_difference_only_where_a_secret_was_redacted_is_the_same(project: Project) -> None:
    project.env["TRIO_API_KEY"] = "correct-horse-battery"
    said = {**WRITTEN, "output": {"$status": "written", "title": "correct-horse-battery"}}
    secret = "Edit correct-horse-battery and {{{title}}}."
    file = project.workflow("trio", _with_prompt(project, secret))
    project.script([said, ACCEPTED, CHECKED])
    with project.client(pass_env=["TRIO_API_KEY"]) as uwf:
        thread = uwf.start(str(file), "The task.")["thread"]
        uwf.exec(thread, until_done=True)
    del project.env["TRIO_API_KEY"]
    with project.client() as later:
        prompt = later.prompt(later.steps(thread)[2]["step"])
        assert "correct-horse" not in prompt
        assert "[redacted]" in prompt
        assert later.replay(thread)["verdict"] == "same", later.replay(thread)["first"]


def _with_prompt(project: Project, prompt: str) -> str:
    text = (project.folder / ".workflow" / "trio.yaml").read_text("utf-8")
    return text.replace('"Edit {{{title}}}."', f'"{prompt}"')


def test_a_replay_writes_nothing(project: Project, uwf: Client, story: str) -> None:
    draft = project.workflow("draft", "").with_name("trio.yaml")
    draft.write_text(draft.read_text("utf-8").replace("Write plainly", "Write well"), "utf-8")
    before = project.uwf("cas", "verify").document
    assert uwf.replay(story, str(draft))["verdict"] == "stale"
    assert project.uwf("cas", "verify").document == before
