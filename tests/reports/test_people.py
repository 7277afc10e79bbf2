"""What people say to threads, and what uwf says about them."""

import json
from pathlib import Path
from typing import Any

import pytest

from uwf_core.testing.project import Project

ASK = """
version: 1
name: ask
roles:
  writer:
    goal: Write.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Write.}
    resume: {role: writer, prompt: Again.}
  writer: {done: {role: $END, prompt: Done.}}
"""
EDGE = ASK.replace("name: ask", "name: edge").replace(
    "writer: {done: {role: $END, prompt: Done.}}",
    "writer: {done: {role: $SUSPEND, prompt: Which colour?}}",
)
CALLER = """
version: 1
name: caller
roles:
  part: {workflow: ask}
graph:
  $START:
    new: {role: part, prompt: Begin.}
    resume: {role: part, prompt: Again.}
  part: {done: {role: $END, prompt: Done.}}
"""
ASKS = {"role": "writer", "suspend": {"reason": "Which colour?"}}
DONE = {"role": "writer", "output": {"$status": "done"}}
FORM = {"properties": {"colour": {"type": "string"}, "size": {"type": "integer"}}}
SOURCE = "found while using uwf; coleam00/Archon #2577"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    found = Project(tmp_path)
    for name, text in (("ask", ASK), ("edge", EDGE), ("caller", CALLER)):
        found.workflow(name, text)
    return found


def asked(project: Project, workflow: str, *script: Any, agent: str = "mock") -> str:
    """A thread whose question is open."""
    project.script(script)
    done = project.uwf("run", workflow, "-p", "Go", "--agent", agent)
    assert done.exit_code == 3, done
    return str(done.document["thread"])


def why(project: Project, thread: str) -> str:
    return project.uwf("thread", "why", thread, "--format", "text").stdout


@pytest.mark.parametrize("options", [(), ("--until-done",), ("--background",), ("-p", " ")])
@pytest.mark.parametrize(
    ("workflow", "script"),
    [("ask", [ASKS, DONE]), ("edge", [DONE, DONE]), ("caller", [ASKS, DONE])],
    ids=[f"{SOURCE}: a role", f"{SOURCE}: an edge", f"{SOURCE}: a called thread"],
)
def test_a_question_is_not_skipped_by_accident(
    project: Project, workflow: str, script: list[Any], options: tuple[str, ...]
) -> None:
    thread = asked(project, workflow, *script)
    before = project.uwf("thread", "show", thread).document
    refused = project.uwf("thread", "resume", thread, *options)
    assert refused.exit_code == 2, refused
    assert project.uwf("thread", "show", thread).document == before
    if "-p" not in options:
        hint = refused.error["hint"]
        assert "-p TEXT" in hint and hint.endswith("--without-answer")
        assert project.uwf(*hint.rpartition("uwf ")[2].split()).exit_code in (0, 3)


def test_nobody_is_said_to_have_answered_who_has_not(project: Project) -> None:
    """coleam00/Archon #2577; kind: people."""
    thread = asked(project, "ask", ASKS, DONE)
    done = project.uwf("thread", "resume", thread, "--without-answer", "--until-done")
    assert done.document["status"] == "completed"
    page = why(project, thread)
    assert "let the run continue without an answer" in page
    for text in (page, project.uwf("thread", "read", thread).stdout):
        assert "reply of the person" not in text and "answered" not in text
    step = project.uwf("thread", "show", thread).document["head"]
    with project.client() as uwf:
        assert "A person let you continue without an answer." in uwf.prompt(step)


def test_a_reply_is_called_a_reply(project: Project) -> None:
    thread = asked(project, "ask", ASKS, DONE)
    project.uwf("thread", "resume", thread, "-p", "blue", "--until-done")
    assert "After the reply of the person" in why(project, thread)
    assert "without an answer" not in why(project, thread)


@pytest.mark.parametrize(
    "wrong",
    [("--without-answer",), ("-p", "fine"), (), ("--answer", "{}"), ("--answer", "colour=")],
)
def test_a_question_with_a_form_needs_a_field(project: Project, wrong: tuple[str, ...]) -> None:
    """An agent asked with optional fields; kind: people."""
    question = {**DONE, "question": {"message": "Which colour?", "form": FORM}}
    thread = asked(project, "ask", question)
    before = project.uwf("thread", "show", thread).document
    assert project.uwf("thread", "resume", thread, *wrong).exit_code in (2, 4)
    assert project.uwf("thread", "show", thread).document == before
    assert project.uwf("thread", "resume", thread, "--answer", "size=0").exit_code == 0


@pytest.mark.parametrize("wrong", [("--without-answer",), ("-p", "fine"), ()])
def test_a_person_who_plays_a_role_decides(project: Project, wrong: tuple[str, ...]) -> None:
    """`--agent human`; kind: people."""
    thread = asked(project, "ask", agent="human")
    assert project.uwf("thread", "resume", thread, *wrong).exit_code == 2
    assert project.uwf("thread", "exec", thread, "--until-done").exit_code == 3
    assert project.uwf("thread", "resume", thread, "--status", "done").exit_code == 0


def test_a_failure_is_no_question(project: Project) -> None:
    fail = {"fail": {"kind": "auth", "message": "no key"}}
    project.script([{"role": "writer", "outputs": [fail, DONE["output"]]}])
    thread = project.uwf("run", "ask", "-p", "Go").document["thread"]
    wrong = project.uwf("thread", "resume", thread, "--without-answer")
    assert (wrong.exit_code, wrong.error["message"]) == (
        2, f"thread {thread} has no pending question",
    )  # fmt: skip
    assert project.uwf("thread", "resume", thread).exit_code == 0


def test_a_program_that_drives_uwf_answers_explicitly_too(project: Project) -> None:
    from uwf_core.errors import PayloadError, UsageError, WrongStateError

    thread = asked(project, "ask", ASKS, DONE)
    with project.client() as uwf:
        for text in (None, "", " \n", "\u200b\ufeff"):
            with pytest.raises(WrongStateError, match="waits for an answer"):
                uwf.resume(thread, text)
        with pytest.raises(UsageError, match="cannot be combined"):
            uwf.resume(thread, "blue", without_answer=True)
        with pytest.raises((WrongStateError, PayloadError)):
            uwf.resume(thread, answer=json.dumps({}))
        assert uwf.resume(thread, without_answer=True).document["status"] == "completed"
