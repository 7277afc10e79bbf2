"""Bundles, verify and repair of threads that call others: all of a tree, or nothing."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.core.calling import (
    ACCEPTED,
    GOOD,
    PLANNED,
    REFUSED,
    WRITTEN,
    calling_project,
    child_of,
    lose,
    roles,
)
from tests.core.engine.archives import Archive
from tests.core.running import running

from uwf_core.client import Client, ThreadFilter
from uwf_core.errors import BundleError, BusyError, WrongStateError
from uwf_core.testing.project import Project

EVERY = ThreadFilter(all=True, children=True)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return calling_project(tmp_path)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Client]:
    """Another home, whose mock agents play what follows."""
    folder = tmp_path / "other"
    folder.mkdir()
    project = Project(folder)
    project.script([GOOD, ACCEPTED], by_role=True)
    with project.client() as client:
        yield client


@pytest.fixture
def root(uwf: Client) -> str:
    return uwf.start("outer", "Make a poem.")["thread"]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return tmp_path / "thread.tar"


def problems(uwf: Client, *, repair: bool = False) -> list[tuple[str, str]]:
    found = uwf.verify(repair=repair)["problems"]
    return [(each["kind"], each["message"]) for each in found]


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 100], ids=str)
def test_a_thread_and_those_below_it_verify_in_an_empty_home(
    uwf: Client, other: Client, root: str, bundle: Path, steps: int
) -> None:
    if steps:
        uwf.exec(root, count=steps)
    written = uwf.export_thread(root, bundle)
    below = [row["thread"] for row in uwf.list(EVERY) if row["thread"] != root]
    assert written["threads"] == len(below)
    taken = other.import_bundle(bundle)
    assert (taken["thread"], taken["threads"]) == (root, len(below))
    assert problems(other) == []
    for thread in (root, *below):
        mine, theirs = uwf.show(thread), other.show(thread)
        for key in ("status", "head", "stack", "children", "depth", "parent", "usage"):
            assert mine[key] == theirs[key]  # type: ignore[literal-required]
        assert uwf.thread(thread).root == other.thread(thread).root
    assert other.thread(root).root == written["root"]
    assert not other.import_bundle(bundle)["imported"]


def test_an_open_call_continues_where_it_was_imported(
    uwf: Client, other: Client, root: str, bundle: Path
) -> None:
    uwf.exec(root, count=2)
    uwf.export_thread(root, bundle)
    other.import_bundle(bundle)
    outcome = other.exec(root, until_done=True)
    assert roles(outcome.document["steps"]) == ["checker", "judge"]
    assert outcome.document["status"] == "completed"
    assert problems(other) == []


def test_nothing_is_exported_while_a_thread_below_runs(
    project: Project, uwf: Client, root: str, bundle: Path
) -> None:
    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    with running(project, child, GOOD), pytest.raises(BusyError, match=child):
        uwf.export_thread(root, bundle)
    assert not bundle.exists()


def test_a_renamed_thread_leaves_its_open_calls_and_calls_anew(
    uwf: Client, other: Client, root: str, bundle: Path
) -> None:
    uwf.exec(root, count=2)
    uwf.export_thread(root, bundle)
    other.import_bundle(bundle)
    again = other.import_bundle(bundle, as_new=True)
    assert (again["threads"], again["thread"] != root) == (0, True)
    assert [frame["role"] for frame in other.show(again["thread"])["stack"]] == ["work"]
    assert other.show(root)["stack"][1:] != []
    assert problems(other) == []


def test_a_renamed_thread_brings_the_ended_threads_below_whose_ids_are_free(
    uwf: Client, other: Client, root: str, bundle: Path
) -> None:
    uwf.exec(root)
    uwf.export_thread(root, bundle)
    other.import_bundle(bundle)
    uwf.exec(root, until_done=True)
    child = child_of(uwf, root)
    uwf.export_thread(root, bundle)
    with pytest.raises(WrongStateError, match="another head"):
        other.import_bundle(bundle)
    again = other.import_bundle(bundle, as_new=True)
    assert again["threads"] == 1
    assert roles(other.steps(again["thread"])) == roles(uwf.steps(root))
    assert other.read(child) == uwf.read(child)
    assert problems(other) == []


def test_a_thread_below_that_went_on_elsewhere_rejects_the_bundle(
    uwf: Client, other: Client, root: str, bundle: Path
) -> None:
    uwf.exec(root, count=2)
    uwf.export_thread(root, bundle)
    other.import_bundle(bundle)
    child = child_of(uwf, root)
    uwf.exec(child)
    uwf.export_thread(root, bundle)
    with pytest.raises(WrongStateError, match=f"thread {child} exists with another head"):
        other.import_bundle(bundle)


def test_a_called_thread_can_be_exported_without_its_caller(
    uwf: Client, other: Client, root: str, bundle: Path
) -> None:
    uwf.exec(root, until_done=True)
    child = child_of(uwf, root)
    assert uwf.export_thread(child, bundle)["threads"] == 0
    other.import_bundle(bundle)
    assert other.read(child) == uwf.read(child)
    assert problems(other) == []


def lines(archive: Archive) -> list[str]:
    return archive["vars.jsonl"].content.decode().splitlines()


@pytest.mark.parametrize("lost", ["call", "head", "manifest"])
def test_a_bundle_whose_calls_do_not_fit_together_is_rejected(
    uwf: Client, other: Client, root: str, bundle: Path, lost: str
) -> None:
    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    uwf.export_thread(root, bundle)
    archive = Archive(bundle)
    if lost == "manifest":
        archive.json("manifest.json", lambda document: document.update(threads=[root]))
    else:
        wanted = f"@uwf/call/{root}" if lost == "call" else f"@uwf/thread/{child}"
        kept = [line for line in lines(archive) if not json.loads(line)["name"].startswith(wanted)]
        assert len(kept) == len(lines(archive)) - 1
        archive.rewrite("vars.jsonl", "".join(f"{line}\n" for line in kept).encode())
    bundle.write_bytes(archive.data())
    with pytest.raises(BundleError):
        other.import_bundle(bundle)
    assert other.list(EVERY) == []


# -- verify and repair -----------------------------------------------------------------------------


def test_the_lost_name_of_an_open_call_is_reported_and_written_again(
    project: Project, root: str, uwf: Client
) -> None:
    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    [name] = uwf._engine.store.variables("@uwf/call/")
    uwf._engine.store.delete_variable(name)
    [(kind, message)] = problems(uwf)
    assert kind == "call"
    assert f"step 2 of thread {root} does not record" in message
    assert problems(uwf, repair=True) == []
    [again] = uwf._engine.store.variables("@uwf/call/")
    assert (again.name, again.value) == (name.name, name.value)
    assert uwf.exec(root, until_done=True).document["status"] == "completed"
    assert uwf.show(child)["status"] == "completed"


def test_a_damaged_name_of_a_call_is_repaired_from_its_event(
    project: Project, root: str, uwf: Client
) -> None:
    uwf.exec(root, count=2)
    # While uwf has the store open, since SQLite deletes the log when the last one closes it.
    with closing(sqlite3.connect(project.home / "store.db")) as file, file:
        file.execute("UPDATE variable SET updated = updated + 1 WHERE name LIKE '@uwf/call/%'")
    uwf.close()
    with project.client() as reader:
        assert problems(reader, repair=True) == []
        assert reader.exec(root, until_done=True).document["status"] == "completed"


def test_a_call_of_a_thread_that_is_gone_is_reported(uwf: Client, root: str) -> None:
    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    lose(uwf, child)
    assert ("call", f"the call of thread {child} is open, but that thread has no head") in (
        problems(uwf)
    )


def test_a_called_thread_that_its_caller_records_otherwise_is_reported(
    project: Project, uwf: Client, root: str
) -> None:
    """The head of the called thread is put back by a step."""
    project.script([PLANNED, WRITTEN, GOOD, REFUSED, WRITTEN, GOOD, ACCEPTED], by_role=True)
    uwf.exec(root, count=5)
    child, store = child_of(uwf, root), uwf._engine.store
    before = store.variable(f"@uwf/thread/{child}")
    uwf.exec(root, until_done=True)
    assert problems(uwf) == []
    head = store.variable(f"@uwf/thread/{child}")
    assert before is not None and head is not None and before.value != head.value
    store.set_variable(head.name, before.value, before.tags, head)
    assert [kind for kind, _ in problems(uwf)] == ["call"]


def test_nodes_of_an_open_call_survive_a_collection(uwf: Client, root: str) -> None:

    uwf.exec(root, count=2)
    kept = uwf.collect_garbage(0)["kept"]
    assert [each["variables"] for each in kept if each["reason"] == "open calls"] == [1]
    assert problems(uwf) == []
    assert uwf.exec(root, until_done=True).document["status"] == "completed"
