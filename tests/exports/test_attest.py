"""`thread export --attest`: a statement about the file that in-toto's own library accepts."""

import hashlib
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.core.calling import INNER

from uwf_core.maintenance.export_bundle import export_thread
from uwf_core.testing.project import Project


@pytest.fixture
def statements(recorded: Any, tmp_path: Path) -> Mapping[str, Any]:
    """The statement about the bundle of each thread."""
    uwf, threads = recorded
    found = {}
    for name, thread in threads.items():
        file = tmp_path / f"{name}.tar"
        document = export_thread(uwf._engine, thread.id, str(file), attest=True)
        found[name] = json.loads(Path(document["statement"]).read_text("utf-8"))
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        assert found[name]["subject"] == [{"name": file.name, "digest": {"sha256": digest}}]
        assert found[name]["predicate"]["root"] == document["root"]
    return found


def test_in_toto_accepts_the_statement(tool: Any, statements: Mapping[str, Any]) -> None:
    wrapper = tool("in_toto_attestation.v1.statement")
    parser = tool("google.protobuf.json_format")
    for statement in statements.values():
        found = wrapper.Statement.copy_from_pb(
            parser.ParseDict(statement, tool("in_toto_attestation.v1.statement_pb2").Statement())
        )
        found.validate()
        broken = parser.ParseDict({**statement, "predicateType": ""}, type(found.pb)())
        with pytest.raises(ValueError):
            wrapper.Statement.copy_from_pb(broken).validate()


def test_each_thread_and_step_is_named_with_its_digest(
    recorded: Any, statements: Mapping[str, Any]
) -> None:
    uwf, threads = recorded
    for name, thread in threads.items():
        predicate = statements[name]["predicate"]
        own = predicate["threads"][0]
        assert own["workflow"]["ref"] == thread.workflow.ref
        record = uwf._engine.store.record
        assert own["workflow"]["sha256"] == record(thread.workflow.ref).sha256.hex()
        assert [each["ref"] for each in own["steps"]] == [step.ref for step in thread.steps()]
        called = {call.thread for step in thread.steps() for call in step.calls}
        called |= {call.thread for call in thread.open_calls}
        assert {each["thread"] for each in predicate["threads"][1:]} == called
        for each, step in zip(own["steps"], thread.steps(), strict=True):
            prompt = record(step.node["attempt"]["prompt"])
            assert each["prompt"] == {"ref": prompt.ref, "sha256": prompt.sha256.hex()}


def test_a_signature_of_the_statement_can_be_verified(tmp_path: Path) -> None:
    """The commands of the guide, with a key of ssh."""
    project = Project(tmp_path)
    project.workflow("inner", INNER)
    with project.client() as uwf:
        thread = uwf.start("inner", "a task")["thread"]
    done = project.uwf("thread", "export", thread, "-o", "thread.tar", "--attest")
    assert done.exit_code == 0, done
    file = Path(done.document["statement"])
    key = tmp_path / "key"
    try:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    except FileNotFoundError:
        pytest.skip("ssh-keygen is not installed")
    sign = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", "uwf", str(file)]
    subprocess.run(sign, check=True)
    signers = tmp_path / "signers"
    signers.write_text(f"me {key.with_suffix('.pub').read_text()}")
    verify = ["ssh-keygen", "-q", "-Y", "verify", "-f", str(signers), "-I", "me", "-n", "uwf"]
    verify += ["-s", f"{file}.sig"]
    assert subprocess.run(verify, input=file.read_bytes()).returncode == 0
    assert subprocess.run(verify, input=file.read_bytes() + b" ").returncode != 0


def test_attest_is_for_bundles(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.workflow("inner", INNER)
    with project.client() as uwf:
        thread = uwf.start("inner", "a task")["thread"]
    wrong = project.uwf("thread", "export", thread, "--format", "html", "--attest", "-o", "x")
    assert wrong.exit_code == 2
    assert "--attest is for bundles, not for the format html" in wrong.error["message"]
    assert project.uwf("thread", "export", thread, "--attest").exit_code == 2
