"""Publishing: the same file is the same reference; names move, what was published does not."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, ref_of
from uwf_core.client import Client
from uwf_core.errors import UnknownIdError
from uwf_core.testing.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A trusted one: its files come before the names of the registry."""
    made = Project(tmp_path)
    made.trust()
    return made


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    with project.client() as client:
        yield client


@pytest.fixture
def text(uwf: Client) -> str:
    """The workflow `first`."""
    return uwf.new_workflow("first")["first"]


@pytest.fixture
def first(project: Project, text: str) -> Path:
    """Its file."""
    return project.workflow("first", text)


def payload(uwf: Client, ref: str) -> Any:
    return uwf.node(ref)["payload"]


def test_the_type_of_workflow_nodes_is_a_schema_under_its_own_reference(
    uwf: Client, first: Path
) -> None:
    type_ = uwf.node(uwf.add_workflow(first))["type"]
    Draft202012Validator.check_schema(payload(uwf, type_))
    assert ref_of(META, encode(payload(uwf, type_))) == type_


def test_the_same_file_twice_is_the_same_reference(
    uwf: Client, project: Project, first: Path
) -> None:
    ref = uwf.add_workflow(first)
    with project.client(store="memory:") as elsewhere:
        assert uwf.add_workflow(first) == ref == elsewhere.add_workflow(first)


def test_comments_layout_and_anchors_do_not_change_the_reference(
    uwf: Client, project: Project, text: str
) -> None:
    ref = uwf.add_workflow(project.workflow("first", text))
    other = "# a comment\nx-notes: [unused]\n" + text
    assert uwf.add_workflow(project.workflow("first", other)) == ref
    changed = text.replace("Approved.", "Agreed.")
    assert uwf.add_workflow(project.workflow("first", changed)) != ref


def test_what_was_published_is_read_back_with_every_default(uwf: Client, first: Path) -> None:
    written = uwf.workflow(str(first))
    ref = uwf.add_workflow(first)
    found = uwf.workflow(ref)
    assert {**found, "workflow": None} == {**written, "workflow": None}
    assert (found["name"], found["limits"]["maxSteps"]) == ("first", 20)
    assert set(found["roles"]) == {"writer", "reviewer"}
    writer = found["roles"]["writer"]
    assert (
        payload(uwf, payload(uwf, ref)["roles"]["writer"]["frontmatter"]) == (writer["frontmatter"])
    )
    assert writer["capabilities"] == ["writing"]
    assert (writer["timeout"], writer["tools"]) == (None, None)
    edge = found["graph"]["writer"]["done"]
    assert (edge["role"], edge.get("location")) == ("reviewer", None)


def test_a_garbage_collection_takes_the_schemas_of_the_roles_along(
    uwf: Client, first: Path
) -> None:
    roles = payload(uwf, uwf.add_workflow(first))["roles"]
    uwf.collect_garbage(-1)
    assert all(payload(uwf, role["frontmatter"]) for role in roles.values())


def test_adding_again_moves_the_name_and_leaves_the_old_version_readable(
    uwf: Client, project: Project, text: str
) -> None:
    old = uwf.add_workflow(project.workflow("first", text))
    file = project.workflow("first", text.replace("Approved.", "Agreed."))
    new = uwf.add_workflow(file)
    file.unlink()
    assert uwf.find_workflow("first") == new
    assert [(row["name"], row["workflow"]) for row in uwf.workflows()] == [("first", new)]
    assert uwf.workflow(old)["graph"]["reviewer"]["approved"]["prompt"] == "Approved."


def test_registering_the_same_again_changes_nothing(uwf: Client, first: Path) -> None:
    ref, rows, counts = uwf.add_workflow(first), uwf.workflows(), uwf.verify()
    assert (uwf.add_workflow(first), uwf.workflows(), uwf.verify()) == (ref, rows, counts)


def test_a_node_that_is_no_workflow_is_refused(uwf: Client) -> None:
    ref = uwf.nodes.put(uwf.nodes.put_type({"type": "string"}), "hello")
    for act in (uwf.workflow, uwf.find_workflow, uwf.graph):
        with pytest.raises(UnknownIdError, match="is not a workflow"):
            act(ref)
    assert uwf.workflows() == []


