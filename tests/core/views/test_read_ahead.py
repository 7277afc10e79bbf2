"""A long thread is read many nodes at a time, and each is still checked."""

import pytest
from tests.core.engine.conftest import ONE_ROLE
from tests.store_file import opened_store

from uwf_core.errors import CorruptNodeError
from uwf_core.ids import number_of
from uwf_core.testing.project import Project

STEPS = 40


@pytest.fixture
def project(tmp_path):
    """A project with a workflow of one role, whose steps all differ."""
    project = Project(tmp_path)
    project.workflow("one-role", ONE_ROLE)
    project.script(
        [
            {"role": "worker", "output": {"$status": "again"}, "body": f"Text {number}."}
            for number in range(2 * STEPS)
        ]
    )
    return project


@pytest.fixture
def threads(project):
    """Two threads of `STEPS` steps, their steps in turns."""
    with project.client() as uwf:
        both = [uwf.start("one-role", "a task")["thread"] for _ in range(2)]
        for _ in range(STEPS // 4):
            for thread in both:
                uwf.exec(thread, count=4)
    return both


def change(project: Project, ref: str, assignment: str) -> None:
    with opened_store(project.home / "store.db") as file:
        assert file.execute(
            f"UPDATE node SET {assignment} WHERE ref = ?", (number_of(ref),)
        ).rowcount


def test_a_thread_reads_the_same_without_what_is_read_ahead(project, threads, monkeypatch):
    def texts():
        with project.client() as uwf:
            return [(uwf.read(each, quota=10**8), uwf.steps(each)) for each in threads]

    many = texts()
    assert many[0][0].count("## Step") == STEPS
    for hint in ("contents", "contents_before"):
        monkeypatch.setattr(f"uwf_core.stores.sqlite.SqliteBackend.{hint}", lambda *_: [])
    assert texts() == many


@pytest.mark.parametrize("field", ["step", "output", "body"])
@pytest.mark.parametrize(
    "assignment",
    ["data = substr(data, 1, length(data) - 1) || x'00'", "sha256 = zeroblob(32)", "type = ref"],
)
def test_a_changed_node_is_rejected_where_it_is_needed_and_only_there(
    project, threads, field, assignment
):
    with project.client() as uwf:
        row = uwf.steps(threads[0])[10]
        whole = uwf.read(threads[1], quota=10**8)
        newest = uwf.read(threads[0], quota=1000)
        node = uwf._engine.store.get(row["step"])
    change(project, row["step"] if field == "step" else node.payload[field], assignment)
    with project.client() as uwf:
        with pytest.raises(CorruptNodeError):
            uwf.read(threads[0], quota=10**8)
        if field == "step":  # the threads share the rest
            assert uwf.read(threads[1], quota=10**8) == whole
            assert uwf.read(threads[0], quota=1000) == newest
