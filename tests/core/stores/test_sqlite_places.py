"""Where a store may be, and what is no store of ours."""

import contextlib
import os
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from uwf_core.api.store import Holder
from uwf_core.errors import (
    BusyError,
    PluginError,
    StoreError,
    StoreVersionError,
)
from uwf_core.stores import database
from uwf_core.stores.locks import WaitingConnection
from uwf_core.stores.open import open_backend

HOLDER = Holder(1, "start", "host", 2)


def foreign(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE mine (a)")


def from_the_future(path):
    of_version(path, database.VERSION + 1)


def from_the_past(path):
    of_version(path, database.VERSION - 1)


def of_version(path, version):
    store = open_backend(f"sqlite:{path}", str(path.parent))
    with store.transaction():
        pass
    store.close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda path: path.write_text("# my notes\n" * 100), StoreError, "not an SQLite"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"\0" * 500), StoreError, None),
        (foreign, StoreError, "not a store of uwf"),
        (from_the_future, StoreVersionError, "newer uwf"),
        (from_the_past, StoreVersionError, "older uwf"),
        (lambda path: path.mkdir(), StoreError, "is a folder"),
    ],
    ids=["text", "torn", "foreign", "future", "past", "folder"],
)
def test_what_is_no_store_of_ours_is_refused_and_left_as_it_is(
    open_store, tmp_path, make, error, message
):
    path = tmp_path / "store.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    store = open_store()
    for use in (lambda: store.has("0" * 13), lambda: store.put_text("x"), store.held):
        if use == store.held:
            assert use() == {}
            continue
        with pytest.raises(error, match=message) as refused:
            use()
        assert refused.value.where == str(path)
        assert refused.value.hint
    assert (path.read_bytes() if path.is_file() else None) == before


def test_an_empty_file_becomes_a_store(open_store, tmp_path):
    (tmp_path / "store.db").touch()
    store = open_store()
    assert not store.has("0" * 13)
    assert store.text(store.put_text("x")) == "x"


def test_reading_makes_nothing_and_a_store_that_comes_to_be_is_seen(open_store, tmp_path):
    store = open_store()
    assert store.variables("@uwf/") == []
    assert store.variable("@uwf/a") is None
    assert store.find("", 5) == []
    assert list(store.edges()) == []
    assert store.held() == {}
    assert store.holder("@uwf/a") is None
    assert list(tmp_path.iterdir()) == []
    ref = open_store().put_text("x")
    assert store.has(ref)


def test_a_missing_folder_is_made_within_the_home_and_nowhere_else(open_store, tmp_path):
    home = tmp_path / "home"
    for url in ("sqlite:store.db", "sqlite:a/b/store.db"):
        assert open_store(url, home).put_text("x")
    for folder in (home, home / "a", home / "a" / "b"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    elsewhere = open_store(f"sqlite:{tmp_path}/unmounted/store.db", home)
    for use in (lambda: elsewhere.has("0" * 13), lambda: elsewhere.put_text("x")):
        with pytest.raises(StoreError, match="does not exist") as refused:
            use()
        assert "mkdir" in refused.value.hint
    assert not (tmp_path / "unmounted").exists()


def test_what_is_stored_is_for_its_owner_alone(open_store, tmp_path):
    before = os.umask(0)
    try:
        store = open_store()
        store.put_text("x")
        store.lock("@uwf/a", HOLDER)
    finally:
        os.umask(before)
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_what_a_killed_first_opening_left_is_no_hindrance(open_store, tmp_path):
    for ending in ("", "-wal", "-shm", "-journal"):
        (tmp_path / f"store.db.new{ending}").write_bytes(b"half a store")
    store = open_store()
    assert store.text(store.put_text("x")) == "x"
    assert not list(tmp_path.glob("store.db.new*"))


def test_a_removed_store_is_made_anew_without_the_log_of_the_old_one(open_store, tmp_path):
    store = open_store()
    old = store.put_text("old")
    store.close()
    (tmp_path / "store.db").unlink()
    again = open_store()
    new = again.put_text("new")
    assert again.has(new)
    assert not again.has(old)
    assert (tmp_path / "store.db-wal.orphan").exists()


@pytest.mark.parametrize("name", ["a b", "50%", "what?", "#1", "ä", "it's", "a&mode=memory"])
def test_a_path_may_hold_any_character(open_store, tmp_path, name):
    store = open_store(f"sqlite:{name}/{name}.db")
    ref = store.put_text("x")
    store.close()
    assert (tmp_path / name / f"{name}.db").is_file()
    assert open_store(f"sqlite:{name}/{name}.db").has(ref)


def test_a_url_that_names_no_store_is_refused(tmp_path):
    for url, error in (
        ("", StoreError),
        ("store.db", StoreError),
        ("sqlite:", StoreError),
        ("sqlite::memory:", StoreError),
        ("postgresql://host/db", PluginError),
    ):
        with pytest.raises(error) as refused:
            open_backend(url, str(tmp_path))
        assert refused.value.hint


def test_a_writer_that_never_ends_is_waited_for_and_then_named(open_store, tmp_path, monkeypatch):
    monkeypatch.setattr(WaitingConnection, "busy_seconds", 0.1)
    store = open_store()
    store.put_text("x")
    store.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError) as refused:
            store.put_text("y")
        assert refused.value.where == str(tmp_path / "store.db")
        assert store.find("", 9)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_name_of_a_new_store_is_on_the_disk_before_anything_is_stored(tmp_path, monkeypatch):
    """SQLite syncs the folder later, for its log: that is its own affair."""
    synced, right = [], os.fsync

    def fsync(descriptor):
        names = sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".lock")
        synced.append((Path(f"/proc/self/fd/{descriptor}").readlink().name, names))
        right(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    backend = open_backend("sqlite:store.db", str(tmp_path))
    with backend.transaction():
        pass
    backend.close()
    assert (tmp_path.name, ["store.db"]) in synced