WARNED = sorted((Path(__file__).parent / "broken").glob("*-warning.yaml"))


@pytest.mark.parametrize("file", WARNED, ids=lambda file: file.stem)
def test_what_the_check_only_warns_of_can_be_published(uwf: Client, file: Path) -> None:
    assert uwf.add_workflow(file)


FULL = """
version: 1
name: full
description: |
  Everything that can be said.
x-done: &done {properties: {$status: {const: done}}, required: [$status]}
limits: {maxSteps: 3, maxTokens: 1000, maxCostUsd: 0.5, maxMinutes: 10}
roles:
  one:
    description: a
    goal: b
    capabilities: [c]
    procedure: d
    output: e
    frontmatter: {oneOf: [*done], $defs: {unused: {type: string}}}
    timeout: 60
    tools: [f]
  two: {goal: g, tools: , timeout: 1.5, procedure: , frontmatter: !include schema.json}
graph:
  $START: {new: {role: one, prompt: h}, resume: {role: two, prompt: i, location: j}}
  one: {done: {role: two, prompt: k, location: }}
  two: {done: {role: $END, prompt: l}}
"""


@pytest.fixture
def full(project: Project) -> Path:
    """The file of the workflow `full`, which includes another one."""
    file = project.workflow("full", FULL)
    (file.parent / "schema.json").write_text(
        '{"properties": {"$status": {"const": "done"}}, "required": ["$status"]}'
    )
    return file


def row(uwf: Client, name: str) -> Mapping[str, Any]:
    [found] = [each for each in uwf.workflows() if each["name"] == name]
    return found


def test_the_list_knows_which_files_are_published(uwf: Client, first: Path, full: Path) -> None:
    for file in (first, full):
        assert row(uwf, file.stem)["workflow"] is None
        assert uwf.add_workflow(file) == row(uwf, file.stem)["workflow"]


def test_a_file_is_no_longer_published_once_it_or_what_it_includes_has_changed(
    uwf: Client, full: Path
) -> None:
    uwf.add_workflow(full)
    included = full.with_name("schema.json")
    included.write_text(included.read_text().replace("{", '{"title": "x", ', 1))
    assert row(uwf, "full")["workflow"] is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: full", "name: other"),
        ("goal: b", "goal: b\n    gaol: b"),
        ("maxSteps", "maxStep"),
        ("maxSteps: 3", "maxSteps: 3.0"),
        ("version: 1", "version: 1.0"),
        ("prompt: h", "prompt: h, promt: h"),
        ("version: 1\n", "version: 1\nextra: 1\n"),
        ("goal: b", "goal: b\n    goal: c"),
        ("timeout: 60", "timeout: .inf"),
        ("tools: [f]", "tools: !f [f]"),
        ("version: 1\n", "version: 1\nversion: 1\n"),
    ],
)
def test_a_fault_that_the_node_would_not_show_never_passes_for_what_was_published(
    uwf: Client, full: Path, old: str, new: str
) -> None:
    uwf.add_workflow(full)
    full.write_text(FULL.replace(old, new, 1))
    assert not uwf.check_workflow(full)["valid"]
    assert row(uwf, "full")["workflow"] is None


def test_a_listing_can_describe_a_file_whatever_is_wrong_with_it(uwf: Client, full: Path) -> None:
    def described() -> str:
        return str(row(uwf, "full")["description"])

    assert described() == "Everything that can be said.\n"
    full.write_text("description: still here\nname: [\n")
    assert described() == ""
    full.write_text("description: still here\nname: []\nname: 3\n")
    assert described() == "still here"
    full.write_bytes(b"\xff")
    assert described() == ""


def test_a_list_of_files_costs_no_check(project: Project, full: Path) -> None:
    program = (
        "import sys; from uwf_core.client import Client\n"
        f"assert Client.open(cwd={str(full.parent)!r}).workflows()\n"
        "print(sorted({'pydantic', 'jsonschema', 'jsonschema_rs'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, env=project.env, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
