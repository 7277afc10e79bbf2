"""What happens to the record of files when there is much of it, or when something is damaged."""

import hashlib
import os
import shutil
import threading
import time
from pathlib import Path

import pytest
from tests.core.files.recorded import THREAD, content_of, empty, write

from uwf_core.errors import StoreError
from uwf_core.files import freeing, snapshot
from uwf_core.files.incoming import incoming
from uwf_core.files.keeping import collect, forget
from uwf_core.files.restore import has_tree

BLOB_OF_A = hashlib.sha256(b"blob 1\0a").hexdigest()


@pytest.mark.parametrize("damage", ["index", "note", "objects", "lock"])
def test_a_damaged_index_or_a_lost_object_is_made_again(here, damage):
    write(here.folder, "a")
    write(here.folder, "b/c")
    tree = here.tree()
    index = next(each for each in Path(here.files.path, "indexes").rglob(THREAD))
    if damage == "objects":
        empty(Path(here.files.packs))
        here.files.git("update-ref", "-d", f"refs/threads/{THREAD}")
        write(here.folder, "b/d")
        (here.folder / "b/d").unlink()
        write(here.folder, "new")
        assert here.tree() != tree
        return
    if damage == "lock":
        index.with_name(index.name + ".lock").write_bytes(b"")
        write(here.folder, "new")
        assert here.tree() != tree
        return
    file = index if damage == "index" else index.with_name(index.name + ".json")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert here.tree() == tree


def test_where_the_index_of_a_pack_is_damaged_no_sound_file_is_left_out(here):
    """Git dies as it looks in the pack for the content of `b`, as if `b` could not be recorded."""
    for name in ("a", *map(str, range(40))):
        write(here.folder, name, name.encode())
    here.tree()
    index = max(Path(here.files.packs).glob("*.idx"), key=lambda file: file.stat().st_size)
    data, count = bytearray(index.read_bytes()), 41
    number = (data.index(bytes.fromhex(BLOB_OF_A)) - 8 - 4 * 256) // 32
    begin = len(data) - 64 - 4 * (count - number)  # where the pack has it
    data[begin : begin + 4] = b"\xff" * 4
    index.chmod(0o600)
    index.write_bytes(data)
    write(here.folder, "b", b"a")
    found = here.record()
    assert found["tree"] is None
    assert index.name in found["reason"]
    assert "uwf cas verify" in found["reason"]


def test_a_folder_with_too_many_files_is_given_up_while_it_is_listed(here, monkeypatch):
    for number in range(5):
        write(here.folder, str(number))
    monkeypatch.setattr(snapshot, "MOST_FILES", 3)
    assert str(here.record()["reason"]).startswith("there are more than 3 files")
    assert not [*Path(here.files.objects).rglob("*.pack")]


def test_many_files_and_large_ones_become_packs(here):
    for number in range(40):
        write(here.folder, f"many/{number}", b"%d\r\n" % number)
    write(here.folder, "large", b"0123456789abcdef" * 2_500_000, mode=0o755)
    before, tree = content_of(here.folder), here.tree()
    assert here.files.git("count-objects").split()[0] == b"0"
    empty(here.folder)
    here.restore(tree)
    assert content_of(here.folder) == before


def test_small_packs_are_joined_and_no_tree_is_lost(here, monkeypatch):
    monkeypatch.setattr(freeing, "_MOST_PACKS", 3)
    trees = {}
    for number in range(9):
        write(here.folder, "a", str(number).encode())
        trees[here.tree()] = content_of(here.folder)
    assert len([*Path(here.files.packs).glob("*.pack")]) <= 4
    for tree, content in trees.items():
        here.restore(tree)
        assert content_of(here.folder) == content


GIT_THAT_GOES_ON = """#!/bin/sh
case "$*" in *" repack "* | *" prune "*) sleep 1 <&- >&- 2>&- & ;; esac
exec {git} "$@"
"""


