"""What the tests of the example workflows share."""

from collections.abc import Mapping
from typing import Any

from uwf_core.testing.project import Project


def says(role: str, status: str, **fields: Any) -> Mapping[str, Any]:
    """A step of the mock's script."""
    return {"role": role, "output": {"$status": status, **fields}}


def example(project: Project, name: str) -> Project:
    """The project with an example of its own."""
    made = project.uwf("workflow", "new", f".workflow/{name}.yaml", "--from", name)
    assert made.exit_code == 0, made.stderr
    return project


def roles(project: Project) -> list[str]:
    return [each["role"] for each in project.uwf("step", "list", "@last").document["steps"][1:]]


def edge_prompts(project: Project) -> list[str]:
    steps = project.uwf("step", "list", "@last").document["steps"][1:]
    shown = [project.uwf("step", "show", each["step"]).document for each in steps]
    return [each["attempt"]["edgePrompt"] for each in shown]
