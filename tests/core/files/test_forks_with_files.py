"""`step diff`, and forks that work in a copy of the files as they were after a step."""

from pathlib import Path

import pytest
from tests.core.files.recorded import TWICE, content_of, git, object_file, run, write

from uwf_core.files.repository import find_repository


def test_the_difference_of_a_step_names_each_changed_path(twice):
    first, second = run(twice)
    found = twice.uwf("step", "diff", first).document
    assert [(each["path"], each["kind"]) for each in found["files"]] == [
        ("count", "added"),
        ("file", "modified"),
        ("new", "added"),
        ("old", "deleted"),
        ("renamed", "added"),
        ("run", "mode"),
    ]
    assert found["files"][1]["sizeBefore"] == len("begin\n")
    text = twice.uwf("step", "diff", second, "--format", "text").stdout
    assert text.splitlines()[:5] == [
        "modified count (2 bytes -> 4 bytes)",
        "modified file (4 bytes -> 4 bytes)",
        "deleted  new (5 bytes)",
        "3 files changed",
        "",
    ]
    assert "\n-one\n+two\n" in text
    stat = twice.uwf("step", "diff", second, "--stat", "--format", "text").stdout
    assert stat == "".join(f"{line}\n" for line in text.splitlines()[:4])
    shown = twice.uwf("step", "show", second, "--format", "text").stdout
    assert f"next: uwf step diff {second}" in shown


@pytest.mark.parametrize("named", [False, True])
def test_a_fork_with_files_works_in_the_folder_as_it_was(twice, named):
    first, second = run(twice)
    before = content_of(twice.folder)
    words = ("--with-files", "../copy") if named else ("--with-files",)
    forked = twice.uwf("thread", "fork", first, *words)
    assert forked.exit_code == 0, forked.stderr
    shown = twice.uwf("thread", "show", forked.document["thread"]).document
    folder = Path(shown["cwd"])
    assert named == (folder == twice.folder.parent / "copy")
    assert (folder / "file").read_bytes() == b"one\n"
    assert (folder / "new").exists() and (folder / "run").stat().st_mode & 0o100
    twice.trust(folder)
    done = twice.uwf("thread", "exec", shown["thread"], "--until-done")
    assert done.exit_code == 0, done.stderr
    again = done.document["steps"][-1]["step"]
    assert (
        twice.uwf("step", "diff", again).document["after"]
        == (twice.uwf("step", "diff", second).document["after"])
    )
    assert content_of(twice.folder) == before
    if (twice.folder / ".git").exists():
        assert git(folder, "branch", "--show-current") == f"uwf/{shown['thread']}"


def test_a_fork_needs_recorded_files_and_an_empty_folder(twice):
    first, _ = run(twice)
    full = twice.uwf("thread", "fork", first, "--with-files", str(twice.folder))
    assert full.exit_code == 2 and "is not empty" in full.error["message"]
    twice.workflow("twice", TWICE.replace("record: true\n", ""))
    write(twice.folder, "old")
    plain, *_ = run(twice)
    none = twice.uwf("thread", "fork", plain, "--with-files", "../copy")
    assert none.exit_code == 2 and "has no recorded files" in none.error["message"]
    assert not (twice.folder.parent / "copy").exists()
    assert twice.uwf("step", "diff", plain).exit_code == 2


def test_a_fork_that_cannot_be_restored_leaves_nothing(twice):
    first, _ = run(twice)
    tree = twice.uwf("step", "diff", first).document["after"]
    files = find_repository(str(twice.home))
    assert files is not None
    object_file(files, tree).unlink()
    before = content_of(twice.folder)
    failed = twice.uwf("thread", "fork", first, "--with-files", "../copy")
    assert failed.exit_code == 1 and "missing or damaged" in failed.error["message"]
    assert not (twice.folder.parent / "copy").exists() and content_of(twice.folder) == before
    if (twice.folder / ".git").exists():
        assert git(twice.folder, "branch", "--format=%(refname:short)") == "main"
