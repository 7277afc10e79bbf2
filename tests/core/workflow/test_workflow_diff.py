"""Every kind of change between two versions of a workflow, and whom it breaks.

The verdict for forks is that of a real fork: a thread of the old version that stands after a step
of `at` is forked onto the new one.
"""

import copy
import json
import re
from pathlib import Path

import pytest
from tests.core.workflow.changes import (
    BAD,
    DONE_BRANCHES,
    EXAMPLES,
    NOTED,
    OK,
    OLD,
    PLANNED,
    status,
)
from tests.core.workflow.checking import desk
from tests.core.worktrees import repository

from uwf_core.errors import UwfError
from uwf_core.testing.project import Project

GUIDE = Path(__file__).parents[3] / "docs/guides/workflows.md"


def version(*edits):
    new = copy.deepcopy(OLD)
    for edit in edits:
        edit(new)
    return json.dumps(new)


def compared(old: str, new: str):
    """The changes that `workflow diff` names between two texts."""
    files = []
    for folder, text in (("old", old), ("new", new)):
        file = desk().folder / folder / f"{json.loads(text)['name']}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        files.append(str(file))
    return desk().workflow_diff(*files)["changes"]


def verdict(changes, who):
    return BAD if any(each[who] == BAD for each in changes) else OK


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.kind)
def test_each_kind_of_change_is_named_with_whom_it_breaks(example):
    changes = compared(version(example.before), version(example.before, example.edit))
    named = [each for each in changes if each["kind"] == example.kind]
    assert named, [each["kind"] for each in changes]
    assert (verdict(named, "forks"), verdict(named, "callers")) == (example.forks, example.callers)
    assert verdict(changes, "callers") == example.callers
    if example.place:
        assert example.place in [each["place"] for each in named]


def test_every_kind_has_an_example_and_a_row_in_the_guide():
    kinds = {each.kind for each in EXAMPLES}
    table = re.search(r"^\| change \|.*\n(?:\|.*\n)+", GUIDE.read_text(), re.MULTILINE)
    assert table is not None
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+?) \| (.+?) \|$", table[0], re.MULTILINE)
    cells = {kind: (forks, callers) for kind, forks, callers in rows}
    assert cells.keys() == kinds
    for kind in kinds:
        for index, who in enumerate(("forks", "callers")):
            found = {getattr(each, who) for each in EXAMPLES if each.kind == kind}
            cell = cells[kind][index]
            assert found == {
                "compatible": {OK}, "breaking": {BAD}
            }.get(cell, {OK, BAD}), f"{kind}, {who}: {cell}"  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("versions"))
    for name in ("new", "a", "b"):
        (project.folder / name).mkdir()
    repository(project.folder)  # one version works in worktrees
    for folder in (".", "new"):  # one version runs a program
        project.uwf("config", "trust", folder)
    with project.client(durable=False) as uwf:
        yield project, uwf


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.kind)
def test_the_verdict_for_forks_is_that_of_a_real_fork(place, example):
    project, uwf = place
    files = []
    for folder, text in (
        ("old", version(example.before)),
        ("new", version(example.before, example.edit)),
    ):
        (project.folder / folder).mkdir(exist_ok=True)
        files.append(project.folder / folder / f"{json.loads(text)['name']}.yaml")
        files[-1].write_text(text, encoding="utf-8")
    old, new = ('"worker"' in file.read_text() for file in files)
    played = [*example.at, NOTED, NOTED, NOTED] if old or new else example.at
    project.script([*played, PLANNED], by_role=old or new)
    thread = uwf.start(str(files[0]), "a task", input={"to": "Rome"})["thread"]
    if example.at:
        uwf.exec(thread, count=len(example.at))
        if example.at == DONE_BRANCHES:
            uwf.exec(thread)  # records the joint result
    roles = [step["role"] for step in uwf.steps(thread)]
    assert ("planner/planned" in roles) == (example.at == DONE_BRANCHES)
    step = uwf.steps(thread)[-1]["step"]
    if example.at == DONE_BRANCHES:
        step = next(each["step"] for each in uwf.steps(thread) if "/" in each["role"])
    try:
        forked = uwf.fork(step, workflow=str(files[1]))["thread"]
    except UwfError:
        assert example.forks == BAD
        return
    if new and example.at != DONE_BRANCHES:  # the next step renders the prompts of these
        document = uwf.exec(forked).document["steps"][-1]
        failed = document["role"] == "planner/planned" and document["status"] == "suspended"
        assert failed == (example.forks == BAD), uwf.show(forked)
    else:
        assert example.forks == OK


