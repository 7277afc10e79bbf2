"""Recorded files travel in a bundle: all of a thread and of those below it, or none."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.core.engine.archives import Archive
from tests.core.files.recorded import (
    TWICE,
    Content,
    content_of,
    git,
    object_file,
    repository,
    write,
)

from uwf_core.client import Client
from uwf_core.errors import BundleError, StoreError, WrongStateError
from uwf_core.files.repository import FilesRepository
from uwf_core.testing.project import Project
from uwf_core.threads.fork import fork_step

SECRET = "sk-live-0123456789abcdef"
OUTER = """
version: 1
name: outer
record: true
roles:
  work: {workflow: ./twice.yaml}
  last:
    program: {argv: [sh, ./last.sh], statuses: {0: done}}
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START: {new: {role: work, prompt: Work.}, resume: {role: work, prompt: Work.}}
  work: {done: {role: last, prompt: Last.}}
  last: {done: {role: $END, prompt: Done.}}
"""


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Client]:
    """A project outside of git whose thread has made two edits."""
    project = edited(tmp_path)
    with project.client() as client:
        run(client)
        yield client


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Client]:
    """Somebody else: another home, another folder."""
    with Project(tmp_path / "other").client() as client:
        yield client


def edited(root: Path, *, is_recorded: bool = True, in_git: bool = False) -> Project:
    project = Project(root)
    project.workflow("twice", TWICE if is_recorded else TWICE.replace("record: true\n", ""))
    write(project.folder, "edit.sh", b"echo . >> count; [ -e new ] && exit 1; echo . > new\n")
    if in_git:
        repository(project.folder)
    project.trust()
    return project


def run(client: Client, name: str = "twice") -> str:
    thread = client.start(name, "The task.")["thread"]
    client.exec(thread, until_done=True)
    return thread


def steps_of(client: Client, thread: str | None = None) -> list[str]:
    """The steps of a thread, by default the only one."""
    _, *rows = client.steps(thread or client.list()[0]["thread"])
    return [row["step"] for row in rows]


def exported(client: Client, path: Path, **options: Any) -> Path:
    client.export_thread(client.list()[0]["thread"], path, **options)
    return path


def forked(client: Client, step: str, folder: Path) -> Content:
    """The folder of a fork with the files of a step."""
    fork_step(client._engine, step, folder=str(folder))
    return {path: each for path, each in content_of(folder).items() if path != b".git"}


def files_of(client: Client) -> FilesRepository:
    return FilesRepository(str(client.home / "files.git"))


def is_valid(client: Client) -> bool:
    return client.verify()["valid"]


def collect(client: Client) -> int:
    time.sleep(1.1)  # git compares whole seconds
    return client.collect_garbage(0)["files"]


def test_a_step_can_be_forked_with_its_files_in_another_home(twice, there, tmp_path):
    write(twice.folder, "inner/deep/file", b"\r\n\0")
    (twice.folder / "inner" / "link").symlink_to("../file")
    with twice.client() as here:
        run(here)
        steps = steps_of(here)
        before = [forked(here, step, tmp_path / step) for step in steps]
        bundle = exported(here, tmp_path / "thread.tar", with_files=True)
    shutil.rmtree(twice.folder)
    came = there.import_bundle(bundle)
    assert came["files"] == came["filesAdded"] == len(Archive(bundle).objects)
    folders = [tmp_path / f"{step}-there" for step in steps]
    assert [forked(there, *each) for each in zip(steps, folders, strict=True)] == before
    assert not any(folder.joinpath(".git").exists() for folder in folders)
    assert is_valid(there)


def test_a_bundle_with_files_is_the_bundle_without_and_more(here, tmp_path):
    plain = Archive(exported(here, tmp_path / "plain.tar"))
    path = exported(here, tmp_path / "full.tar", with_files=True)
    again = exported(here, tmp_path / "again.tar", with_files=True)
    assert path.read_bytes() == again.read_bytes()
    full = Archive(path)
    assert Client.verify_bundle(path)["files"] == len(full.objects) > 0
    rest = [file for file in full.files if file not in full.objects]
    assert rest[:-1] == plain.files[:-1]
    old, new = (json.loads(each["manifest.json"].content) for each in (plain, full))
    names = [each.name.removeprefix("files/") for each in full.objects]
    assert new == {**old, "version": 2, "files": names}


def test_the_files_of_called_threads_and_of_failed_attempts_come_along(there, tmp_path):
    project = edited(tmp_path)
    project.workflow("outer", OUTER)
    write(project.folder, "last.sh", b"[ -e tried ] && exit 0; echo > tried; exit 9\n")
    with project.client() as here:
        thread = run(here, "outer")
        assert here.show(thread)["status"] == "suspended"
        before = there.import_bundle(exported(here, tmp_path / "before.tar", with_files=True))
        here.exec(thread)
        called = [each["thread"] for each in here.list() if each["thread"] != thread]
        bundle = exported(here, tmp_path / "thread.tar", with_files=True)
    objects = {each.name for each in Archive(bundle).objects}
    assert objects >= {each.name for each in Archive(tmp_path / "before.tar").objects}
    came = there.import_bundle(bundle, as_new=True)
    assert before["threads"] == 1 and called == []
    last = forked(there, steps_of(there, came["thread"])[-1], tmp_path / "last")
    assert {b"tried", b"count", b"new"} <= {*last}
    assert is_valid(there)


def test_a_dry_run_stores_no_file_and_a_second_import_none_again(here, there, tmp_path):
    bundle = exported(here, tmp_path / "thread.tar", with_files=True)
    would = there.import_bundle(bundle, dry_run=True)
    assert would["filesAdded"] == would["files"] and not (there.home / "files.git").exists()
    there.import_bundle(bundle)
    again = there.import_bundle(bundle)
    assert (again["imported"], again["filesAdded"]) == (False, 0)


def test_files_can_be_imported_after_their_thread(here, there, tmp_path):
    [first, _] = steps_of(here)
    there.import_bundle(exported(here, tmp_path / "plain.tar"))
    with pytest.raises(StoreError, match="missing"):
        forked(there, first, tmp_path / "x")
    with pytest.raises(StoreError, match=f"before step {first}"):
        exported(there, tmp_path / "x.tar", with_files=True)
    assert not (tmp_path / "x.tar").exists() and is_valid(there)
    came = there.import_bundle(exported(here, tmp_path / "full.tar", with_files=True))
    assert (came["imported"], came["filesAdded"]) == (False, came["files"])
    assert forked(there, first, tmp_path / "x")


def test_imported_files_are_verified_and_a_lost_one_comes_back(here, there, tmp_path):
    bundle = exported(here, tmp_path / "thread.tar", with_files=True)
    there.import_bundle(bundle)
    name = Archive(bundle).objects[0].name.removeprefix("files/")
    object_file(files_of(there), name).unlink()
    problems = there.verify()["problems"]
    assert {each["kind"] for each in problems} == {"files"}
    assert there.import_bundle(bundle)["filesAdded"] == 1
    assert is_valid(there)


def test_imported_files_are_kept_until_their_thread_is_deleted(here, there, tmp_path):
    bundle = exported(here, tmp_path / "thread.tar", with_files=True)
    thread = there.import_bundle(bundle)["thread"]
    copy = there.import_bundle(bundle, as_new=True)["thread"]
    there.remove(thread)
    assert collect(there) == 0 and is_valid(there)
    first, second = (forked(there, each, tmp_path / each) for each in steps_of(there, copy))
    assert first != second
    for each in there.list():
        if each["status"] != "completed":
            there.cancel(each["thread"])
        there.remove(each["thread"])
    assert collect(there) > len(Archive(bundle).objects)  # with the commits that kept them


@pytest.mark.parametrize("path", ["inner/key", f"inner/{SECRET}"])
def test_a_recorded_secret_is_not_given_away(tmp_path, path):
    project = edited(tmp_path)
    write(project.folder, path, f"the key is {SECRET}\n".encode())
    with project.client() as here:
        run(here)
        [first, _] = steps_of(here)
    project.env["SHOP_API_KEY"] = SECRET
    with project.client() as knowing:
        with pytest.raises(BundleError) as refused:
            exported(knowing, tmp_path / "thread.tar", with_files=True)
        assert not list(tmp_path.glob("*thread.tar*"))
        exported(knowing, tmp_path / "thread.tar")
    shown = path.replace(SECRET, "[redacted]")
    assert f"the file '{shown}' before step {first}" in refused.value.message
    assert "without --with-files" in str(refused.value.hint)
    assert SECRET not in refused.value.message


def test_a_link_out_of_the_folder_is_not_exported(tmp_path):
    project = edited(tmp_path)
    (project.folder / "passwords").symlink_to("/etc/passwd")
    with project.client() as here:
        run(here)
        with pytest.raises(BundleError, match="outside of their folder: 'passwords'"):
            exported(here, tmp_path / "thread.tar", with_files=True)
    assert not list(tmp_path.glob("*thread.tar*"))


def test_a_thread_without_recorded_files_has_none_to_export(tmp_path):
    with edited(tmp_path, is_recorded=False).client() as here:
        run(here)
        with pytest.raises(WrongStateError, match="no recorded files"):
            exported(here, tmp_path / "thread.tar", with_files=True)


def test_a_damaged_file_is_not_exported(here, tmp_path):
    name = Archive(exported(here, tmp_path / "good.tar", with_files=True)).objects[0].name[6:]
    damaged = object_file(files_of(here), name)
    damaged.chmod(0o600)
    damaged.write_bytes(b"x")
    with pytest.raises(StoreError, match="step"):
        exported(here, tmp_path / "thread.tar", with_files=True)
    assert not list(tmp_path.glob("*thread.tar*"))


def test_an_imported_step_takes_a_worktree_of_the_repository_where_you_are(tmp_path):
    """And never of one that the bundle names."""
    project, other = edited(tmp_path, in_git=True), Project(tmp_path / "other")
    with project.client() as here:
        run(here)
        [first, _] = steps_of(here)
        bundle = exported(here, tmp_path / "thread.tar", with_files=True)
    with other.client() as there:
        there.import_bundle(bundle)
        forked(there, first, tmp_path / "plain")
    assert not (tmp_path / "plain" / ".git").exists()
    shutil.rmtree(other.folder)
    git(tmp_path, "clone", "-q", str(project.folder), str(other.folder))
    with other.client() as there:
        forked(there, first, tmp_path / "copy")
        thread = there.list()[0]["thread"]
    assert git(tmp_path / "copy", "branch", "--show-current") == f"uwf/{thread}"
    assert git(project.folder, "worktree", "list").count("\n") == 0


def test_rm_says_that_the_plain_folder_of_a_fork_stays(here):
    last = steps_of(here)[-1]
    thread = fork_step(here._engine, last, folder="")["thread"]
    folder = Path(here.show(thread)["cwd"])
    [left] = here.remove(thread)["worktrees"]
    assert (left["folder"], left["removed"], left["branch"]) == (str(folder), False, "")
    assert left["command"] == f"rm -r {folder}" and folder.is_dir()
