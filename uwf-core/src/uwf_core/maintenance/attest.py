"""A statement about a bundle for signing tools: an in-toto Statement v1 with uwf's own predicate.

uwf signs nothing: `cosign attest-blob`, `ssh-keygen -Y sign` and the like sign the file. Format:
https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
"""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.api.moments import date_text
from uwf_core.errors import WrongStateError
from uwf_core.ids import Ref, ThreadId
from uwf_core.maintenance.replaced_file import replaced_file
from uwf_core.thread.own_variables import tree_variables
from uwf_core.views.recorded import RecordedThread

if TYPE_CHECKING:
    from uwf_core.engine.bundle_documents import BundleDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.views.recorded_step import RecordedStep

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:uwf:predicate:thread:v1"
"""The type of the predicate, which the page "Open a thread in other tools" describes."""
SUFFIX = ".intoto.json"


def write_statement(engine: "Engine", bundle: "BundleDocument") -> str:
    """Write the statement about a bundle beside it; its path.

    Raises:
        StoreError: a node of the thread is missing or damaged. UsageError: it cannot be written.
        WrongStateError: the thread has changed since.
    """
    file = Path(bundle["file"])
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    heads, _variables = tree_variables(engine.store, ThreadId(bundle["thread"]))
    if heads[0].ref != bundle["head"]:
        raise WrongStateError(
            f"thread {bundle['thread']} took a step while its bundle was written",
            hint="export it again",
        )
    threads = [RecordedThread(engine, head) for head in heads]
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": file.name, "digest": {"sha256": digest}}],
        "predicateType": PREDICATE,
        "predicate": {
            "thread": bundle["thread"],
            "head": _node(engine, bundle["head"]),
            "root": bundle["root"],
            "nodes": bundle["nodes"],
            "threads": [_thread(engine, thread) for thread in threads],
        },
    }
    target = file.with_name(file.name + SUFFIX)
    with replaced_file(target, "the statement") as out:
        out.write(json.dumps(statement, ensure_ascii=False, indent=2).encode() + b"\n")
    return str(target)


def _thread(engine: "Engine", thread: RecordedThread) -> dict[str, Any]:
    return {
        "thread": thread.id,
        "status": thread.stored.status,
        "workflow": {"name": thread.workflow.name, **_node(engine, thread.stored.workflow)},
        "start": _node(engine, thread.start),
        "task": _node(engine, thread.node["prompt"]),
        "head": _node(engine, thread.head),
        "startedAt": date_text(thread.started_ms),
        "steps": [_step(engine, step) for step in thread.steps("output")],
    }


def _step(engine: "Engine", step: "RecordedStep") -> dict[str, Any]:
    node = step.node
    return {
        "number": step.number,
        **_node(engine, step.ref),
        "role": step.role,
        "status": step.status,
        "next": node["next"]["role"] or node["next"]["status"],
        "workflow": node["workflow"],
        "agent": {
            "name": node["agent"],
            "version": node["agentVersion"],
            "model": node["model"],
        },
        "engineVersion": node["engineVersion"],
        "prompt": _node(engine, node["attempt"]["prompt"]),
        "output": _node(engine, str(node["output"])),
        "called": [call.thread for call in step.calls],
        "startedAt": date_text(node["startedAtMs"]),
        "completedAt": date_text(node["completedAtMs"]),
    }


def _node(engine: "Engine", ref: str) -> dict[str, str]:
    return {"ref": ref, "sha256": engine.store.record(Ref(ref)).sha256.hex()}
