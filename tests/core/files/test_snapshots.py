"""What is in a snapshot, and that a restored folder equals it."""

import os
import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.core.files.recorded import (
    THREAD,
    Recorder,
    content_of,
    empty,
    git,
    object_file,
    repository,
    write,
)

from uwf_core.errors import StoreError
from uwf_core.files import snapshot
from uwf_core.files.user_rules import tree_around


def every_kind(folder: Path) -> None:
    write(folder, "plain", b"one\n")
    write(folder, "crlf.txt", b"one\r\ntwo\r\n")
    write(folder, "deep/er/program", b"#!/bin/sh\n", mode=0o755)
    write(folder, b'odd \xff\n"\\ name', b"\0\xff")
    write(folder, "0:stage", b"stage")
    write(
        folder, ".gitattributes", b"* text eol=lf filter=upper ident working-tree-encoding=UTF-16\n"
    )
    os.symlink("plain", folder / "link")
    os.symlink("/nowhere/at/all", folder / "dangling")
    os.symlink("deep", folder / "to-folder")


@pytest.mark.parametrize("in_git", [False, True])
def test_a_restored_folder_has_paths_bytes_modes_and_links_as_recorded(here, in_git):
    every_kind(here.folder)
    if in_git:
        write(here.folder, ".git/config", b"")
        shutil.rmtree(here.folder / ".git")
        repository(here.folder, commit=False)
    before, tree = content_of(here.folder), here.tree()
    empty(here.folder)
    write(here.folder, "later/file")
    write(here.folder, "deep", b"a file in place of a folder")
    write(here.folder, "plain/file", b"a folder in place of a file")
    here.restore(tree)
    assert content_of(here.folder) == before
    assert here.tree() == tree


def test_filters_and_line_ends_of_the_user_change_nothing(here):
    repository(here.folder)
    git(here.folder, "config", "filter.upper.clean", "tr a-z A-Z")
    git(here.folder, "config", "filter.upper.smudge", "tr A-Z a-z")
    git(here.folder, "config", "core.autocrlf", "true")
    write(here.folder, ".gitattributes", b"*.txt filter=upper\n*.md text eol=crlf\n")
    write(here.folder, "a.txt", b"Mixed Case\r\n")
    write(here.folder, "b.md", b"one\ntwo\r\n")
    before, tree = content_of(here.folder), here.tree()
    empty(here.folder)
    here.restore(tree)
    assert content_of(here.folder) == before


def test_ignored_files_are_left_out_by_every_rule_of_the_user(here, tmp_path):
    repository(here.folder)
    write(tmp_path, "user/rules", b"*.by-user\n")
    git(here.folder, "config", "core.excludesFile", str(tmp_path / "user" / "rules"))
    write(here.folder, ".git/info/exclude", b"*.by-clone\n")
    write(here.folder, ".gitignore", b"*.by-tree\n!kept.by-user\n")
    write(here.folder, "sub/.gitignore", b"/deep\n")
    for path in ("a.by-user", "a.by-clone", "a.by-tree", "sub/deep/file", "kept.by-user", "b"):
        write(here.folder, path)
    assert here.paths() == {b".gitignore", b"sub/.gitignore", b"kept.by-user", b"b"}


def test_the_default_rules_of_the_user_hold_outside_of_git_too(here, tmp_path):
    write(tmp_path, "user/.config/git/ignore", b"*.swp\n")
    write(here.folder, "a.swp")
    write(here.folder, "a")
    assert here.paths() == {b"a"}


def test_a_tracked_file_is_recorded_even_if_it_is_ignored(here):
    write(here.folder, "build/kept", b"one")
    write(here.folder, "build/gone", b"one")
    repository(here.folder)
    write(here.folder, ".gitignore", b"build\n")
    write(here.folder, "build/not")
    wanted = {b".gitignore", b"build/kept", b"build/gone"}
    assert here.paths() == wanted
    (here.folder / "build" / "gone").unlink()
    assert here.paths() == wanted - {b"build/gone"}
    write(here.folder, "build/gone", b"back again")
    write(here.folder, "build/kept", b"changed")
    assert here.paths() == wanted
    assert here.record()["bytes"] == len(b"build\n" + b"changed" + b"back again")
    git(here.folder, "rm", "-q", "--cached", "build/kept")
    assert here.paths() == wanted - {b"build/kept"}


