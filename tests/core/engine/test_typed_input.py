"""The typed input: checked before a thread exists, in every template and prompt, in every copy."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.step_parts import session_of

from uwf_core.client import Client
from uwf_core.errors import PayloadError, UsageError
from uwf_core.testing.project import Project

TRIAGE = """
version: 1
name: triage
input:
  properties:
    issue: {type: integer}
    labels: {$ref: "#/$defs/labels"}
    note: {type: string}
  required: [issue, labels]
  $defs: {labels: {type: array, items: {type: string}}}
roles:
  sorter:
    goal: Sort it.
    frontmatter:
      properties: {$status: {const: done}, reason: {type: string}}
      required: [$status]
      additionalProperties: true
  fixer:
    goal: Fix it.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: sorter, prompt: "Sort {{input.issue}}.", location: "{{input.labels.0}}"}
    resume: {role: sorter, prompt: "Sort {{input.issue}} again."}
  sorter:
    done: {role: fixer, prompt: "Fix {{#input.labels}}<{{.}}>{{/input.labels}}."}
  fixer:
    done: {role: $END, prompt: "Fixed {{input.issue}}."}
"""
GIVEN = {"issue": 12, "labels": ["bug", "1.0"]}
STEPS = [
    {"role": "sorter", "output": {"$status": "done", "input": "an output's own"}},
    {"role": "fixer", "output": {"$status": "done"}},
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.workflow("triage", TRIAGE)
    project.script(STEPS * 3)
    (project.folder / "bug").mkdir()
    return project


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    with project.client() as client:
        yield client


def _prompts(uwf: Client, thread: str) -> list[str]:
    return [uwf.prompt(row["step"]) for row in uwf.steps(thread)[1:]]


def test_the_input_is_in_the_templates_in_the_prompts_and_in_what_shows_the_thread(
    uwf: Client, project: Project
) -> None:
    thread = uwf.start("triage", "Sort it.", input=GIVEN)["thread"]
    assert uwf.exec(thread, until_done=True).exit_code == 0
    first, second = _prompts(uwf, thread)
    assert "Sort 12." in first and "Fix <bug><1.0>." in second
    assert '"issue": 12' in first and first.index("# Task") < first.index("# Input")
    assert uwf.show(thread)["input"] == GIVEN
    assert '"issue": 12' in uwf.read(thread)
    assert uwf.step(uwf.steps(thread)[1]["step"])["attempt"]["cwd"] == str(project.folder / "bug")
    parts = ("---", "Sort it.", '"issue": 12', "Sort 12.")
    assert sorted(parts, key=first.index) == list(parts)
    uwf.resume(thread, "Once more")
    assert "Sort 12 again." in _prompts(uwf, thread)[-1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "requires the input issue, labels"),
        ({"issue": 1}, "requires the input labels"),
        ({"issue": "x", "labels": []}, "issue: "),
        ({**GIVEN, "nte": "x"}, "nte: is not a field of the input"),
        ({**GIVEN, "note": float("nan")}, "note"),
        ("issue", "'issue' is not an input"),
    ],
)
def test_a_wrong_input_is_an_error_before_a_thread_exists(
    uwf: Client, given: Any, said: str
) -> None:
    with pytest.raises(PayloadError) as caught:
        uwf.start("triage", "Sort it.", input=given)
    assert said in caught.value.message and caught.value.where == "--input"
    assert uwf.list() == []


def test_an_input_for_a_workflow_without_one_is_an_error(uwf: Client, project: Project) -> None:
    roles = TRIAGE[TRIAGE.index("roles:") : TRIAGE.index("graph:")]
    graph = {
        "$START": {key: {"role": "sorter", "prompt": "Sort."} for key in ("new", "resume")},
        "sorter": {"done": {"role": "fixer", "prompt": "Fix."}},
        "fixer": {"done": {"role": "$END", "prompt": "Done."}},
    }
    project.workflow("plain", f"version: 1\nname: plain\n{roles}graph: {json.dumps(graph)}\n")
    with pytest.raises(UsageError, match="has no typed input"):
        uwf.start("plain", "Sort it.", input={})
    assert uwf.show(uwf.start("plain", "Sort it.")["thread"])["input"] is None


def test_the_options_of_the_command_are_typed_by_the_schema(project: Project) -> None:
    (project.folder / "input.txt").write_text("issue=12\nnote=012\n")
    started = project.uwf(
        *("thread", "start", "triage", "-p", "Sort it."),
        *("--input", "@input.txt", "--input", "labels=[bug, 1.0]"),
    )
    assert started.exit_code == 0, started.stderr
    shown = project.uwf("thread", "show", started.document["thread"]).document
    assert shown["input"] == {**GIVEN, "note": "012"}
    refused = project.uwf("run", "triage", "-p", "Sort it.", "--input", "issue=12")
    assert refused.exit_code == 4
    assert refused.error["hint"] == "add --input labels=<JSON>"


def test_a_file_that_is_no_input_is_named_in_short_with_a_cure_that_fits(project: Project) -> None:
    (project.folder / "long.txt").write_text("no field here\n" * 1000)
    words = ("thread", "start", "triage", "-p", "Sort it.", "--input")
    wrong = project.uwf(*words, "@long.txt").error
    assert "'no field here" in wrong["message"] and len(wrong["message"]) < 100
    assert "-p" not in project.uwf(*words, "@absent.txt").error["hint"]


def test_a_secret_of_the_input_is_not_stored(project: Project) -> None:
    project.env |= {"A_TOKEN": "hunter2hunter2", "B_TOKEN": "123456789012"}
    with project.client() as uwf:
        given = {**GIVEN, "note": "use hunter2hunter2"}
        thread = uwf.start("triage", "Sort it.", input=given)["thread"]
        assert uwf.show(thread)["input"] == {**GIVEN, "note": "use [redacted]"}
        with pytest.raises(UsageError, match="cannot be redacted"):
            uwf.start("triage", "Sort it.", input={**GIVEN, "issue": 123456789012})


def test_a_replay_a_fork_and_a_bundle_have_the_input(
    uwf: Client, project: Project, tmp_path: Path
) -> None:
    thread = uwf.start("triage", "Sort it.", input=GIVEN)["thread"]
    uwf.exec(thread, until_done=True)
    uwf.resume(thread, "Once more", until_done=True)
    assert uwf.replay(thread)["verdict"] == "same"
    forked = uwf.fork(uwf.steps(thread)[1]["step"])["thread"]
    project.script([STEPS[0], STEPS[1]])
    assert uwf.exec(forked, until_done=True).exit_code == 0
    assert "Fix <bug><1.0>." in _prompts(uwf, forked)[-1]
    uwf.export_thread(thread, tmp_path / "thread.tar")
    with Client.open(home=tmp_path / "other", cwd=tmp_path, env=project.env) as other:
        other.import_bundle(tmp_path / "thread.tar")
        assert other.show(thread)["input"] == GIVEN
        assert other.replay(thread)["verdict"] == "same"


def test_a_fork_needs_an_input_that_its_workflow_accepts(uwf: Client, project: Project) -> None:
    thread = uwf.start("triage", "Sort it.", input=GIVEN)["thread"]
    uwf.exec(thread)
    step = uwf.steps(thread)[1]["step"]
    project.workflow("triage", TRIAGE.replace("issue: {type: integer}", "issue: {type: string}"))
    with pytest.raises(PayloadError, match="issue"):
        uwf.fork(step, workflow="triage")
    project.workflow("triage", TRIAGE.replace("Fix {{", "Mend {{"))
    assert uwf.replay(thread, "triage")["verdict"] == "same", "only the edge after it differs"
    assert uwf.fork(step, workflow="triage")["thread"] != thread


CALLER = """
version: 1
name: caller
roles:
  planner:
    goal: Plan it.
    frontmatter:
      properties:
        $status: {const: done}
        issue: {type: integer}
        labels: {type: array, items: {type: string}}
        other: {type: string}
      required: [$status, issue, labels]
  sort: {workflow: triage.yaml}
