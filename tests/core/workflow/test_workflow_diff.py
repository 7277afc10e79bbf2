"""Every kind of change between two versions of a workflow, and whom it breaks.

The verdict for forks is that of a real fork: a thread of the old version that stands after a step
of `at` is forked onto the new one.
"""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from uwf_core.errors import UwfError
from uwf_core.shape.shapes import build
from uwf_core.testing.project import Project
from uwf_core.workflow.check import check_text
from uwf_core.workflow.definition import Workflow
from uwf_core.workflow.diff.change import KINDS
from uwf_core.workflow.diff.compare import compare_workflows

GUIDE = Path(__file__).parents[3] / "docs/guides/workflows.md"
TEXT = {"type": "string"}


def variant(status: str, required: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    return {
        "properties": {"$status": {"const": status}, **fields},
        "required": ["$status", *required],
    }


def one_of(*variants: dict[str, Any]) -> dict[str, Any]:
    return {"oneOf": list(variants)}


OLD: dict[str, Any] = {
    "version": 1,
    "name": "trip",
    "description": "Plan a trip.",
    "roles": {
        "planner": {
            "goal": "Plan it.",
            "frontmatter": one_of(
                variant("planned", ("plan",), plan=TEXT, notes=TEXT), variant("unclear")
            ),
        },
        "booker": {
            "goal": "Book it.",
            "frontmatter": one_of(
                variant("booked", ("price",), price={"type": "number"}, link=TEXT),
                variant("full", ("why",), why=TEXT),
            ),
        },
    },
    "graph": {
        "$START": {
            "new": {"role": "planner", "prompt": "Plan."},
            "resume": {"role": "planner", "prompt": "Plan again."},
        },
        "planner": {
            "planned": {"role": "booker", "prompt": "Book this: {{plan}}"},
            "unclear": {"role": "$SUSPEND", "prompt": "What do you want?"},
        },
        "booker": {
            "booked": {"role": "$END", "prompt": "It is booked."},
            "full": {"role": "planner", "prompt": "It is full: {{why}}"},
        },
    },
    "limits": {"maxSteps": 20},
    "input": {"type": "object", "properties": {"to": TEXT}, "required": ["to"]},
}
PLANNED = {"role": "planner", "output": {"$status": "planned", "plan": "by train"}}
UNCLEAR = {"role": "planner", "output": {"$status": "unclear"}}
FULL = {"role": "booker", "output": {"$status": "full", "why": "late"}}
BOOKED = {"role": "booker", "output": {"$status": "booked", "price": 7}}


class Example(NamedTuple):
    """A change of `OLD` (in place), the kinds it is reported as, and whom it breaks.

    `at` are the outputs of a thread of the old version; it stands after the last one.
    """

    kind: str
    forks: str
    callers: str
    edit: Callable[[dict[str, Any]], Any]
    at: list[dict[str, Any]] = [PLANNED]  # noqa: RUF012
    place: str = ""


def variants_of(role: str) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    return lambda new: new["roles"][role]["frontmatter"]["oneOf"]


def field(role: str, index: int, name: str, schema: Any = None) -> Callable[[dict[str, Any]], Any]:
    """Set the schema of a field; None removes it, and what requires it."""

    def edit(new: dict[str, Any]) -> None:
        found = variants_of(role)(new)[index]
        if schema is None:
            del found["properties"][name]
            found["required"] = [each for each in found["required"] if each != name]
        else:
            found["properties"][name] = schema

    return edit


def require(role: str, index: int, name: str, *, is_on: bool) -> Callable[[dict[str, Any]], Any]:
    def edit(new: dict[str, Any]) -> None:
        required = variants_of(role)(new)[index]["required"]
        required.append(name) if is_on else required.remove(name)

    return edit


def edge(source: str, name: str, **changed: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda new: new["graph"][source][name].update(changed)


def role(name: str, **changed: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda new: new["roles"][name].update(changed)


def all_of(*edits: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda new: [each(new) for each in edits]


def status(role_name: str, name: str, target: str) -> Callable[[dict[str, Any]], Any]:
    """A status more."""

    def edit(new: dict[str, Any]) -> None:
        variants_of(role_name)(new).append(variant(name))
        new["graph"][role_name][name] = {"role": target, "prompt": "Continue."}

    return edit


def no_status(role_name: str, name: str) -> Callable[[dict[str, Any]], Any]:
    def edit(new: dict[str, Any]) -> None:
        schema = new["roles"][role_name]["frontmatter"]
        schema["oneOf"] = [
            each for each in schema["oneOf"] if each["properties"]["$status"]["const"] != name
        ]
        del new["graph"][role_name][name]

    return edit


def checker(ending: dict[str, Any]) -> Callable[[dict[str, Any]], Any]:
    """A role more, between the booker and the end."""

    def edit(new: dict[str, Any]) -> None:
        new["roles"]["checker"] = {"goal": "Check it.", "frontmatter": ending}
        name = ending["properties"]["$status"]["const"]
        new["graph"]["checker"] = {name: {"role": "$END", "prompt": "Checked."}}
        new["graph"]["booker"]["full"]["role"] = "checker"

    return edit


def without_booker(new: dict[str, Any]) -> None:
    del new["roles"]["booker"], new["graph"]["booker"]
    new["graph"]["planner"]["planned"]["role"] = "$SUSPEND"


def played_by_a_program(new: dict[str, Any]) -> None:
    booker = new["roles"]["booker"]
    statuses = {"0": "booked", "1": "full"}
    new["roles"]["booker"] = {
        "frontmatter": booker["frontmatter"],
        "program": {"argv": ["book", "{{plan}}"], "statuses": statuses},
    }


def renamed(new: dict[str, Any]) -> None:
    text = json.dumps(new).replace("booker", "agent")
    new.clear()
    new.update(json.loads(text))


def given(fields: dict[str, Any], *required: str) -> Callable[[dict[str, Any]], Any]:
    """Another input."""
    schema = {"type": "object", "properties": fields, "required": list(required)}
    return lambda new: new.update(input=schema)


OK, BAD = "compatible", "breaking"
LONGER = {"type": "string", "maxLength": 9}

EXAMPLES = [
    Example("name-changed", OK, OK, lambda new: new.update(name="travel"), place="name"),
    Example("description-changed", OK, OK, lambda new: new.update(description="A trip.")),
    Example("limit-changed", OK, OK, lambda new: new["limits"].update(maxSteps=10),
            place="limits.maxSteps"),
    Example("limit-changed", OK, OK, role("planner", limits={"maxVisits": 3}),
            place="roles.planner.limits.maxVisits"),
    Example("input-changed", OK, OK, given({"to": TEXT, "days": {"type": "integer"}}, "to"),
            place="input.days"),
    Example("input-changed", OK, OK, given({"to": {**TEXT, "description": "Where."}})),
    Example("input-changed", BAD, BAD, given({"from": TEXT}), place="input.to"),
    Example("input-changed", BAD, BAD, given({"to": TEXT, "from": TEXT}, "to", "from"),
            place="input.from"),
    Example("input-changed", BAD, BAD, given({"to": {"type": "integer"}}, "to"), place="input.to"),
    Example("input-changed", BAD, BAD, lambda new: new["input"].update(minProperties=2),
            place="input"),
    Example("role-added", OK, OK, checker(variant("booked", ("price",), price={"type": "number"},
                                                  link=TEXT))),
    Example("role-added", OK, BAD, checker(variant("checked")), place="roles.checker"),
    Example("role-added", OK, BAD, checker(variant("booked", link=TEXT))),
    Example("role-removed", BAD, OK, without_booker, [PLANNED, FULL], place="roles.booker"),
    Example("role-renamed", BAD, OK, renamed, [PLANNED, FULL], place="roles.agent"),
    Example("text-changed", OK, OK, role("planner", goal="Plan well."), place="roles.planner.goal"),
    Example("text-changed", OK, OK, role("planner", procedure="Look at maps.")),
    Example("text-changed", OK, OK, role("planner", output="The plan.")),
    Example("text-changed", OK, OK, role("planner", capabilities=["maps"])),
    Example("text-changed", OK, OK, role("planner", description="Plans.")),
    Example("tools-changed", OK, OK, role("planner", tools=["read"])),
    Example("timeout-changed", OK, OK, role("planner", timeout=60)),
    Example("reserve-changed", OK, OK, role("planner", reserve={"tokens": 900}),
            place="roles.planner.reserve.tokens"),
    Example("player-changed", OK, OK, role("planner", human=True)),
    Example("player-changed", OK, OK, role("planner", agent="hermes", model="large")),
    Example("player-changed", OK, OK, played_by_a_program),
    Example("status-added", OK, OK, status("planner", "ready", "booker")),
    Example("status-added", OK, BAD, status("planner", "given-up", "$END")),
    Example(
        "status-removed", BAD, OK, no_status("booker", "full"), [PLANNED, FULL],
        place="roles.booker.frontmatter.full",
    ),
    Example("field-added", OK, OK, field("booker", 0, "seat", TEXT), [PLANNED, FULL]),
    Example("field-removed", OK, OK, field("planner", 0, "notes")),
    Example(
        "field-removed", OK, BAD, field("booker", 0, "link"),
        place="roles.booker.frontmatter.booked.link",
    ),
    Example("field-retyped", OK, OK, field("planner", 0, "notes", {"type": "integer"})),
    Example("field-retyped", OK, OK, field("planner", 0, "notes", LONGER)),
    Example("field-retyped", OK, BAD, field("booker", 0, "price", TEXT)),
    Example("field-required", OK, OK, require("planner", 0, "notes", is_on=True)),
    Example("field-required", OK, OK, require("booker", 0, "link", is_on=True)),
    Example("field-optional", OK, OK, require("booker", 1, "why", is_on=False), [PLANNED, FULL]),
    Example("field-optional", OK, BAD, require("booker", 0, "price", is_on=False)),
    Example("field-described", OK, OK, field("booker", 0, "link", {**TEXT, "description": "x"})),
    Example("schema-changed", OK, OK, lambda new: variants_of("planner")(new)[0].update(
        additionalProperties=True)),
    Example("schema-changed", OK, BAD, lambda new: variants_of("booker")(new)[0].update(
        minProperties=2)),
    Example("edge-retargeted", OK, OK, edge("planner", "unclear", role="booker"), [UNCLEAR],
            place="graph.planner.unclear"),
    Example("edge-retargeted", OK, OK, edge("$START", "new", role="booker"), []),
    Example("edge-retargeted", OK, BAD, edge("planner", "unclear", role="$END"), [UNCLEAR]),
    Example("prompt-changed", OK, OK, edge("planner", "planned", prompt="Book now: {{notes}}"),
            place="graph.planner.planned.prompt"),
    Example("prompt-changed", OK, OK, edge("planner", "planned", prompt="{{plan}}")),
    Example("prompt-changed", OK, OK,
            edge("planner", "planned", prompt="{{#plan}}Book: {{plan}}{{/plan}}")),
    Example("prompt-changed", OK, OK, edge("planner", "unclear", prompt="{{_body}}"), [UNCLEAR]),
    Example("prompt-changed", BAD, OK, edge("planner", "planned", prompt="{{notes}}")),
    Example("prompt-changed", BAD, OK, all_of(
        field("planner", 0, "place", TEXT), require("planner", 0, "place", is_on=True),
        edge("planner", "planned", prompt="{{#place}}Go to {{place}}.{{/place}}"))),
    Example("location-changed", OK, OK, edge("planner", "planned", location="trips")),
]  # fmt: skip


def version(edit: Callable[[dict[str, Any]], Any] = lambda _new: None) -> str:
    new = copy.deepcopy(OLD)
    edit(new)
    return json.dumps(new)


def checked(text: str) -> Workflow:
    # The file of a workflow has its name.
    found: Workflow = build(
        Workflow, check_text(text, f"{json.loads(text)['name']}.yaml").require()
    )
    return found


def verdict(changes, who):
    return BAD if any(getattr(each, who) for each in changes) else OK


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.kind)
def test_each_kind_of_change_is_named_with_whom_it_breaks(example):
    changes = compare_workflows(checked(version()), checked(version(example.edit)))
    named = [each for each in changes if each.kind == example.kind]
    assert named, [each.kind for each in changes]
    assert (verdict(named, "forks"), verdict(named, "callers")) == (example.forks, example.callers)
    assert verdict(changes, "callers") == example.callers
    if example.place:
        assert example.place in [each.place for each in named]


def test_every_kind_has_an_example_and_a_row_in_the_guide():
    assert {each.kind for each in EXAMPLES} == set(KINDS)
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+?) \| (.+?) \|$", GUIDE.read_text(), re.MULTILINE)
    cells = {kind: (forks, callers) for kind, forks, callers in rows if kind in KINDS}
    assert cells.keys() == set(KINDS)
    for kind in KINDS:
        for index, who in enumerate(("forks", "callers")):
            found = {getattr(each, who) for each in EXAMPLES if each.kind == kind}
            cell = cells[kind][index]
            assert found == {
                "compatible": {OK}, "breaking": {BAD}
            }.get(cell, {OK, BAD}), f"{kind}, {who}: {cell}"  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("versions"))
    (project.folder / "new").mkdir()
    for folder in (".", "new"):  # one version runs a program
        project.uwf("config", "trust", folder)
    with project.client(durable=False) as uwf:
        yield project, uwf


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.kind)
def test_the_verdict_for_forks_is_that_of_a_real_fork(place, example):
    project, uwf = place
    files = []
    for folder, text in (("old", version()), ("new", version(example.edit))):
        (project.folder / folder).mkdir(exist_ok=True)
        files.append(project.folder / folder / f"{json.loads(text)['name']}.yaml")
        files[-1].write_text(text, encoding="utf-8")
    project.script([*example.at, PLANNED])
    thread = uwf.start(str(files[0]), "a task", input={"to": "Rome"})["thread"]
    if example.at:
        uwf.exec(thread, count=len(example.at))
    step = uwf.steps(thread)[-1]["step"]
    if example.forks == BAD:
        with pytest.raises(UwfError):
            uwf.fork(step, workflow=str(files[1]))
    else:
        uwf.fork(step, workflow=str(files[1]))


def test_the_same_workflow_has_no_difference_and_neither_has_its_published_form(place):
    assert compare_workflows(checked(version()), checked(version())) == []
    project, _ = place
    file = project.workflow("trip", version())
    project.uwf("workflow", "add", str(file))
    shown = project.uwf("workflow", "diff", str(file))
    assert (shown.exit_code, shown.document["same"]) == (0, True)


def test_several_roles_that_end_with_one_status_make_one_result():
    """A caller sees a field as present only if all of them deliver it."""
    both = all_of(status("planner", "booked", "$END"))
    changes = compare_workflows(checked(version()), checked(version(both)))
    assert [each.callers for each in changes if each.kind == "status-added"] == [
        "callers use price of the $status booked, which can be missing now"
    ]
    assert verdict(compare_workflows(checked(version(both)), checked(version())), "callers") == OK


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
