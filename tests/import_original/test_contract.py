"""A home of the first versions becomes threads of this uwf, with the distribution alone."""

from pathlib import Path

import pytest

from uwf_core.cas import node_file
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, ref_of
from uwf_core.cas.schemas import META_SCHEMA
from uwf_core.errors import UsageError
from uwf_core.testing.project import Project

THREAD = "06H18GRN5FDVSQY86ESF7XJYMR"
STATUS = {"properties": {"$status": {"const": "done"}}, "required": ["$status"]}


def put(home: Path, type_: str, payload: object) -> str:
    """Store a node of a home; return its reference."""
    data = encode(payload)
    ref = str(ref_of(type_, data))
    content = node_file.to_bytes(node_file.NodeFile(type_, data, 1_795_636_270_000))
    (home / "cas" / f"{ref}.bin").write_bytes(content)
    return ref


def early_home(home: Path) -> Path:
    """A home with one thread of one step."""
    (home / "cas").mkdir(parents=True)
    put(home, META, META_SCHEMA)
    anything, schema = put(home, META, {"type": "object"}), put(home, META, STATUS)
    role = {"identity": "You write.", "execute": "Write.", "meta": schema}
    graph = {
        "$START": {"_": {"role": "writer", "prompt": "Write."}},
        "writer": {"done": {"role": "$END", "prompt": "Written."}},
    }
    fields = {"name": "early", "roles": {"writer": role}, "graph": graph}
    workflow = put(home, anything, fields)
    start = put(home, anything, {"workflow": workflow, "prompt": "The task.", "cwd": "/srv"})
    output = put(home, schema, {"$status": "done"})
    step = {"start": start, "prev": None, "role": "writer", "output": output, "agent": "hermes"}
    (home / "threads.yaml").write_text(f"{THREAD}: {put(home, anything, step)}\n")
    return home


def test_a_thread_is_imported_read_only(tmp_path: Path) -> None:
    home = early_home(tmp_path / "home/.uwf")
    with Project(tmp_path).client() as uwf:
        (row,) = uwf.import_source(home)["threads"]
        assert (row["original"], row["result"], row["status"]) == (THREAD, "imported", "completed")
        shown = uwf.show(row["thread"])
        assert (shown["task"], shown["steps"], shown["original"]) == ("The task.", 1, THREAD)
        assert uwf.verify()["problems"] == []


def test_what_is_no_home_is_rejected(tmp_path: Path) -> None:
    with Project(tmp_path).client() as uwf, pytest.raises(UsageError, match="neither a bundle"):
        uwf.import_source(tmp_path)
