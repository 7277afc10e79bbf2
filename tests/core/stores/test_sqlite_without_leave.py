"""No leave to write, no room on the disk: what is stored stays readable."""

import contextlib
import json
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from uwf_core.api.store import Holder
from uwf_core.errors import StoreError


def settled(path):
    """Copy the log into the file, as a long-lived process would; only the file is left."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


WITHOUT_LEAVE = """
import json, os, sys
from uwf_core.cas.store import Store
from uwf_core.errors import UwfError
from uwf_core.stores.open import open_backend
import uwf_core.stores.sqlite
warm = Store(open_backend("memory:", ""), lambda: 1)
warm.text(warm.put_text("x")); warm.set_variable("@uwf/a", warm.find("", 1)[0], {"a": "b"}, None)
if os.getuid() == 0:
    os.setuid(65534)
path = sys.argv[1]
store = Store(open_backend("sqlite:" + path, os.path.dirname(path)), lambda: 1)
answers = []
for use in (lambda: [store.text(v.value) for v in store.variables("@uwf/")], lambda: store.held(),
            lambda: store.put_text("new"), lambda: store.lock("@uwf/a", (1, "s", "h", 2)) and 0):
    try:
        answers.append(use())
    except UwfError as error:
        answers.append([type(error).__name__, error.message, error.where, error.hint])
print(json.dumps(answers))
"""


@pytest.fixture
def public_home():
    """A folder that another user can reach."""
    home = Path(tempfile.mkdtemp())
    home.chmod(0o755)
    yield home
    home.chmod(0o755)
    shutil.rmtree(home)


def without_leave(path):
    argv = [sys.executable, "-c", WITHOUT_LEAVE, str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("log", ["with a log", "without one"])
def test_reading_needs_no_leave_to_write(open_store, public_home, log):
    store = open_store(home=public_home)
    store.set_variable("@uwf/a", store.put_text("hello"), {"status": "idle"}, None)
    store.close()
    if log == "without one":
        settled(public_home / "store.db")
    for file in public_home.iterdir():
        file.chmod(0o444)
    public_home.chmod(0o555)
    before = {file.name: file.read_bytes() for file in public_home.iterdir()}
    texts, held, put, lock = without_leave(public_home / "store.db")
    assert texts == ["hello"]
    assert held == {}
    for kind, message, where, hint in (put, lock):
        assert kind == "StoreError"
        assert "read-only" in message or "lock file" in message
        assert where.startswith(str(public_home))
        assert "permission" in hint or "writable" in hint
    assert {file.name: file.read_bytes() for file in public_home.iterdir()} == before


def test_a_folder_without_permission_is_named(open_store, public_home):
    open_store(home=public_home).put_text("hello")
    public_home.chmod(0o000)
    for answer in without_leave(public_home / "store.db"):
        assert answer[0] == "StoreError"
        assert answer[2].startswith(str(public_home))
        assert answer[3]


def overfill(store):
    """Put until the disk is full; what was acknowledged."""
    refs = []
    with pytest.raises(StoreError) as refused:
        for number in range(10_000):
            refs.append(store.put_text(f"{number} " * 5000))
    assert refused.value.hint
    return refs


def check_after_the_disk_was_full(store, open_store, home):
    for each in (store, open_store(home=home)):
        assert each.text(each.variable("@uwf/a").value) == "before"
        assert each.variables_lenient("@uwf/")[1] == []


def test_a_full_disk_leaves_everything_readable(open_store, tmp_path):
    """On a small disk of its own, where the machine lets us have one."""
    home = tmp_path / "small"
    home.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1500k,mode=0700", "tmpfs", str(home)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no small disk: {error}")
    try:
        store = open_store(home=home)
        store.set_variable("@uwf/a", store.put_text("before"), {}, None)
        refs = overfill(store)
        again = open_store(home=home)
        assert again.present(refs) == set(refs)
        assert all(again.text(ref) for ref in refs)
        with contextlib.suppress(OSError):
            (home / "filler").write_bytes(b"x" * 2_000_000)
        check_after_the_disk_was_full(store, open_store, home)
        store.close()
        check_after_the_disk_was_full(open_store(home=home), open_store, home)
    finally:
        subprocess.run(["umount", "--lazy", str(home)], check=True)


def test_a_limit_on_the_size_of_files_leaves_everything_readable(open_store, tmp_path):
    store = open_store()
    store.set_variable("@uwf/a", store.put_text("before"), {}, None)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limits[1]))
    try:
        refs = overfill(store)
        check_after_the_disk_was_full(store, open_store, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    again = open_store()
    assert all(again.text(ref) for ref in refs)
    assert again.text(again.put_text("there is room again")) == "there is room again"


def test_a_lock_whose_holder_cannot_be_recorded_is_not_held(open_store, tmp_path):
    """Else a program that goes on after a full disk could never run that thread again."""
    store = open_store()
    store.put_text("there is a store")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limits[1]))
    try:
        with pytest.raises(StoreError):
            store.lock("@uwf/a", Holder(1, "start", "host", 2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert open_store().holder("@uwf/a") is None
    store.lock("@uwf/a", Holder(1, "start", "host", 2)).release()