graph:
  $START:
    new: {role: planner, prompt: Plan.}
    resume: {role: planner, prompt: Plan again.}
  planner:
    done: {role: sort, prompt: "Sort {{issue}}."}
  sort:
    done: {role: $END, prompt: Done.}
"""


def test_a_called_workflow_gets_what_its_input_declares_of_the_output(
    project: Project, uwf: Client
) -> None:
    project.workflow("caller", CALLER)
    thread = uwf.start("caller", "Sort it.")["thread"]
    for issue in (12, 13):
        plan = {"$status": "done", "issue": issue, "labels": ["bug"], "other": "x"}
        project.script([{"role": "planner", "output": plan}] * 3)
        _ = uwf.exec(thread) if issue == 12 else uwf.resume(thread, "Once more")
        project.script(STEPS * 2)
        assert uwf.exec(thread, until_done=True).exit_code == 0
        child = session_of(uwf.step(uwf.steps(thread)[-1]["step"]))["id"]
        assert child is not None
        assert uwf.show(child)["input"] == {"issue": issue, "labels": ["bug"]}
    prompts = _prompts(uwf, child)
    assert '"issue": 12' in prompts[0] and "Sort 12." in prompts[0]
    assert "Sort 13" in prompts[2], "in a called thread the input is that of the newest call"
    for each in (child, thread):  # by the input that each step had
        assert uwf.replay(each)["verdict"] == "same"
    assert "called again" in prompts[2] and '"issue": 13' in prompts[2]
