"""What a user begins with: the starter, its schema for editors, the graph as a picture."""

import json
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from tests.core.workflow.checking import check_text, desk

from uwf_core.errors import UsageError
from uwf_core.testing.project import Project


@cache
def schema_path() -> Path:
    """The schema for editors, as `workflow new` names it."""
    with tempfile.TemporaryDirectory() as folder:
        return Path(Project(Path(folder)).uwf("workflow", "new", "first").document["schema"])


def starter(name: str) -> str:
    return desk().new_workflow(name)[name]


def json_schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(schema_path().read_text("utf-8"))
    return found


@pytest.mark.parametrize("name", ["first", "a", "12", "1e3", "true", "null", "a.b-c_d", "0x1f"])
def test_a_starter_passes_the_check_without_a_warning(name: str) -> None:
    assert check_text(starter(name), f"{name}.yaml").problems == []


@pytest.mark.parametrize("name", ["", "a b", "../x", "$END", "-a", "ä", "a\n"])
def test_a_starter_needs_a_name_that_is_one(name: str) -> None:
    with pytest.raises(UsageError, match="is not a valid workflow name"):
        starter(name)


def test_a_starter_holds_no_path_of_this_machine() -> None:
    """It goes into a repository; `workflow new` prints the path of the schema for the editor."""
    assert starter("first").startswith("version: 1\n")
    assert str(schema_path()) not in starter("first")


def test_the_schema_is_valid_and_takes_what_the_check_takes() -> None:
    Draft202012Validator.check_schema(json_schema())
    validator = Draft202012Validator(json_schema())
    value = yaml.safe_load(starter("first"))
    assert validator.is_valid({**value, "x-anchors": {"a": 1}})
    assert not validator.is_valid({**value, "autor": "me"})
    assert not validator.is_valid({**value, "version": 2})
    assert not validator.is_valid({**value, "name": "a b"})
    assert not validator.is_valid({**value, "graph": {"writer": {}}})
    assert not validator.is_valid({**value, "limits": {"maxSteps": 0}})


