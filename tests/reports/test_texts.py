"""Texts that people and agents write: one test for each public report."""

from pathlib import Path
from typing import Any

import pytest

from uwf_core.testing.project import Project

WORKFLOW = """\
version: 1
name: texts
roles:
  writer:
    PLAYER
    goal: Write
    frontmatter:
      properties: {$status: {const: done}, text: {type: string}, failures: {type: integer}}
      required: [$status, text]
graph:
  $START:
    new: {role: writer, prompt: "Write."}
    resume: {role: writer, prompt: "Write again."}
  writer:
    done: {role: $SUSPEND, prompt: PROMPT}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def workflow(project: Project, *, prompt: str = '"Done."', player: str = "timeout: 60") -> Path:
    text = WORKFLOW.replace("PROMPT", prompt).replace("PLAYER", player)
    return project.workflow("texts", text)


def step_of(project: Project, reply: str, **changed: str) -> dict[str, Any]:
    """The step of a run whose agent replies with this text."""
    workflow(project, **changed)
    project.script([{"role": "writer", "output": reply}])
    project.uwf("run", "./.workflow/texts.yaml", "-p", "go")
    found: dict[str, Any] = project.uwf("step", "show", "@last").document
    return found


@pytest.mark.parametrize(
    "text", ["Closes #42 and adds 3 tests", "#42 is fixed"], ids=["pleaseai/shunt #535", "first"]
)
def test_the_end_of_a_text_behind_a_number_sign_is_delivered(project: Project, text: str) -> None:
    """monarch-initiative/dismech #12094: a value that YAML cuts at a comment."""
    step = step_of(project, f"---\n$status: done # yes\ntext: {text}\n---\n")
    assert step["output"] == {"$status": "done", "text": text}
    assert step["corrections"] == []


@pytest.mark.parametrize("source", ["get-bb/bb #1098", "vectorize-io/hindsight #645"])
def test_an_emoji_that_json_escapes_is_delivered(project: Project, source: str) -> None:
    step = step_of(project, '---\n{"$status": "done", "text": "\\ud83d\\ude00"}\n---\n')
    assert step["output"]["text"] == "\U0001f600", source


@pytest.mark.parametrize("reply", ["```yaml\n---\n{}\n---\nBody.\n```", "```json\n{}\n```", "{}"])
def test_a_reply_in_a_fence_or_as_json_needs_no_correction(project: Project, reply: str) -> None:
    fields = '{"$status": "done", "text": "fine"}'
    step = step_of(project, reply.replace("{}", fields))
    assert step["output"]["text"] == "fine"
    assert step["corrections"] == []
    assert "the reply was" in step["notices"][0]


def test_a_prompt_that_is_cut_by_a_comment_is_reported(project: Project) -> None:
    """monarch-initiative/dismech #12094, Aider-AI/aider PR #3742."""
    file = workflow(project).read_text().replace("role: $SUSPEND, ", "")
    file = file.replace(
        'done: {prompt: "Done."}', "done:\n      role: $END\n      prompt: See #1 {{text}}"
    )
    project.workflow("texts", file)
    outcome = project.uwf("workflow", "check", ".workflow/texts.yaml", "--format", "text")
    assert "text-ends-at-comment" in outcome.stdout
    assert "{{text}}" in outcome.stdout and "quotes" in outcome.stdout
    assert outcome.exit_code == 4


def test_no_failures_are_said_as_zero(project: Project) -> None:
    """langgenius/dify #38963, agno-agi/agno PR #10208: 0 counts as missing in a template."""
    prompt = '"{{#failures?}}{{failures}} failures{{/failures?}}"'
    step_of(project, "---\n$status: done\ntext: x\nfailures: 0\n---\n", prompt=prompt)
    assert project.uwf("thread", "show", "@last").document["suspendMessage"] == "0 failures"


def test_a_form_asks_in_the_order_of_its_author(project: Project) -> None:
    """Found while using uwf: stored schemas are sorted, and people were asked in that order."""
    file = workflow(project, player="human: true").read_text()
    project.workflow(
        "texts", file.replace("{type: integer}}", "{type: integer}, a: {type: string}}")
    )
    project.uwf("run", "./.workflow/texts.yaml", "-p", "go")
    form = project.uwf("thread", "show", "@last").document["form"]
    assert list(form["properties"]) == ["$status", "text", "a", "failures"]


def test_an_unknown_field_of_an_answer_is_named(project: Project) -> None:
    """Found while using uwf: a mistyped field was reported as the other one that is missing."""
    workflow(project, player="human: true")
    project.uwf("run", "./.workflow/texts.yaml", "-p", "go")
    answer = ("--status", "done", "--answer", "txet=hi")
    message = project.uwf("thread", "resume", "@last", *answer).error["message"]
    assert "txet: is not a field" in message and "did you mean 'text'?" in message
