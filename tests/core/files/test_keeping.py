"""Which recorded files stay when threads are deleted and forked, and what `verify` finds."""

import os
import shutil
import time
from pathlib import Path

import pytest
from tests.core.files.recorded import object_file, write

from uwf_core.files.repository import FilesRepository, find_repository
from uwf_core.ids import ThreadId
from uwf_core.testing.project import Project

WRITES = """
version: 1
name: writes
record: true
roles:
  writer:
    goal: Write it.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Write.}
    resume: {role: writer, prompt: Write.}
  writer: {done: {role: $END, prompt: Done.}}
"""


@pytest.fixture
def writes(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.workflow("writes", WRITES)
    project.script([{"role": "writer", "output": "---\n$status: done\n---\n"}], repeat=True)
    write(project.folder, "file", b"recorded")
    return project


def files_of(project: Project) -> FilesRepository:
    found = find_repository(str(project.home))
    assert found is not None
    return found


def objects(project: Project) -> int:
    counts = files_of(project).git("count-objects", "-v").decode().splitlines()
    return sum(int(line.split()[1]) for line in counts if line.startswith(("count:", "in-pack:")))


def run(project: Project) -> str:
    with project.client() as uwf:
        thread = uwf.start("writes", "The task.")["thread"]
        assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    return str(thread)


def collect(project: Project, *words: str) -> int:
    time.sleep(1.1)  # git compares whole seconds
    done = project.uwf("cas", "gc", "--grace", "0s", *words)
    assert done.exit_code == 0, done.stderr
    return int(done.document["files"])


def test_the_files_of_a_deleted_thread_are_freed(writes):
    kept, gone = run(writes), run(writes)
    write(writes.folder, "file", b"later")
    last = run(writes)
    assert writes.uwf("thread", "rm", last).exit_code == 0
    assert writes.uwf("thread", "rm", gone).exit_code == 0
    before = objects(writes)
    assert collect(writes, "--dry-run") > 0 and objects(writes) == before
    assert collect(writes) > 0 and objects(writes) < before
    assert writes.uwf("cas", "verify").exit_code == 0
    assert [each.name for each in Path(files_of(writes).path, "refs/threads").iterdir()] == [kept]
    assert not [*Path(files_of(writes).path, "indexes").rglob(f"{gone}*")]


def test_files_within_the_grace_period_stay(writes):
    thread = run(writes)
    assert writes.uwf("thread", "rm", thread).exit_code == 0
    before = objects(writes)
    assert writes.uwf("cas", "gc").document["files"] == 0 and objects(writes) == before


def test_a_fork_keeps_the_files_when_its_origin_is_deleted(writes):
    thread = run(writes)
    with writes.client() as uwf:
        step = uwf.steps(thread)[-1]["step"]
        fork = uwf.fork(step)["thread"]
        uwf.remove(thread)
        second = uwf.fork(step)["thread"]
        uwf.remove(fork)
    collect(writes)
    assert writes.uwf("cas", "verify").exit_code == 0
    assert files_of(writes).newest(second)


@pytest.mark.parametrize("damage", ["missing", "damaged", "nothing left"])
def test_verify_reports_files_that_are_lost_and_the_thread_stays_usable(writes, damage):
    thread = run(writes)
    files = files_of(writes)
    if damage == "nothing left":
        shutil.rmtree(files.path)
    else:
        blob = files.git("rev-parse", f"refs/threads/{thread}:file").decode().strip()
        file = object_file(files, blob)
        if damage == "missing":
            file.unlink()
        else:
            file.chmod(0o600)
            file.write_bytes(file.read_bytes()[:-3] + b"abc")
    done = writes.uwf("cas", "verify")
    assert done.exit_code == 1
    assert {each["kind"] for each in done.document["problems"]} == {"files"}
    assert done.document["damaged"] == []
    assert writes.uwf("thread", "resume", thread, "-p", "Again.").exit_code == 0


def test_a_reference_without_a_thread_is_freed_after_the_grace_period(writes):
    thread = run(writes)
    files = files_of(writes)
    stray = f"refs/threads/{ThreadId.after(thread, 0)}"
    files.git("update-ref", stray, str(files.newest(thread)))
    writes.uwf("cas", "gc")
    assert Path(files.path, stray).exists()
    os.utime(Path(files.path, stray), (1, 1))
    writes.uwf("cas", "gc")
    assert not Path(files.path, stray).exists()
