"""Edges to branches in a file: their types, templates and nodes."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from tests.core.workflow.checking import check_text, desk
from tests.core.workflow.fan_outs import FAN, fan_out_files

from uwf_core.client import Client
from uwf_core.testing.project import Project


def test_branches_know_the_item_then_the_output_and_the_joint_result_knows_the_branches() -> None:
    assert check_text(FAN, "fan.yaml").problems == []


@pytest.mark.parametrize("path", ["plan.tasks", "plan.deep.tasks"])
def test_the_list_may_be_deep_in_the_output(path: str) -> None:
    listed = {"type": "array", "minItems": 1, "items": {"type": "string"}}
    for name in reversed(path.split(".")):
        listed = {"type": "object", "properties": {name: listed}, "required": [name]}
    file = {
        "version": 1,
        "name": "deep",
        "roles": {
            "planner": {
                "goal": "Plan.",
                "frontmatter": {
                    "properties": {"$status": {"const": "planned"}, **listed["properties"]},
                    "required": ["$status", *listed["required"]],
                },
            },
            "worker": {
                "human": True,
                "goal": "Work.",
                "frontmatter": {
                    "properties": {"$status": {"const": "ok"}},
                    "required": ["$status"],
                },
            },
        },
        "graph": {
            "$START": {key: {"role": "planner", "prompt": "Plan."} for key in ("new", "resume")},
            "planner": {
                "planned": {
                    "forEach": path,
                    "role": "worker",
                    "prompt": "{{.}}",
                    "then": {"$mixed": {"role": "$END", "prompt": "{{results.0.$status}}"}},
                }
            },
        },
    }
    assert check_text(json.dumps(file), "deep.yaml").problems == []
    file["graph"]["planner"]["planned"]["forEach"] = f"{path}.0"
    assert [each.code for each in check_text(json.dumps(file), "deep.yaml").problems] == [
        "for-each"
    ]


# -- callers ---------------------------------------------------------------------------------------

CALLER = """\
version: 1
name: caller
roles:
  work: {workflow: fan}
graph:
  $START:
    new: {role: work, prompt: Work.}
    resume: {role: work, prompt: Work on.}
  work:
    done: {role: $END, prompt: "{{#results}}{{$index}} {{_body}}{{/results}}"}
    $mixed: {role: $END, prompt: "{{style.$status}}"}
    $empty: {role: $END, prompt: Nothing.}
"""


@pytest.mark.parametrize("is_published", [False, True])
def test_the_joint_result_of_branches_is_the_result_of_a_call(
    tmp_path: Path, is_published: bool
) -> None:
    """From the file of the called workflow, and from its node."""
    project = Project(tmp_path)
    fan = project.workflow("fan", FAN)
    if is_published:
        project.uwf("workflow", "add", str(fan))
        fan.unlink()
    file = project.workflow("caller", CALLER)
    assert project.uwf("workflow", "check", str(file)).document["problems"] == []
    file.write_text(CALLER.replace("    $mixed: {role: $END", "    $mixd: {role: $END"))
    [problem] = project.uwf("workflow", "check", str(file)).document["problems"]
    assert (problem["code"], problem["hint"]) == ("unknown-status", "did you mean '$mixed'?")


# -- nodes -----------------------------------------------------------------------------------------


@given(file=fan_out_files())
@settings(deadline=None)
def test_a_workflow_with_branches_is_read_back_as_it_was_published(file: dict[str, Any]) -> None:
    uwf, text = desk(), json.dumps(file)
    assert check_text(text, "fan.yaml").valid
    path = uwf.folder / "fan.yaml"
    path.write_text(text)
    written = uwf.workflow(str(path))
    ref = uwf.add_workflow(path)
    shown, node = uwf.workflow(ref), uwf.node(ref)["payload"]
    unlike = {"workflow": None, "bound": None}  # which of several endless lists a bound names
    assert {**shown, **unlike} == {**written, **unlike}
    with Client.open(home=uwf.home, cwd=uwf.folder, store="memory:") as elsewhere:
        assert elsewhere.add_workflow(path) == ref
    for status, edge in file["graph"]["planner"].items():
        found, stored = shown["graph"]["planner"][status], node["graph"]["planner"][status]
        assert [*found.get("parallel", ())] == [*edge.get("parallel", ())]
        assert statuses(found["frontmatter"]) == set(edge["then"])
        assert uwf.node(stored["frontmatter"])["payload"] == found["frontmatter"]
        for branch in (stored["parallel"] or {"": stored}).values():
            called = uwf.workflow(branch["workflow"])
            assert (called["name"], [*called["roles"]]) == ("fan", [branch["role"]])
            own = called["roles"][branch["role"]]["frontmatter"]
            assert own == shown["roles"][branch["role"]]["frontmatter"]


def statuses(schema: dict[str, Any]) -> set[str]:
    """The statuses of a schema of variants."""
    variants = schema.get("oneOf", [schema])
    return {each["properties"]["$status"]["const"] for each in variants}


def test_show_prints_an_edge_as_it_is_written_with_the_type_of_the_joint_result(
    tmp_path: Path,
) -> None:
    """The same for a file and for its node, but for the order of keys."""
    project, written = Project(tmp_path), yaml.safe_load(FAN)
    file = project.workflow("fan", FAN)
    first = project.uwf("workflow", "show", "fan").document
    shown = copy.deepcopy(first)
    assert "branch" not in shown
    assert shown["graph"]["$START"] == written["graph"]["$START"]
    for status, edge in written["graph"]["planner"].items():
        found = shown["graph"]["planner"][status]
        assert found.pop("frontmatter")["oneOf"]
        assert found == edge
    assert [*shown["graph"]["planner"]["written"]["parallel"]] == ["style", "security"]
    project.uwf("workflow", "add", str(file))
    file.unlink()
    published = project.uwf("workflow", "show", "fan").document
    assert [*published["graph"]["planner"]["written"]["parallel"]] == ["style", "security"]
    assert published == {**first, "workflow": published["workflow"]}
