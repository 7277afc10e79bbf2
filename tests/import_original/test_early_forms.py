"""Threads that earlier versions of the original wrote: other fields, failed attempts, turns in the
detail of a step.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.import_original.homes import write_home

from uwf_core.cas import node_file
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, PRIMITIVES, ref_of
from uwf_core.cas.schemas import META_SCHEMA
from uwf_core.client import Client
from uwf_core.testing.project import Project

THREAD = "06H18GRN5FDVSQY86ESF7XJYMR"
STATUS = {"properties": {"$status": {"const": "done"}}, "required": ["$status"]}


class Store:
    """Nodes as the original writes them; each type is one that accepts any object."""

    def __init__(self) -> None:
        self.nodes: dict[str, bytes] = {}
        self.put(META, META_SCHEMA)
        self.put(META, {"type": "string"})

    def put(self, type_: str, payload: Any) -> str:
        """Store a node; return its reference."""
        data = encode(payload)
        ref = str(ref_of(type_, data))
        self.nodes[ref] = node_file.to_bytes(node_file.NodeFile(type_, data, 1_795_636_270_000))
        return ref

    def object(self, title: str, **fields: Any) -> str:
        """Store an object of a type with this title."""
        return self.put(self.put(META, {"title": title, "type": "object"}), fields)

    def home(self, folder: Path, head: str, tags: str = "{}") -> Path:
        """A home with one thread."""
        row = [f"@uwf/thread/{THREAD}", "x", head, 1, 1, tags, "[]"]
        return write_home(folder, self.nodes, [row])


@pytest.fixture
def store() -> Store:
    """An empty store."""
    return Store()


@pytest.fixture
def uwf(tmp_path: Path) -> Iterator[Client]:
    """Somebody with an empty store."""
    with Project(tmp_path).client() as client:
        yield client


def workflow(store: Store, **changed: Any) -> str:
    """An early workflow: one edge at $START, and the schema of a role under an earlier name."""
    schema = store.put(META, STATUS)
    fields: dict[str, Any] = {
        "name": "early",
        "description": "An early workflow",
        "roles": {"writer": {"identity": "You write.", "execute": "Write.", "meta": schema}},
        "graph": {
            "$START": {"_": {"role": "writer", "prompt": "Write."}},
            "writer": {"done": {"role": "$END", "prompt": "Written."}},
        },
    }
    return store.object("Workflow", **{**fields, **changed})


def imported(uwf: Client, home: Path) -> Mapping[str, Any]:
    """The row of the only thread, after the import."""
    (row,) = uwf.import_source(home)["threads"]
    return row


def test_an_early_workflow_and_a_step_without_later_fields_are_read(
    uwf: Client, store: Store, tmp_path: Path
) -> None:
    start = store.object("StartNode", workflow=workflow(store), prompt="The task.")
    output = store.put(store.put(META, STATUS), {"$status": "done"})
    raw = store.object("hermes-raw-output", text="---\n$status: done\n---\nA poem.")
    step = store.object(
        "StepNode", start=start, prev=None, role="writer", output=output, detail=raw, agent="hermes"
    )
    row = imported(uwf, store.home(tmp_path / "original", step))
    assert (row["result"], row["status"], row["steps"]) == ("imported", "completed", 1)
    found = uwf.step(uwf.steps(row["thread"])[1]["step"])
    assert (found["role"], found["agent"], found["output"]) == (
        *("writer", "hermes"),
        {"$status": "done"},
    )
    assert "A poem." in uwf.read(row["thread"])
    assert uwf.verify()["problems"] == []


def test_failed_attempts_and_tool_calls_come_with_the_step(
    uwf: Client, store: Store, tmp_path: Path
) -> None:
    start = store.object("StartNode", workflow=workflow(store), prompt="The task.", cwd="/srv")
    turn = store.object(
        "hermes-turn", index=0, role="assistant", content="---\n$status: done\n---\nNow.",
        reasoning="Let me see.", toolCalls=[{"name": "read_file", "args": '{"path": "a"}'}],
    )  # fmt: skip
    detail = store.object("hermes-detail", sessionId="s1", turns=[turn])
    common = {"start": start, "prev": None, "role": "writer", "detail": detail, "agent": "hermes"}
    times = {"startedAtMs": 1_795_636_271_000, "completedAtMs": 1_795_636_272_000, "cwd": "/srv"}
    error = store.object("ErrorOutput", **{"$status": "error", "error": "no frontmatter"})
    failed = store.object("StepNode", **common, **times, output=error)
    output = store.put(store.put(META, STATUS), {"$status": "done"})
    prompt = store.put(PRIMITIVES["string"], "All of the prompt.")
    step = store.object(
        "StepNode", **common, **times, output=output, previousAttempts=[failed],
        assembledPrompt=prompt, edgePrompt="Write.",
        usage={"turns": 2, "inputTokens": 10, "outputTokens": 5, "duration": 1},
    )  # fmt: skip
    row = imported(uwf, store.home(tmp_path / "original", step))
    shown = uwf.steps(row["thread"])[1]
    assert (shown["attempts"], shown["durationMs"]) == (2, 1000)
    found = uwf.step(shown["step"])
    failed_step = uwf.step(found["previousAttempts"][0])
    assert failed_step["failure"]["message"] == "no frontmatter"
    assert uwf.prompt(shown["step"]) == "All of the prompt."
    said = uwf.turns(row["thread"])[-1]
    assert [call["name"] for call in said["toolCalls"]] == ["read_file"]
    assert uwf.verify()["problems"] == []


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"graph": {"writer": []}}, "`graph.writer` of the workflow is not a mapping"),
        ({"graph": {}}, "its workflow has no edge $START.new"),
        ({"roles": []}, "`roles` of the workflow is not a mapping"),
        (
            {"graph": {"$START": {"new": {"role": "nobody", "prompt": "x"}}}},
            "the edge $START.new leads to no role of its workflow",
        ),
    ],
)
def test_a_workflow_that_has_no_form_here_is_skipped_with_the_reason(
    uwf: Client, store: Store, tmp_path: Path, changed: Mapping[str, Any], reason: str
) -> None:
    start = store.object("StartNode", workflow=workflow(store, **changed), prompt="The task.")
    row = imported(uwf, store.home(tmp_path / "original", start))
    assert (row["result"], row["reason"]) == ("skipped", reason)
    assert uwf._engine.store.variables("@") == []


def test_a_suspension_that_no_output_tells_is_kept(
    uwf: Client, store: Store, tmp_path: Path
) -> None:
    start = store.object("StartNode", workflow=workflow(store), prompt="The task.")
    tags = '{"status": "suspended", "suspendedRole": "writer", "suspendMessage": "It broke."}'
    thread = imported(uwf, store.home(tmp_path / "original", start, tags))["thread"]
    shown = uwf.show(thread)
    assert (shown["status"], shown["suspendReason"]) == ("suspended", "failure")
    assert (shown["suspendedRole"], shown["suspendMessage"]) == ("writer", "It broke.")
    assert uwf.verify()["problems"] == []
