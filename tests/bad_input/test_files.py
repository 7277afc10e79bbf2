"""Files that are missing, broken, hostile or not ours to read."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from refusals import Answer, World, check_refused
from rig import DONE, GOOD, LOOP
from tests.beside import beside
from tests.store_file import opened_store

NOBODY = 65534
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)
WORKFLOWS: dict[str, bytes] = {
    "broken": b"version: 1\nname: [unclosed\nroles: {\n",
    "tabs": b"version: 1\n\tname: x\n",
    "not-utf-8": b"version: 1\nname: caf\xe9\n",
    "nul": b"version: 1\nname: a\0b\n",
    "bomb": BOMB.encode(),
    "deep": b"x: " + b"[" * 60_000,
    "deep-blocks": b"".join(b" " * n + b"a:\n" for n in range(500)),
    "huge": b"# " + b"x" * (2 << 20) + b"\nversion: 1\n",
    "empty": b"",
    "a-list": b"- 1\n- 2\n",
    "a-number": b"42\n",
    "wrong-types": b"version: x\nname: 5\nroles: []\ngraph: no\n",
    "tag": b"!!python/object/apply:os.system ['touch /tmp/owned']\n",
    "twice": LOOP.encode() + b"name: loop\n",
    "two-documents": b"---\na: 1\n---\nb: 2\n",
    "binary": bytes(range(256)) * 40,
    "unknown-role": LOOP.replace("role: checker", "role: chekcer").encode(),
}


@pytest.fixture(autouse=True, scope="module")
def files(world: World) -> None:
    for name, data in WORKFLOWS.items():
        (world.folder / f"{name}.yaml").write_bytes(data)
    (world.folder / "folder.yaml").mkdir()
    (world.folder / "gone.yaml").symlink_to("nowhere.yaml")
    (world.folder / "circle.yaml").symlink_to("circle.yaml")


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_broken_workflow_is_refused_by_every_command_with_all_its_faults(
    world: World, name: str
) -> None:
    file = f"./{name}.yaml"
    for words in (("workflow", "add", file), ("thread", "start", file, "-p", "x")):
        error = world.refuse(4, "invalid-definition", *words)
        assert error["problems"]
        for problem in error["problems"]:
            assert problem["file"].endswith(file[2:])
            assert problem["line"] >= 1
            assert problem["column"] >= 1
            assert problem["message"]
    before = world.state()
    checked = world.call("workflow", "check", file)
    assert checked.exit_code == 4
    assert '"valid": false' in checked.stdout
    assert world.state() == before


@pytest.mark.parametrize("name", ["missing", "folder", "gone", "circle"])
def test_a_workflow_file_that_cannot_be_read_is_named(world: World, name: str) -> None:
    for command in ("add", "check"):
        before = world.state()
        answer = world.call("workflow", command, f"{name}.yaml")
        assert answer.exit_code in (2, 4), answer
        assert f"{name}.yaml" in answer.stdout + answer.stderr
        assert "Traceback" not in answer.stderr
        assert world.state() == before


CONFIGS: dict[str, bytes] = {
    "broken": b"agents: {\n",
    "unknown-key": b"defaultAgnet: mock\n",
    "wrong-type": b"limits: 5\n",
    "wrong-number": b"limits: {runSeconds: -3}\n",
    "not-utf-8": b"defaultAgent: caf\xe9\n",
    "bomb": BOMB.encode(),
    "deep": b"agents: " + b"[" * 60_000,
    "a-list": b"- 1\n",
    "no-command": b"agents: {x: {}}\n",
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_broken_configuration_is_an_error_with_its_place(world: World, name: str) -> None:
    file = world.home / "config.yaml"
    file.write_bytes(CONFIGS[name])
    try:
        for words in (
            ("thread", "exec", world.threads["idle"]),
            ("thread", "start", "loop", "-p", "x"),
            ("thread", "list"),
            ("config", "set", "defaultAgent", "mock"),
        ):
            error = world.refuse(2, "config", *words)
            assert str(file) in str(error["where"])
        assert world.call("config", "path").exit_code == 0
        assert "Traceback" not in world.call("doctor", env={"UWF_BLOCK_PLUGINS": beside()}).stderr
    finally:
        file.unlink()


def test_a_configuration_that_is_a_folder_is_an_error(rig: World) -> None:
    (rig.home / "config.yaml").mkdir(parents=True)
    rig.refuse(2, "config", "thread", "list")


def newer(store: Path) -> None:
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()


def foreign(store: Path) -> None:
    _remove(store)
    connection = sqlite3.connect(store)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()


def no_database(store: Path) -> None:
    _remove(store)
    store.write_bytes(b"dear diary, " * 1000)


def a_folder(store: Path) -> None:
    _remove(store)
    store.mkdir()


def cut(store: Path) -> None:
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with store.open("r+b") as file:
        file.truncate(store.stat().st_size // 2)


def _remove(store: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        store.with_name(store.name + ending).unlink(missing_ok=True)


STORES = {
    newer: "store-version",
    foreign: "store",
    no_database: "store",
    a_folder: "store",
    cut: "corrupt-node",
}


@pytest.mark.parametrize("spoil", STORES, ids=lambda spoil: spoil.__name__)
def test_a_store_that_is_none_of_ours_is_left_as_it_is(
    rig: World, spoil: Callable[[Path], None]
) -> None:
    rig.play(DONE, GOOD)
    thread = rig.start()
    store = rig.home / "store.db"
    spoil(store)
    bytes_before = store.read_bytes() if store.is_file() else b""
    for words in (
        ("thread", "show", thread),
        ("thread", "list"),
        ("thread", "exec", thread),
        ("thread", "start", "loop", "-p", "x"),
        ("run", "loop", "-p", "x"),
    ):
        answer = rig.call(*words)
        check_refused(answer, 1, STORES[spoil])
        assert str(store) in answer.error["where"]
    assert (store.read_bytes() if store.is_file() else b"") == bytes_before


def test_a_store_in_a_folder_that_does_not_exist_is_no_licence_to_make_it(rig: World) -> None:
    rig.config("store: sqlite:/nonexistent/uwf/store.db\n")
    error = rig.refuse(1, "store", "thread", "list")
    assert "mkdir -p /nonexistent/uwf" in error["hint"]


def test_a_home_that_is_a_file_is_an_error(rig: World) -> None:
    file = rig.root / "file"
    file.write_text("mine")
    for words in (("thread", "list"), ("thread", "start", "loop", "-p", "x")):
        answer = rig.call(*words, env={"UWF_HOME": str(file)})
        assert answer.exit_code in (1, 2), answer
        check_refused(answer, answer.exit_code, answer.error["code"])
        assert str(file) in str(answer.error)
    assert file.read_text() == "mine"


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[Callable[..., Answer]]:
    """Calls `uwf` as a user without rights: root is refused nothing."""
    if os.getuid() != 0:
        yield lambda rig, *words: _as_ourselves(rig, words)
        return
    if shutil.which("setpriv") is None:
        pytest.skip("root may read all, and setpriv, for another user, is not installed")
    yield lambda rig, *words: _as_nobody(rig, words)


def _as_ourselves(rig: World, words: tuple[str, ...]) -> Answer:
    return Answer(*rig.uwf(*words))


def _as_nobody(rig: World, words: tuple[str, ...]) -> Answer:
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    own = (rig.folder / ".workflow", rig.home)  # those of another user are refused
    owned = [path for path in own if path.exists()]
    for path in owned:
        os.chown(path, NOBODY, -1)
    done = subprocess.run(
        [*become, *rig.command(*words)],
        cwd=rig.folder,
        env=rig.env,
        capture_output=True,
        text=True,
        check=False,
    )
    for path in owned:
        os.chown(path, 0, -1)
    if "No module named" in done.stderr:
        pytest.skip("another user cannot read this Python")
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def open_rig() -> Iterator[World]:
    """A project where everybody can come in, which pytest's folders do not allow."""
    root = Path(tempfile.mkdtemp(prefix="uwf-open-"))
    root.chmod(0o755)
    rig = World(root)
    rig.play(DONE, GOOD)
    yield rig
    rig.close()
    shutil.rmtree(root)


