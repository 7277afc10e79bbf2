"""Publishing: the same file is the same reference; names move, what was published does not."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, ref_of
from uwf_core.cas.schemas import schema_problems
from uwf_core.cas.store import Store
from uwf_core.errors import UnknownIdError
from uwf_core.stores.memory import open_memory
from uwf_core.workflow.check import check_file, check_text
from uwf_core.workflow.content import description_of, reference_of
from uwf_core.workflow.definition import WORKFLOW_TYPE, Limits, is_workflow, read_definition
from uwf_core.workflow.publish import WORKFLOW_SCHEMA, publish
from uwf_core.workflow.registry import StoreRegistry, register, registered, registry
from uwf_core.workflow.starter import starter


@pytest.fixture
def store() -> Store:
    return Store(open_memory("memory:", ""), lambda: 1_700_000_000_000)


def _checked(text: str | None = None) -> dict[str, Any]:
    return check_text(text or starter("first"), "first.yaml").require()


def test_the_type_of_workflow_nodes_is_what_its_schema_says() -> None:
    assert schema_problems(WORKFLOW_SCHEMA) == []
    assert ref_of(META, encode(WORKFLOW_SCHEMA)) == WORKFLOW_TYPE


def test_the_same_file_twice_is_the_same_reference(store: Store) -> None:
    first = publish(store, _checked())
    again = publish(store, _checked())
    elsewhere = publish(Store(open_memory("memory:", ""), lambda: 5), _checked())
    assert first == again == elsewhere


def test_comments_layout_and_anchors_do_not_change_the_reference(store: Store) -> None:
    text = starter("first")
    other = "# a comment\nx-notes: [unused]\n" + text.replace("Approved.", "Approved.")
    assert publish(store, _checked(text)) == publish(store, _checked(other))
    changed = text.replace("Approved.", "Agreed.")
    assert publish(store, _checked(text)) != publish(store, _checked(changed))


def test_what_was_published_is_read_back_with_every_default(store: Store) -> None:
    workflow = _checked()
    definition = read_definition(store, publish(store, workflow))
    assert definition.name == "first"
    assert definition.limits == Limits(max_steps=20)
    assert set(definition.roles) == {"writer", "reviewer"}
    writer = definition.roles["writer"]
    assert dict(writer.schema) == workflow["roles"]["writer"]["frontmatter"]
    assert store.schema(writer.frontmatter) == writer.schema
    assert writer.capabilities == ("writing",)
    assert (writer.timeout, writer.tools) == (None, None)
    edge = definition.graph["writer"]["done"]
    assert (edge.role, edge.location) == ("reviewer", None)


def test_the_workflow_node_refers_to_the_schemas_of_its_roles(store: Store) -> None:
    """So that a bundle or a garbage collection takes them along."""
    ref = publish(store, _checked())
    definition = read_definition(store, ref)
    assert set(store.refs(ref)) >= {role.frontmatter for role in definition.roles.values()}


def test_adding_again_moves_the_name_and_leaves_the_old_version_readable(store: Store) -> None:
    old = publish(store, _checked())
    register(store, "first", old)
    new = publish(store, _checked(starter("first").replace("Approved.", "Agreed.")))
    register(store, "first", new)
    assert registered(store, "first") == new
    assert registry(store) == {"first": new}
    assert read_definition(store, old).graph["reviewer"]["approved"].prompt == "Approved."


def test_registering_the_same_again_changes_nothing(store: Store) -> None:
    ref = publish(store, _checked())
    assert register(store, "first", ref) == register(store, "first", ref)


def test_a_node_that_is_no_workflow_is_refused(store: Store) -> None:
    text = store.put_text("hello")
    assert not is_workflow(store, text)
    with pytest.raises(UnknownIdError, match="is not a workflow"):
        read_definition(store, text)
    names = StoreRegistry(store)
    assert (names.holds(text), names.is_workflow(text), names.names()) == (True, False, {})


WARNED = sorted((Path(__file__).parent / "broken").glob("*-warning.yaml"))


@pytest.mark.parametrize("file", WARNED, ids=lambda file: file.stem)
def test_what_the_check_only_warns_of_can_be_published(store: Store, file: Path) -> None:
    publish(store, check_file(str(file)).require())


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
def full(tmp_path: Path) -> Path:
    (tmp_path / "full.yaml").write_text(FULL)
    (tmp_path / "schema.json").write_text(
        '{"properties": {"$status": {"const": "done"}}, "required": ["$status"]}'
    )
    return tmp_path / "full.yaml"


def test_the_reference_of_a_file_is_known_without_a_check(
    store: Store, tmp_path: Path, full: Path
) -> None:
    (tmp_path / "first.yaml").write_text(starter("first"))
    for file in (tmp_path / "first.yaml", full):
        assert reference_of(str(file)) == publish(store, check_file(str(file)).require())


def test_a_change_of_the_file_or_of_what_it_includes_is_another_reference(full: Path) -> None:
    before = reference_of(str(full))
    included = full.with_name("schema.json")
    included.write_text(included.read_text().replace("{", '{"title": "x", ', 1))
    assert reference_of(str(full)) not in (None, before)


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
    full: Path, old: str, new: str
) -> None:
    full.write_text(FULL.replace(old, new, 1))
    assert not check_file(str(full)).valid
    assert reference_of(str(full)) is None


def test_a_listing_can_describe_a_file_whatever_is_wrong_with_it(full: Path) -> None:
    assert description_of(str(full)) == "Everything that can be said.\n"
    full.write_text("description: still here\nname: [\n")
    assert description_of(str(full)) == ""
    full.write_text("description: still here\nname: []\nname: 3\n")
    assert description_of(str(full)) == "still here"
    full.write_bytes(b"\xff")
    assert description_of(str(full)) == ""
    assert description_of(str(full.parent)) == ""


def test_the_reference_of_a_file_costs_no_check() -> None:
    program = (
        "import sys; import uwf_core.workflow.content\n"
        "print(sorted({'pydantic', 'jsonschema', 'jsonschema_rs'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