KINDS = {
    "agent": {"goal": "g", "frontmatter": {"properties": {"$status": {"const": "ok"}}}},
    "human": {"human": True, "goal": "g", "frontmatter": {}},
    "program": {"program": {"argv": ["true"], "statuses": {"0": "ok"}}, "frontmatter": {}},
    "workflow": {"workflow": "$SELF"},
}
VALUES = {
    "description": "d",
    "limits": {"maxSteps": 1},
    "goal": "g",
    "frontmatter": {"properties": {"$status": {"const": "ok"}}},
    "capabilities": ["c"],
    "procedure": "p",
    "output": "o",
    "timeout": 1,
    "tools": ["t"],
    "skills": ["s"],
    "memory": ["m"],
    "agent": "a",
    "model": "m",
    "reserve": {"tokens": 1},
    "human": False,
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_editor_rejects_the_keys_that_the_check_rejects(kind: str) -> None:
    """Each key added to a role of a kind, and each of its keys left out."""
    validator = Draft202012Validator(json_schema())
    role = KINDS[kind]
    variants = [{**role, key: value} for key, value in VALUES.items() if key not in role]
    variants += [{each: role[each] for each in role if each != key} for key in role]
    for variant in variants:
        value = {**yaml.safe_load(starter("first")), "roles": {"one": variant}}
        checked = check_text(json.dumps(value), "first.yaml")
        codes = {each.code for each in checked.problems if "roles.one" in each.message}
        is_wrong = bool(codes & {"role-kind", "missing-key"})
        assert validator.is_valid(value) != is_wrong, (variant, codes)


ROOT = Path(__file__).parents[3]
EXAMPLES = [
    *(ROOT / "uwf-core" / "src" / "uwf_core" / "examples").glob("*.yaml"),
    ROOT / "examples" / "edit-docx" / ".workflow" / "edit-docx.yaml",
]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_editor_accepts_the_examples(file: Path) -> None:
    value = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert list(Draft202012Validator(json_schema()).iter_errors(value)) == []


GRAPH = """\
flowchart TD
    n0([START])
    n1["writer"]
    n2["reviewer"]
    n3([END])
    n4[/SUSPEND/]
    n0 -->|"new"| n1
    n0 -->|"resume"| n1
    n1 -->|"done"| n2
    n1 -->|"unclear"| n4
    n2 -->|"approved"| n3
    n2 -->|"rejected"| n1
"""


def test_the_graph_shows_every_role_and_every_status() -> None:
    assert desk().graph(str(first()))["graph"] == GRAPH


def test_the_graph_of_a_published_workflow_has_the_same_arrows() -> None:
    published = desk().graph(desk().add_workflow(first()))["graph"]
    assert _arrows(published) == _arrows(GRAPH)


def first() -> Path:
    """The file of the starter `first`."""
    file = desk().folder / "first.yaml"
    file.write_text(starter("first"))
    return file


def _arrows(text: str) -> set[tuple[str, str, str]]:
    """Source, status and target of each arrow, by name: the order of roles is not published."""
    names = dict(re.findall(r'^ +(n\d+)[\[(/"]+(\w+)', text, re.MULTILINE))
    arrows = re.findall(r'(n\d+) -->\|"(.+)"\| (n\d+)', text)
    return {(names[source], status, names[target]) for source, status, target in arrows}


def test_nothing_in_a_name_is_read_as_markup() -> None:
    """A bundle can bring a workflow whose names the check would reject."""
    uwf = desk()
    node = uwf.node(uwf.add_workflow(first()))
    text = json.dumps(node["payload"]).replace('"reviewer"', json.dumps('end"]; click'))
    ref = uwf._engine.store.put(node["type"], json.loads(text))
    assert '"end#34;#93;#59; click"' in uwf.graph(ref)["graph"]


FOR_EACH = {
    "forEach": "tasks",
    "role": "worker",
    "prompt": "Work.",
    "then": {"$mixed": {"role": "$END", "prompt": "Done."}},
}
PARALLEL = {
    "parallel": {"one": {"role": "worker", "prompt": "Work.", "location": None}},
    "then": FOR_EACH["then"],
}
NESTED = {"$mixed": FOR_EACH}


@pytest.mark.parametrize(
    ("edge", "is_right"),
    [
        (FOR_EACH, True),
        ({**FOR_EACH, "maxParallel": 2, "shared": True, "limits": {"maxSteps": 1}}, True),
        (PARALLEL, True),
        ({**PARALLEL, "maxParallel": 0}, False),
        ({**PARALLEL, "role": "worker"}, False),
        ({**PARALLEL, "forEach": "tasks"}, False),
        ({**PARALLEL, "parallel": {}}, False),
        ({**PARALLEL, "parallel": {"results": {"role": "worker", "prompt": "Work."}}}, False),
        ({**PARALLEL, "parallel": {"a b": {"role": "worker", "prompt": "Work."}}}, False),
        ({**PARALLEL, "parallel": {"one": {"role": "worker"}}}, False),
        ({**PARALLEL, "then": {}}, False),
        ({**PARALLEL, "then": NESTED}, False),
        ({**FOR_EACH, "frontmatter": {}}, False),
        ({key: FOR_EACH[key] for key in FOR_EACH if key != "then"}, False),
        ({key: FOR_EACH[key] for key in FOR_EACH if key != "prompt"}, False),
        ({"role": "worker", "prompt": "Work.", "shared": True}, False),
    ],
)
def test_an_editor_knows_edges_to_branches_as_the_check_does(
    edge: dict[str, object], is_right: bool
) -> None:
    value = yaml.safe_load(starter("first"))
    value["roles"]["worker"] = {
        "goal": "Work.",
        "tools": [],
        "frontmatter": {"properties": {"$status": {"const": "ok"}}, "required": ["$status"]},
    }
    fields = value["roles"]["writer"]["frontmatter"]["oneOf"][0]
    fields["properties"]["tasks"] = {"type": "array", "minItems": 1, "items": {"type": "string"}}
    fields["required"].append("tasks")
    value["graph"]["writer"]["done"] = edge
    value["graph"]["writer"]["unclear"]["role"] = "reviewer"
    validator = Draft202012Validator(json_schema())
    assert validator.is_valid(value) == is_right
    assert check_text(json.dumps(value), "first.yaml").valid == is_right


def test_an_editor_rejects_branches_before_the_first_role() -> None:
    value = yaml.safe_load(starter("first"))
    value["graph"]["$START"]["new"] = PARALLEL
    assert not Draft202012Validator(json_schema()).is_valid(value)