def test_a_home_that_may_not_be_written_is_an_error_and_can_still_be_read(
    open_rig: World, stranger: Callable[..., Answer]
) -> None:
    thread = open_rig.start()
    for path in (open_rig.home, *open_rig.home.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = open_rig.state()
    shown = stranger(open_rig, "thread", "show", thread)
    assert shown.exit_code == 0, shown
    for words in (("exec", thread), ("start", "loop", "-p", "x"), ("cancel", thread)):
        answer = stranger(open_rig, "thread", *words)
        check_refused(answer, 1, "store")
        assert str(open_rig.home) in answer.error["where"]
    assert open_rig.state() == before


def test_a_home_that_may_not_even_be_read_is_an_error(
    open_rig: World, stranger: Callable[..., Answer]
) -> None:
    thread = open_rig.start()
    open_rig.home.chmod(0o700 if os.getuid() == 0 else 0)
    for words in (("show", thread), ("list",), ("exec", thread), ("start", "loop", "-p", "x")):
        answer = stranger(open_rig, "thread", *words)
        assert answer.exit_code in (1, 2), answer
        check_refused(answer, answer.exit_code, answer.error["code"])
        assert str(open_rig.home) in str(answer.error)
    open_rig.home.chmod(0o700)


def test_where_no_home_can_be_made_it_is_said(
    open_rig: World, stranger: Callable[..., Answer]
) -> None:
    (open_rig.root / "closed").mkdir(mode=0o555)
    open_rig.env["UWF_HOME"] = str(open_rig.root / "closed" / "home")
    assert stranger(open_rig, "thread", "list").exit_code == 0, "there is nothing to list"
    answer = stranger(open_rig, "thread", "start", "loop", "-p", "x")
    check_refused(answer, answer.exit_code, answer.error["code"])
    assert answer.exit_code in (1, 2)
    assert "closed" in str(answer.error)


def test_files_that_may_not_be_read_are_named(
    open_rig: World, stranger: Callable[..., Answer]
) -> None:
    open_rig.start()
    if os.getuid() == 0:
        for path in (open_rig.home, *open_rig.home.rglob("*")):
            os.chown(path, NOBODY, -1)
    secret = open_rig.folder / "secret.yaml"
    secret.write_text(LOOP)
    secret.chmod(0)
    for words, code, exit_code in (
        (("thread", "start", "loop", "-p", f"@{secret}"), "usage", 2),
        (("workflow", "add", str(secret)), None, None),
        (("thread", "start", str(secret), "-p", "x"), None, None),
    ):
        answer = stranger(open_rig, *words)
        assert answer.exit_code == (exit_code or answer.exit_code) != 0, answer
        check_refused(answer, answer.exit_code, code or answer.error["code"])
        assert "secret.yaml" in str(answer.error)
    config = open_rig.config("defaultAgent: mock\n")
    config.chmod(0)
    answer = stranger(open_rig, "thread", "list")
    check_refused(answer, 2, "config")
    assert str(config) in str(answer.error)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[World]:
    """A project whose home lies on a disk of 4 MB."""
    if os.getuid() != 0 or sys.platform != "linux":
        pytest.skip("only root can mount a small disk")
    rig = World(tmp_path)
    rig.home.mkdir(mode=0o700)
    command = ["mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", str(rig.home)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not allow mounts")
    try:
        yield rig
    finally:
        rig.close()
        subprocess.run(["umount", "-l", str(rig.home)], check=True)


def test_a_full_disk_is_said_loses_nothing_and_with_room_again_it_goes_on(
    small_disk: World,
) -> None:
    rig = small_disk
    rig.play({**DONE, "body": "word " * 40_000}, GOOD)
    thread = rig.start()
    filler = rig.home / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(b"x" * 4096)
    for words in (
        ("thread", "exec", thread),
        ("thread", "start", "loop", "-p", "x" * 50_000),
        ("config", "set", "defaultAgent", "mock"),
    ):
        answer = rig.call(*words)
        assert answer.exit_code in (1, 2), answer
        assert "Traceback" not in answer.stderr
        assert answer.stdout == ""
        assert "space" in answer.stderr or "full" in answer.stderr
    shown = rig.call("thread", "show", thread)
    assert shown.exit_code == 0, shown
    assert not (rig.home / "config.yaml").exists()
    filler.unlink()
    done = rig.call("thread", "exec", thread, "--until-done")
    assert done.exit_code == 0, done
    assert rig.show(thread)["status"] == "completed"
    with opened_store(rig.home / "store.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
