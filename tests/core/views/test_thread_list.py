"""A list of threads shows each exactly as `thread show` does, whatever state it is in."""

import json

import pytest
from tests.core.engine.conftest import ONE_ROLE

from uwf_core.client import ThreadFilter
from uwf_core.testing.project import Project
from uwf_core.views.thread_list import thread_rows

ONLY_IN_SHOW = {"task", "form", "next", "hint"}


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
        for row in rows:
            shown = uwf.show(row["thread"])
            assert list(row) == [key for key in shown if key not in ONLY_IN_SHOW]
            assert row == {key: shown[key] for key in row}
