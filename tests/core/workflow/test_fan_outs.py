"""Edges to branches in a file: their types, templates and nodes."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from tests.core.workflow.fan_outs import FAN, fan_out_files

from uwf_core.cas.store import Store
from uwf_core.stores.memory import open_memory
from uwf_core.testing.project import Project
from uwf_core.workflow.as_written import mapping_of
from uwf_core.workflow.check import check_text
from uwf_core.workflow.definition import read_definition
from uwf_core.workflow.fan_out import branches_of
from uwf_core.workflow.publish import publish
from uwf_core.workflow.variants import variants
from uwf_core.workflow.yaml_source import parse_yaml


def store() -> Store:
    return Store(open_memory("memory:", ""), lambda: 0)


def test_branches_know_the_item_then_the_output_and_the_joint_result_knows_the_branches() -> None:
    assert check_text(FAN, "fan.yaml").problems == ()


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
    assert check_text(json.dumps(file), "deep.yaml").problems == ()
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
    checked = check_text(json.dumps(file), "fan.yaml")
    assert [each for each in checked.problems if each.severity == "error"] == []
    own, workflow = store(), checked.require()
    ref = publish(own, workflow)
    definition = read_definition(own, ref)
    mapping = mapping_of(definition)
    assert publish(own, mapping) == ref
    assert publish(store(), check_text(json.dumps(file), "fan.yaml").require()) == ref
    for status, edge in file["graph"]["planner"].items():
        role = definition.roles[f"planner/{status}"]
        assert role.fan_out is not None
        assert definition.graph["planner"][status].role == role.name
        names = [each.name for each in branches_of(role.fan_out)]
        assert names == ([*edge["parallel"]] if "parallel" in edge else [None])
        assert {each.status for each in variants(role.schema)} == set(edge["then"])
        assert mapping["graph"]["planner"][status]["frontmatter"] == role.schema
        for each in branches_of(role.fan_out):
            branch = read_definition(own, each.branch.workflow)
            assert (branch.name, [*branch.roles]) == ("fan", [each.branch.role])
            assert (
                dict(branch.roles[each.branch.role].schema)
                == (workflow["roles"][each.branch.role]["frontmatter"])
            )


def test_show_prints_an_edge_as_it_is_written_with_the_type_of_the_joint_result(
    tmp_path: Path,
) -> None:
    """The same for a file and for its node, but for the order of keys."""
    project, written = Project(tmp_path), parse_yaml(FAN, file="fan.yaml")
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