def test_a_snapshot_depends_on_the_folder_alone_and_not_on_those_before(here):
    """A file that becomes ignored, or a folder that becomes a repository, leaves the record."""
    for path in ("a.log", "sub/file", "sub/deep/file", "moved/file", "hidden/file", "b"):
        write(here.folder, path)
    here.tree()
    write(here.folder, ".gitignore", b"*.log\nhidden\n")
    repository(here.folder / "sub")
    os.rename(here.folder / "moved", here.folder / "away")
    os.symlink("away", here.folder / "moved")
    os.rename(here.folder / "hidden", here.folder / "shown")
    os.symlink("shown", here.folder / "hidden")
    later = here.record()
    fresh = here.record("01JABCDEFGHJKMNPQRSTVWXYZ1")
    shutil.rmtree(here.files.path)
    assert later == fresh == here.record()
    assert here.paths() == {b".gitignore", b"away/file", b"b", b"moved", b"shown/file"}
    shutil.rmtree(here.folder / "sub" / ".git")
    (here.folder / ".gitignore").unlink()
    assert b"sub/deep/file" in here.paths() and b"a.log" in here.paths()


def test_repositories_inside_are_recorded_by_commit_alone(here, tmp_path):
    repository(here.folder)
    write(tmp_path, "other/file")
    other = repository(tmp_path / "other")
    git(here.folder, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "module")
    write(here.folder, "inner/file")
    inner = repository(here.folder / "inner")
    repository(here.folder / "deep" / "empty", commit=False)
    write(here.folder, "mine")
    found = here.record()
    assert found["nested"] == {
        "inner": git(inner, "rev-parse", "HEAD"),
        "module": git(other, "rev-parse", "HEAD"),
        "deep/empty": "",
    }
    assert here.paths() == {b".gitmodules", b"mine"}
    write(here.folder, "inner/later")
    here.restore(str(found["tree"]))
    assert (inner / "later").exists()


def test_the_home_of_uwf_is_left_out(tmp_path):
    here = Recorder(tmp_path)
    here.folder = tmp_path
    write(tmp_path, "file")
    write(tmp_path, ".gitignore", b"!*\n")
    assert here.paths() == {b"file", b".gitignore"}
    here.folder = here.home
    assert here.record()["reason"] == "the folder is the one of uwf"


def test_the_git_folder_of_the_user_stays_byte_for_byte_as_it_is(here):
    write(here.folder, "plain", b"one")
    write(here.folder, "crlf.txt", b"one\r\n")
    repository(here.folder)
    every_kind(here.folder)
    write(here.folder, "plain", b"changed and not added\n")
    os.utime(here.folder / "crlf.txt", (1, 1))  # a refreshed index would be another

    def bytes_of_git() -> dict[str, tuple[bytes, int]]:
        files = [each for each in (here.folder / ".git").rglob("*") if each.is_file()]
        return {str(each): (each.read_bytes(), each.stat().st_mtime_ns) for each in files}

    before, tree = bytes_of_git(), here.tree()
    write(here.folder, "more")
    here.tree()
    here.restore(tree)
    assert bytes_of_git() == before


def test_a_sparse_checkout_is_recorded_as_it_is(here):
    for path in ("in/a", "out/b"):
        write(here.folder, path)
    repository(here.folder)
    git(here.folder, "sparse-checkout", "set", "in")
    assert here.paths() == {b"in/a"}


def test_too_much_is_not_recorded_and_nothing_is_written(here, monkeypatch):
    write(here.folder, "a", b"12345")
    here.tree()
    objects = sorted(Path(here.files.path, "objects").rglob("*"))
    monkeypatch.setattr(snapshot, "MOST_BYTES", 8)
    write(here.folder, "b", b"6789")
    found = here.record()
    assert found["tree"] is None and "2 files with 9 bytes" in str(found["reason"])
    assert sorted(Path(here.files.path, "objects").rglob("*")) == objects
    monkeypatch.setattr(snapshot, "MOST_BYTES", 9)
    monkeypatch.setattr(snapshot, "MOST_FILES", 1)
    assert here.record()["tree"] is None
    (here.folder / "a").unlink()
    assert here.record()["bytes"] == 4


