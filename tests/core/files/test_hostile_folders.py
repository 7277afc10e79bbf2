"""Folders with what git waits for, refuses or cannot read: all the rest is recorded."""

import os
import socket
import stat
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.files.recorded import Recorder, content_of, empty, repository, write

from uwf_core.escape import in_line
from uwf_core.files.hazards import is_refused

READ_BY_GIT = (".gitignore", ".gitattributes", ".gitmodules", ".mailmap")
SPELLINGS = st.sampled_from([".GIT", ".Git", ".gIt", ".g\u200cit", "\ufeff.git", ".giT\u200e"])
NAMES = st.one_of(
    SPELLINGS,
    st.sampled_from(["git~1", "GIT~1", ".git ", ".git.", ".git::$INDEX_ALLOCATION", "con", "a\nb"]),
    st.text(
        st.characters(blacklist_characters="/\0", blacklist_categories=("Cs",)), min_size=1
    ).filter(
        lambda name: name not in (".", "..", ".git", *READ_BY_GIT) and len(name.encode()) < 99
    ),
)
KINDS = st.sampled_from(["file", "folder", "pipe", "socket", "closed", "link"])


def make(place: Path, kind: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "socket":
        os.mknod(place, stat.S_IFSOCK | 0o600)
    elif kind == "folder":
        place.mkdir()
        (place / "inside").write_text("x")
    elif kind == "link":
        place.symlink_to("nowhere")
    else:
        place.write_text("x")
        if kind == "closed":
            place.chmod(0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    entries=st.dictionaries(
        st.tuples(st.sampled_from(["", "a", "a/b"]), NAMES), KINDS, min_size=1, max_size=6
    )
)
def test_what_cannot_be_recorded_is_named_and_all_else_is_recorded(
    tmp_path_factory, monkeypatch, entries
):
    root = tmp_path_factory.mktemp("here")
    monkeypatch.setenv("HOME", str(root / "user"))
    here = Recorder(root)
    write(here.folder, "work.txt")
    left_out = set()
    for (folder, name), kind in entries.items():
        place = here.folder / folder / name
        if place.exists() or place.is_symlink() or not is_folder_or_missing(place.parent):
            continue
        make(place, kind)
        unreadable = kind == "closed" and not os.access(place, os.R_OK)
        if is_refused(os.fsencode(name)) or kind in ("pipe", "socket") or unreadable:
            left_out.add(os.fsencode(os.path.join(folder, name)))
    found = here.record()
    assert found["tree"], found["reason"]
    wanted = {
        path
        for path in content_of(here.folder)
        if not any(path == each or path.startswith(each + b"/") for each in left_out)
    }
    assert here.paths() == wanted
    assert bool(found["reason"]) is bool(left_out)
    for each in left_out:
        assert in_line(os.fsdecode(each)) in found["reason"] or "more" in found["reason"]
    assert here.record() == found, "a second snapshot of the same folder differs"


def is_folder_or_missing(place: Path) -> bool:
    return place.is_dir() or not os.path.lexists(place)


def to_a_pipe(place: Path) -> None:
    os.mkfifo(place)


def to_a_link(place: Path) -> None:
    os.mkfifo(place.with_name("pipe"))
    place.symlink_to("pipe")


def to_a_device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def to_a_huge_file(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(1 << 40)


HOSTILE = [to_a_pipe, to_a_link, to_a_device, to_a_huge_file]


@pytest.mark.parametrize("change", HOSTILE)
@pytest.mark.parametrize("depth", ["", "a/b"])
@pytest.mark.parametrize("name", READ_BY_GIT)
def test_a_file_that_git_reads_is_looked_at_before_git_starts(here, name, depth, change):
    write(here.folder, os.path.join(depth, "work.txt"))
    change(here.folder / depth / name)
    begin = time.monotonic()
    found = here.record()
    assert time.monotonic() - begin < 20
    assert found["tree"] is None
    assert name in found["reason"]
    (here.folder / depth / name).unlink()
    assert here.tree()


@pytest.mark.parametrize("change", HOSTILE)
@pytest.mark.parametrize("nested", ["", "inner"])
@pytest.mark.parametrize("name", ["info/exclude", "config", "HEAD", "refs/heads/main", "commondir"])
def test_a_repository_whose_own_files_git_would_not_stop_reading_holds_nothing_up(
    here, name, nested, change
):
    write(here.folder, "work.txt")
    top = repository(here.folder / nested, commit=False)
    place = top / ".git" / name
    place.unlink(missing_ok=True)
    change(place)
    begin = time.monotonic()
    found = here.record()
    assert time.monotonic() - begin < 20
    assert found["tree"] or name in found["reason"]


def test_a_path_that_git_refuses_for_any_other_reason_is_left_out_alone(here, monkeypatch):
    for number in range(40):
        write(here.folder, f"many/{number}", b"%d" % number)
    program = here.home.parent / "git"
    program.write_text(REFUSES)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    found = here.record()
    assert found["reason"] == "many/17 (error: many/17: no)"
    assert found["files"] == 39
    assert b"many/17" not in here.paths()
    assert len(here.paths()) == 39


REFUSES = """#!/usr/bin/env python3
import os, sys
words = sys.argv[1:]
if "update-index" in words and "--add" in words:
    names = sys.stdin.buffer.read()
    if b"many/17\\0" in names:
        sys.exit("error: many/17: no")
    sys.stdin = None
    read, write = os.pipe()
    os.write(write, names)
    os.close(write)
    os.dup2(read, 0)
path = [each for each in os.environ["PATH"].split(":") if each != os.path.dirname(__file__)]
os.environ["PATH"] = ":".join(path)
os.execvp("git", ["git", *words])
"""


def test_a_recorded_file_that_becomes_a_pipe_is_left_out_and_comes_back(here):
    write(here.folder, "a")
    write(here.folder, "b")
    first = here.tree()
    (here.folder / "a").unlink()
    os.mkfifo(here.folder / "a")
    found = here.record()
    assert here.paths() == {b"b"}
    assert found["reason"] == "a (a named pipe)"
    (here.folder / "a").unlink()
    write(here.folder, "a")
    assert here.tree() == first


def test_what_is_not_recorded_survives_a_restore(here):
    write(here.folder, "a")
    write(here.folder, ".GIT/config")
    tree = here.tree()
    empty(here.folder)
    write(here.folder, ".GIT/config", b"mine")
    here.restore(tree)
    assert content_of(here.folder) == {b"a": ("file", b"x"), b".GIT/config": ("file", b"mine")}


def test_a_socket_of_a_program_is_named(here):
    write(here.folder, "a")
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(here.folder)
        listening.bind("s")
        assert here.record()["reason"] == "s (a socket)"
