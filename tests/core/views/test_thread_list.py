"""A list of threads shows each exactly as `thread show` does, whatever state it is in."""

import json
from typing import Any

import pytest
from tests.core.engine.conftest import ONE_ROLE
from tests.store_file import opened_store

from uwf_core.client import Client, ThreadFilter
from uwf_core.ids import ThreadId, number_of
from uwf_core.testing.project import Project
from uwf_core.thread.lock import thread_lock
from uwf_core.thread.names import STATUSES
from uwf_core.views.thread_list import thread_rows

ONLY_IN_SHOW = {
    *("worktree", "compacted", "result", "files", "notices"),
    *("input", "agent", "bindings", "form", "stack", "children", "next", "hint"),
}


@pytest.fixture
def project(tmp_path):
    """A project with a workflow of one role that goes on, asks, fails and ends."""
    project = Project(tmp_path)
    project.workflow("one-role", ONE_ROLE)
    project.script(
        [
            {"role": "worker", "output": {"$status": "again"}, "body": "More."},
            {"role": "worker", "fail": {"kind": "auth", "message": "no \u201ckey\u201d"}},
        ]
    )
    return project


def shown(uwf: Client, rows: list[Any]) -> list[Any]:
    """What `thread show` says of the threads of these rows."""
    found = [uwf.show(row["thread"]) for row in rows]
    return [{key: each[key] for key in each if key not in ONLY_IN_SHOW} for each in found]


def test_every_row_is_the_document_of_its_thread_without_what_a_list_leaves_out(project: Project):
    with project.client() as uwf:
        fresh, one, failed, cancelled = (
            uwf.start("one-role", "a task")["thread"] for _ in range(4)
        )
        uwf.exec(one)
        uwf.exec(failed, count=2)
        uwf.cancel(cancelled)
        rows = [json.loads(row) for row in thread_rows(uwf._engine, ThreadFilter(all=True))]
        assert [row["thread"] for row in rows] == [cancelled, failed, one, fresh]
        assert [row["status"] for row in rows] == ["cancelled", "suspended", "idle", "idle"]
        assert list(map(list, rows)) == list(map(list, shown(uwf, rows)))
        assert rows == shown(uwf, rows)


@pytest.mark.parametrize("store", ["sqlite:store.db", "memory:"])
def test_threads_that_differ_in_figures_alone_each_show_their_own(project: Project, store: str):
    """In a folder, of a workflow and with a role whose names look like a template."""
    project.env["UWF_STORE"] = store
    project.script([{"role": "worker", "output": {"$status": "again"}}], repeat=True)
    folder = project.folder / '100 %s "%d"'
    folder.mkdir()
    with project.client() as uwf:
        for steps in (0, 1, 2, 0, 2, 1):
            thread = uwf.start("one-role", "a task", cwd=str(folder))["thread"]
            uwf.exec(thread, count=steps) if steps else None
        rows = uwf.list()
        assert [row["steps"] for row in rows] == [1, 2, 0, 2, 1, 0]
        assert rows == shown(uwf, rows)
        assert uwf.list(ThreadFilter(workflow="one-role")) == rows


@pytest.mark.parametrize("page", [1, 2, 512])
def test_a_list_by_status_is_the_whole_list_filtered(
    project: Project, monkeypatch: pytest.MonkeyPatch, page: int
):
    """It looks at fewer heads: those that wait or may do so, whatever page they are on."""
    monkeypatch.setattr("uwf_core.views.thread_list.PAGE", page)
    with project.client() as uwf:
        made = [uwf.start("one-role", f"task {number}")["thread"] for number in range(7)]
        crashed, failed, one, cancelled, lost, _, running = made
        uwf.exec(failed, count=2)
        uwf.exec(one)
        uwf.cancel(cancelled)
        head = uwf.show(lost)["head"]
    project.uwf("thread", "exec", crashed, env={"UWF_TEST_CRASH": "reply:1"})
    with opened_store(project.home / "store.db") as file:
        file.execute("DELETE FROM node WHERE ref = ?", (number_of(head),))
    with project.client() as uwf:
        store = uwf._engine.store
        with thread_lock(store, ThreadId(running), uwf._engine.now_ms()):
            every = uwf.list()
            statuses = [row["status"] for row in reversed(every)]
            assert " ".join(statuses) == "suspended suspended idle cancelled corrupt idle running"
            for status in STATUSES:
                rows = [row for row in every if row["status"] == status]
                assert uwf.list(ThreadFilter(statuses=(status,))) == rows
                assert uwf.list(ThreadFilter(statuses=(status,), limit=1)) == rows[:1]
                since = ThreadFilter(statuses=(status,), after_ms=ThreadId(one).created_ms)
                later = [row for row in rows if ThreadId(row["thread"]).created_ms > since.after_ms]
                assert uwf.list(since) == later


def test_a_thread_without_its_newest_node_is_corrupt_and_its_neighbours_are_not(project: Project):
    with project.client() as uwf:
        first, lost, last = (uwf.start("one-role", f"task {n}")["thread"] for n in range(3))
        head = uwf.show(lost)["head"]
    with opened_store(project.home / "store.db") as file:
        file.execute("DELETE FROM node WHERE ref = ?", (number_of(head),))
    with project.client() as uwf:
        found = {row["thread"]: row["status"] for row in uwf.list()}
    assert found == {first: "idle", lost: "corrupt", last: "idle"}