def test_without_git_the_reason_is_given(here, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert here.record()["reason"] == "git is not installed"


def test_a_path_that_is_too_long_for_git_is_left_out_with_a_short_reason(here, monkeypatch):
    write(here.folder, "a")
    monkeypatch.chdir(here.folder)
    for _ in range(22):
        os.mkdir("x" * 200)
        os.chdir("x" * 200)
    Path("file").touch()
    reason = str(here.record()["reason"])
    assert here.paths() == {b"a"}
    assert "a folder that cannot be read: File name too long" in reason
    assert len(reason) <= 300


def test_a_name_that_git_refuses_is_named_until_it_is_gone(here):
    write(here.folder, "a")
    here.tree()
    write(here.folder, ".GIT/file")  # git accepts no path with this name
    assert "GIT" in str(here.record()["reason"])
    shutil.rmtree(here.folder / ".GIT")
    assert here.record()["reason"] is None
    assert here.paths() == {b"a"}


def test_processes_that_record_for_the_first_time_at_once_make_one_repository(here):
    write(here.folder, "a")
    threads = [f"01JABCDEFGHJKMNPQRSTVWXYZ{each}" for each in range(8)]
    with ThreadPoolExecutor(8) as pool:
        trees = {*pool.map(here.tree, threads)}
    assert len(trees) == 1
    assert sorted(each.name for each in here.home.iterdir()) == ["files.git"]
    listed = here.files.git("for-each-ref", "--format=%(refname)").decode().split()
    assert listed == [f"refs/threads/{each}" for each in threads]


def test_a_user_who_commits_meanwhile_is_not_disturbed(here):
    repository(here.folder)
    failed, ended = [], threading.Event()

    def commit() -> None:
        for number in range(30):
            write(here.folder, f"by-user/{number}")
            try:
                git(here.folder, "add", "-A")
                git(here.folder, "commit", "-q", "-m", str(number))
                if number % 10 == 0:
                    git(here.folder, "gc", "-q", "--prune=now")
            except subprocess.CalledProcessError as error:
                failed.append(error.stderr)
        ended.set()

    user = threading.Thread(target=commit)
    user.start()
    snapshots = 0
    while not ended.is_set():
        here.tree()
        snapshots += 1
    user.join()
    assert not failed and snapshots > 3
    assert len(here.paths()) == 30


def test_a_thread_keeps_all_its_trees_as_one_chain(here):
    trees = []
    for number in range(3):
        write(here.folder, "a", str(number).encode())
        trees += [here.tree(), here.tree()]
    kept = here.files.git("log", "--format=%T", f"refs/threads/{THREAD}").decode().split()
    assert kept == [trees[4], trees[2], trees[0]]


def test_what_must_stay_is_not_overwritten(here):
    write(here.folder, "a")
    tree = here.tree()
    (here.folder / "a").unlink()
    write(here.folder, "a/inner")
    repository(here.folder / "a")
    with pytest.raises(StoreError, match="a repository: a"):
        here.restore(tree)
    assert (here.folder / "a" / "inner").exists()


def test_a_missing_or_damaged_tree_is_not_restored(here):
    write(here.folder, "a")
    tree = here.tree()
    with pytest.raises(StoreError, match="missing or damaged"):
        here.restore("0" * 64)
    blob = here.files.git("rev-parse", f"{tree}:a").decode().strip()
    file = object_file(here.files, blob)
    file.chmod(0o600)
    file.write_bytes(b"damaged")
    with pytest.raises(StoreError, match="missing or damaged"):
        here.restore(tree)
    assert (here.folder / "a").read_bytes() == b"x"


def test_the_recorded_folder_is_the_top_of_the_working_tree(here):
    repository(here.folder)
    write(here.folder, "sub/file")
    tree = tree_around(str(here.folder / "sub"))
    assert tree is not None and tree.top == str(here.folder)
    assert tree_around(str(here.home)) is None
