"""The clauses about the place of a store: its URL, its files, its errors, its threads."""

import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import pytest

from uwf_core.api.store import StoreBackend
from uwf_core.errors import StoreError, UwfError
from uwf_testing.contract import needs
from uwf_testing.store_fixtures import Another, StoreFixtures
from uwf_testing.store_records import holder, opened, record, variable


class PlaceClauses(StoreFixtures):
    """A store is at its URL, only its user can read it, and any thread can use it."""

    other_url: ClassVar[str | None] = None
    """The URL of another store; by default `url` with a `2` at the end."""

    @needs(capability="persistent")
    def test_another_url_is_another_store(self, backend: StoreBackend, tmp_path: Path) -> None:
        """What was stored under one URL is not found under another one."""
        backend.put(record("one"))
        backend.set_variable(variable("@uwf/a"), None)
        try:
            other = opened(self.spec, self.other_url or f"{self.url}2", str(tmp_path))
        except StoreError:
            pytest.skip("it has no store at another URL; set `other_url`")
        try:
            assert other.get(record("one").ref) is None, "the URL is ignored"
            assert other.variables("") == []
        finally:
            other.close()

    @needs(capability="persistent")
    def test_only_the_user_can_read_its_files(self, another: Another, tmp_path: Path) -> None:
        """No file that the store creates below the home folder is open to other users, whatever
        the umask: a store holds conversations.
        """
        before = os.umask(0o022)
        try:
            backend = another()
            _write_all_kinds(backend)
            public = sorted(_open_to_others(tmp_path))
        finally:
            os.umask(before)
        assert not public, f"other users can read {', '.join(public)}"

    @needs(capability="persistent")
    def test_every_error_is_a_store_error(self, tmp_path: Path) -> None:
        """A place that cannot be used is a `StoreError` with the place and how to fix it, not an
        error of the system or of a library.
        """
        home = tmp_path / "a file instead of a folder"
        home.write_text("", encoding="utf-8")
        try:
            backend = opened(self.spec, self.url, str(home))
            backend.put(record("one"))
        except UwfError as error:
            assert error.where, f"the error does not name the place: {error}"
            assert error.hint, f"the error has no hint: {error}"
        except Exception as error:
            pytest.fail(f"it raises {type(error).__name__}, not a StoreError: {error}")
        else:
            backend.close()  # it keeps nothing below the home folder

    def test_any_thread_can_use_it(self, backend: StoreBackend) -> None:
        """Calls come from several threads, one call after the other."""
        backend.put(record("here"))
        with ThreadPoolExecutor(1) as thread:
            thread.submit(_write_all_kinds, backend).result()
            assert thread.submit(backend.get, record("here").ref).result() == record("here")
        assert backend.get(record("there").ref) == record("there")
        assert backend.variable("@uwf/a") == variable("@uwf/a")
        assert backend.holder("@uwf/a") == holder()


def _write_all_kinds(backend: StoreBackend) -> None:
    """Write a record, a variable and a lock."""
    with backend.transaction():
        backend.put(record("there"))
        backend.set_variable(variable("@uwf/a"), None)
    assert backend.lock("@uwf/a", holder()) is not None


def _open_to_others(root: Path) -> Iterator[str]:
    """The files that other users could read: themselves and all folders up to `root` are open."""
    for file in root.rglob("*"):
        between = [file, *(each for each in file.parents if each.is_relative_to(root / "."))]
        below = [each for each in between if each != root]
        if file.is_file() and all(stat.S_IMODE(each.stat().st_mode) & 0o077 for each in below):
            yield file.relative_to(root).as_posix()
