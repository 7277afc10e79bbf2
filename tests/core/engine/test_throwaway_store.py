"""Stores that are thrown away."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from uwf_core.client import Client
from uwf_core.testing.project import Project

WORKFLOW = """\
version: 1
name: once
roles:
  a: {goal: work, frontmatter: {properties: {$status: {const: done}}, required: [$status]}}
graph:
  $START: {new: {role: a, prompt: Begin.}, resume: {role: a, prompt: Go on.}}
  a: {done: {role: $END, prompt: Done.}}
"""


def test_a_client_beside_another_keeps_in_its_own_store_all_that_it_needs(tmp_path: Path) -> None:
    """What a process knows from one store is not taken to be in the next one."""
    project = Project(tmp_path)
    file = project.workflow("once", WORKFLOW)
    project.script([{"role": "a", "output": {"$status": "done"}}] * 2)
    store = f"sqlite:{tmp_path / 'second.db'}"
    with Client.open(env=project.env, cwd=project.folder) as first:
        ref = first.add_workflow(file)
        first.exec(first.start(ref, "Begin.")["thread"], until_done=True)
        with Client.open(env=project.env, store=store, durable=False, beside=first) as second:
            first.nodes.copy([ref], second.nodes)
            thread = second.start(ref, "Begin.", cwd=project.folder)["thread"]
            assert second.exec(thread, until_done=True).document["status"] == "completed"
    outcome = project.uwf("cas", "verify", thread, env={"UWF_STORE": store})
    assert outcome.exit_code == 0, outcome.stdout + outcome.stderr


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_store_that_is_thrown_away_never_waits_for_the_disk(tmp_path: Path) -> None:
    code = (
        "import sys; from uwf_core.client import Client\n"
        "def put(file, **how):\n"
        "    with Client.open(home=sys.argv[1], store=f'sqlite:{file}', **how) as client:\n"
        "        kind = client.nodes.put_type({'type': 'object'}, trusted=True)\n"
        "        for n in range(5): client.nodes.put(kind, {'n': n}, trusted=True)\n"
        "put(sys.argv[2])\n"
        "put(sys.argv[2] + '.passing', durable=False)\n"
    )
    trace, first = tmp_path / "trace", tmp_path / "a.db"
    strace = ["strace", "-f", "-y", "-qq", "-e", "trace=fsync,fdatasync", "-o", str(trace)]
    words = [*strace, sys.executable, "-c", code, str(tmp_path / "home"), str(first)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    if "ptrace" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip("this machine does not allow strace")
    assert done.returncode == 0, done.stderr
    synced = [line for line in trace.read_text().splitlines() if "sync(" in line]
    files = [line.partition("<")[2].partition(">")[0] for line in synced]
    assert files.count(f"{first}-wal") >= 5
    assert f"{first}.passing-wal" not in files
