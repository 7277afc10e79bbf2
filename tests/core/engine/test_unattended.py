"""What a program can ask before it runs threads without a person, and what they used."""

from pathlib import Path

import pytest

from uwf_core.errors import DefinitionError, PayloadError, UnknownIdError, UsageError
from uwf_core.testing.project import Project

FLOW = """\
version: 1
name: NAME
input:
  properties: {level: {type: integer}}
  required: [level]
roles:
  tester:
    PLAYED
    frontmatter:
      properties: {$status: {const: done}}
      required: [$status]
graph:
  $START:
    new: {role: tester, prompt: Begin.}
    resume: {role: tester, prompt: Again.}
  tester:
    done: {role: $END, prompt: Done.}
"""
CALLER = """\
version: 1
name: caller
roles:
  inner: {workflow: NAME}
graph:
  $START:
    new: {role: inner, prompt: Begin.}
    resume: {role: inner, prompt: Again.}
  inner:
    done: {role: $END, prompt: Done.}
"""
PROGRAM = "program: {argv: [touch, ran], statuses: {0: done}}"


def flow(name: str, played: str = "goal: Test it.") -> str:
    return FLOW.replace("NAME", name).replace("PLAYED", played)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.workflow("plain", flow("plain"))
    project.workflow("asking", flow("asking", "human: true\n    goal: Test it."))
    project.workflow("running", flow("running", PROGRAM))
    return project


def test_a_workflow_and_its_input_are_checked_and_nothing_is_stored(project: Project) -> None:
    with project.client() as uwf:
        uwf.unattended.check("plain", {"level": 3})
        for wrong in (None, {"level": "high"}, {"level": 3, "other": 1}):
            with pytest.raises(PayloadError, match=r"level|other"):
                uwf.unattended.check("plain", wrong)
        with pytest.raises(UnknownIdError):
            uwf.unattended.check("nothing")
        (project.folder / "wrong.yaml").write_text("version: 1\nname: wrong\n")
        with pytest.raises(DefinitionError):
            uwf.unattended.check("./wrong.yaml")
        assert not (project.home / "store.db").exists()


@pytest.mark.parametrize("published", [False, True])
def test_a_role_of_a_person_is_found_in_every_workflow_below(
    project: Project, published: bool
) -> None:
    asking = flow("asking", "human: true\n    goal: Test it.")
    project.workflow("asking", asking.replace("  required: [level]\n", ""))
    file = project.workflow("caller", CALLER.replace("NAME", "asking"))
    with project.client() as uwf:
        if published:
            uwf.add_workflow(file)
            file.unlink()
        with pytest.raises(UsageError, match="a person plays asking/tester"):
            uwf.unattended.check("caller")


def test_programs_are_allowed_only_as_by_a_start_in_the_folder(project: Project) -> None:
    with project.client() as uwf:
        with pytest.raises(UsageError, match="not allowed: running runs for tester: touch ran"):
            uwf.unattended.publish("running", str(project.folder))
        with pytest.raises(UsageError, match="not allowed"):
            uwf.start("running", "Test.", input={"level": 1})
    project.uwf("config", "trust", ".")
    with project.client() as uwf:
        ref = uwf.unattended.publish("running", str(project.folder))
        thread = uwf.start(ref, "Test.", input={"level": 1})["thread"]
        assert uwf.exec(thread).document["status"] == "completed"
        ledger = uwf.unattended.ledger(thread)
        assert (ledger["steps"], ledger["usage"]["costUsd"]) == (1, 0)