@pytest.mark.parametrize("command", ["repack", "prune", "geometric"])
def test_nobody_records_while_the_git_of_a_killed_collection_deletes(
    here, tmp_path, monkeypatch, command
):
    write(here.folder, "a")
    here.tree()
    if command == "repack":
        forget(str(here.home), [THREAD])
    (tmp_path / "bin").mkdir()
    git = tmp_path / "bin" / "git"
    git.write_text(GIT_THAT_GOES_ON.format(git=shutil.which("git")))
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    if command == "geometric":
        monkeypatch.setattr(freeing, "_MOST_PACKS", 0)
        freeing.join_packs(here.files)
    else:
        collect(str(here.home), [THREAD], time.time_ns() // 1_000_000 + 2_000, dry_run=False)
    with pytest.raises(BlockingIOError), here.files.lock(wait=False):
        pass
    with here.files.lock():  # it has ended
        pass


def test_a_file_that_changes_while_it_is_read_is_recorded_whole_or_not_at_all(here):
    ended = threading.Event()

    def change() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            write(here.folder, "log", b"%d\n" % number * (number % 7 * 40_000))

    writer = threading.Thread(target=change)
    writer.start()
    try:
        found = [here.record() for _ in range(8)]
    finally:
        ended.set()
        writer.join()
    for each in found:
        assert each["reason"] if each["tree"] is None else has_tree(here.files, each["tree"])
    tree, content = here.tree(), content_of(here.folder)
    empty(here.folder)
    here.restore(tree)
    assert content_of(here.folder) == content


def test_what_git_began_and_left_of_a_file_that_changed_is_no_object(here):
    write(here.folder, "a")
    here.tree()
    with incoming(here.files) as new:
        name = new.add_commit("0" * 64, None)
        write(Path(new.path), f"{name[:2]}/tmp_obj_x")
        write(Path(new.path), "pack/tmp_pack_x")
        new.keep()
    assert here.files.git("cat-file", "-t", name).strip() == b"commit"
    assert not [each for each in os.listdir(here.files.packs) if "tmp" in each]


def test_nobody_else_may_read_what_is_recorded(here):
    old = os.umask(0o022)
    try:
        write(here.folder, "a")
        here.tree()
        write(here.folder, "b")
        here.tree()
    finally:
        os.umask(old)
    modes = {each: each.stat().st_mode & 0o077 for each in here.home.rglob("*")}
    assert not any(modes.values()), modes


def test_damaged_attributes_change_no_bytes(here):
    write(here.folder, "crlf.txt", b"one\r\n")
    write(here.folder, ".gitattributes", b"* text eol=lf\n")
    before, tree = content_of(here.folder), here.tree()
    Path(here.files.path, "info", "attributes").write_text(
        "* -text -eol -filtex\n".replace("-", "+")
    )
    empty(here.folder)
    here.restore(tree)
    assert content_of(here.folder) == before


def test_a_damaged_index_hides_no_change(here):
    write(here.folder, "a", b"one")
    here.tree()
    index = next(each for each in Path(here.files.path, "indexes").rglob(THREAD))
    data = bytearray(index.read_bytes())
    data[12 + 72] |= 0x80  # git would take the file for unchanged
    index.write_bytes(data)
    write(here.folder, "a", b"two")
    blob = here.files.git("cat-file", "blob", f"{here.tree()}:a")
    assert blob == b"two"


def test_a_damaged_reference_stops_a_collection_and_goes_with_its_thread(here):
    write(here.folder, "a")
    tree = here.tree()
    Path(here.files.path, "refs/threads", THREAD).write_bytes(b"\xb3damaged")
    write(here.folder, "b")
    assert here.record()["reason"] == f"refs/threads/{THREAD} is damaged"
    later = int(time.time() * 1000) + 10_000
    with pytest.raises(StoreError, match="cannot be collected"):
        collect(str(here.home), [THREAD], later, dry_run=False)
    assert has_tree(here.files, tree)
    forget(str(here.home), [THREAD])
    assert collect(str(here.home), [], later, dry_run=False) > 0