def test_the_same_workflow_has_no_difference_and_neither_has_its_published_form(place):
    assert compared(version(), version()) == []
    project, _ = place
    file = project.workflow("trip", version())
    project.uwf("workflow", "add", str(file))
    shown = project.uwf("workflow", "diff", str(file))
    assert (shown.exit_code, shown.document["same"]) == (0, True)


def test_several_roles_that_end_with_one_status_make_one_result():
    """A caller sees a field as present only if all of them deliver it."""
    both = status("planner", "booked", "$END")
    changes = compared(version(), version(both))
    assert [each["callersReason"] for each in changes if each["kind"] == "status-added"] == [
        "callers use price of the $status booked, which can be missing now"
    ]
    assert verdict(compared(version(both), version()), "callers") == OK


def test_another_version_of_a_called_workflow_is_a_change_of_the_role_that_calls_it(tmp_path):
    from tests.core.calling import INNER, OUTER

    project = Project(tmp_path)
    outer = OUTER.replace("workflow: inner", "workflow: ./inner.yaml")
    outer = outer.replace('prompt: "Do this: {{{plan}}}"', 'prompt: "{{{plan}}}!"')
    for folder, text in (("old", INNER), ("new", INNER.replace("Check it.", "Check all."))):
        (project.folder / folder).mkdir()
        (project.folder / folder / "inner.yaml").write_text(text, encoding="utf-8")
        (project.folder / folder / "outer.yaml").write_text(outer, encoding="utf-8")
    project.uwf("workflow", "add", "old/outer.yaml")
    same = project.uwf("workflow", "diff", "old/outer.yaml").document
    assert same["same"], "the reference of a file does not depend on whether it is published"
    [change] = project.uwf("workflow", "diff", "new/outer.yaml").document["changes"]
    assert (change["kind"], change["place"]) == ("player-changed", "roles.work.workflow")
    assert (change["forks"], change["callers"]) == (OK, OK)
    limited = outer.replace('prompt: "{{{plan}}}!"', 'prompt: "{{{plan}}}!", limits: {maxSteps: 9}')
    (project.folder / "old" / "outer.yaml").write_text(limited, encoding="utf-8")
    [change] = project.uwf("workflow", "diff", "old/outer.yaml").document["changes"]
    place = "graph.planner.planned.limits.maxSteps"
    assert (change["kind"], change["place"], change["b"]) == ("limit-changed", place, 9)


def test_a_file_with_branches_is_compared_with_its_published_form(tmp_path):
    """Its branches call a workflow that is not published, and one that uwf generates."""
    from tests.core.workflow.fan_outs import FAN

    project, begin, end = Project(tmp_path), FAN.index("    human: true"), FAN.index("graph:")
    text = f"{FAN[:begin]}    workflow: ./inner.yaml\n{FAN[end:]}".replace("{{style.remark}}", "")
    written = FAN.index("    written:\n      parallel")
    inner = f"{FAN[:written]}    written: {{role: $END, prompt: It is written.}}\n"
    inner = inner.replace(f"  critic:\n{FAN[begin:end]}", "")
    project.workflow("inner", inner.replace("name: fan", "name: inner"))
    file = project.workflow("fan", text)
    added = project.uwf("workflow", "add", str(file))
    assert added.exit_code == 0, added.stderr
    shown = project.uwf("workflow", "diff", str(file)).document
    assert (shown["same"], shown["a"]["workflow"]) == (True, added.document["workflow"])
    file.write_text(file.read_text().replace("maxParallel: 2", "maxParallel: 3"), encoding="utf-8")
    [change] = project.uwf("workflow", "diff", str(file)).document["changes"]
    assert (change["kind"], change["a"], change["b"]) == ("branches-changed", 2, 3)
