"""A command for a thread as somebody saw it does nothing if the thread has continued."""

from pathlib import Path

import pytest

from uwf_core.errors import UwfError, WrongStateError
from uwf_core.testing.project import Project

PAIR = """
version: 1
name: pair
description: Two roles in a row.
roles:
  first: &role
    description: Does its part
    goal: Do it
    frontmatter:
      oneOf:
        - properties:
            $status: {const: done}
          required: [$status]
  second: *role
graph:
  $START: {new: {role: first, prompt: Begin}, resume: {role: first, prompt: Again}}
  first: {done: {role: second, prompt: Continue}}
  second: {done: {role: $END, prompt: Done.}}
"""
SCRIPT = [{"role": role, "output": {"$status": "done"}} for role in ("first", "second")]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.workflow("pair", PAIR)
    project.script(SCRIPT)
    return project


def test_of_two_who_saw_the_same_head_the_second_changes_nothing(project: Project) -> None:
    with project.client() as uwf:
        thread = uwf.start("pair", "Task")["thread"]
        seen = uwf.show(thread)["head"]
        uwf.exec(thread, head=seen)
        now = uwf.show(thread)["head"]
        for call in (
            lambda: uwf.exec(thread, head=seen),
            lambda: uwf.exec(thread, head=seen, background=True),
            lambda: uwf.poke(thread, "again", head=seen),
            lambda: uwf.cancel(thread, head=seen),
        ):
            with pytest.raises(UwfError, match=f"its head is {now}, not {seen}"):
                call()
        assert uwf.show(thread)["head"] == now
        assert uwf.exec(thread, head=now).document["done"]
        done = uwf.show(thread)["head"]
        with pytest.raises(WrongStateError, match="has continued"):
            uwf.resume(thread, "more", head=now)
        assert uwf.show(thread)["head"] == done


def test_the_store_tells_a_watcher_that_others_have_written(project: Project) -> None:
    with project.client() as watcher, project.client() as writer:
        thread = writer.start("pair", "Task")["thread"]
        assert watcher.show(thread)["status"] == "idle"
        before = watcher.changes()
        assert watcher.changes() == before
        writer.exec(thread)
        assert watcher.changes() != before
