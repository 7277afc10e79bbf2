"""The hooks of the guide and of this repository find the workflow files and report their faults."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from uwf_core.testing.project import Project

ROOT = Path(__file__).resolve().parents[2]
GOOD = """\
version: 1
name: letter
roles:
  writer:
    goal: write
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START: {new: {role: writer, prompt: Begin.}, resume: {role: writer, prompt: Again.}}
  writer: {done: {role: $END, prompt: Done.}}
"""
FIXABLE = GOOD.removeprefix("version: 1\n")
BROKEN = GOOD.replace("role: $END", "role: nobody")


def hooks() -> list[dict]:
    page = (ROOT / "docs" / "guides" / "checking.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(repos:\n.*?)```", page, re.DOTALL)
    (guide,) = yaml.safe_load(text)["repos"][0]["hooks"]
    return [guide, *yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))]


@pytest.mark.parametrize("hook", hooks(), ids=["guide", "check", "fix"])
def test_a_hook_gets_the_workflow_files_and_fails_on_a_fault(hook, tmp_path):
    project = Project(tmp_path)
    texts = {"good": GOOD, "fixable": FIXABLE, "broken": BROKEN}
    for name, text in texts.items():
        project.workflow(name, text.replace("letter", name))
    wanted = re.compile(hook["files"])
    assert all(wanted.search(f".workflow/{name}.yaml") for name in texts)
    assert not any(map(wanted.search, ("mkdocs.yml", ".github/workflows.yml", "x.yaml")))

    def passes(*names: str) -> bool:
        words = shlex.split(hook["entry"], comments=True)
        assert words.pop(0) == "uwf"
        return project.uwf(*words, *(f".workflow/{name}.yaml" for name in names)).exit_code == 0

    assert passes("good")
    assert not passes("good", "broken")
    passes("fixable")
    is_fixed = (project.folder / ".workflow" / "fixable.yaml").read_text().startswith("version: 1")
    assert is_fixed is ("--fix" in hook["entry"])
