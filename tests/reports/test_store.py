"""Stores that were copied or moved: one test for each public report."""

import shlex
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.beside import beside

from uwf_core.process.mounts import kind_in
from uwf_core.testing.project import Project

WORKFLOW = """\
version: 1
name: one
roles:
  writer:
    goal: Write
    frontmatter:
      properties: {$status: {const: done}}
      required: [$status]
graph:
  $START:
    new: {role: writer, prompt: "Write."}
    resume: {role: writer, prompt: "Write again."}
  writer:
    done: {role: $END, prompt: "Done."}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return home_with_a_thread(tmp_path / "first")


def home_with_a_thread(root: Path) -> Project:
    project = Project(root)
    project.workflow("one", WORKFLOW)
    project.script([{"role": "writer", "output": {"$status": "done"}}], repeat=True)
    assert project.uwf("run", "one", "-p", "Go").exit_code == 0
    return project


def copied(project: Project, *names: str) -> Project:
    """The project with a new home that has these files of its home."""
    old, project.home = project.home, project.home.with_name("copy")
    project.home.mkdir(mode=0o700)
    project.env["UWF_HOME"] = str(project.home)
    for name in names:
        shutil.copy(old / name, project.home / name)
    return project


def reports_the_log(project: Project) -> None:
    project.env["UWF_BLOCK_PLUGINS"] = beside()
    for words in (("cas", "verify"), ("store", "check"), ("doctor",)):
        ended = project.uwf(*words, "--format", "text")
        assert ended.exit_code != 0, words
        assert "store.db-wal" in ended.stdout + ended.stderr, words


def test_a_store_without_its_log_is_reported_by_everything_that_judges_it(project: Project) -> None:
    """mmeyerlein/meclaw #60, gem/oq-engine #11752: the copy of the file alone is empty."""
    reports_the_log(copied(project, "store.db"))
    opened = project.uwf("thread", "list", "--all")
    assert "store.db-wal" in opened.stderr
    assert "next: uwf store migrate" in opened.stderr


def grown(project: Project) -> Project:
    """A project whose log was long, was copied into the file, and is short."""
    with project.client() as client, client._engine.store.transaction():
        for number in range(500):
            client._engine.store.put_text(f"{number} " * 3000)
    assert 32 <= (project.home / "store.db-wal").stat().st_size < 2_000_000
    return project


def holds_everything(project: Project, threads: int) -> None:
    for words in (("cas", "verify"), ("store", "check"), ("doctor",)):
        ended = project.uwf(*words)
        assert "store.db-wal" not in ended.stdout + ended.stderr, words
    listed = project.uwf("thread", "list", "--all")
    assert (len(listed.document["threads"]), listed.stderr) == (threads, "")


def test_a_loss_is_remembered_after_the_next_change(project: Project) -> None:
    """mmeyerlein/meclaw #60: a change begins a new log, which does not hide the loss."""
    copied(grown(project), "store.db")
    reports_the_log(project)
    assert project.uwf("run", "one", "-p", "Go").exit_code == 0
    reports_the_log(project)
    assert project.uwf("store", "migrate").exit_code == 0
    for words in (("cas", "verify"), ("store", "check"), ("thread", "list")):
        ended = project.uwf(*words)
        assert (ended.exit_code, ended.stderr) == (0, ""), words


def copied_by_sqlite(source: Path, to: Path) -> None:
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(to)) as new:
        old.backup(new)


def vacuumed_into(source: Path, to: Path) -> None:
    with closing(sqlite3.connect(source)) as old:
        old.execute("VACUUM INTO ?", (str(to),))


def closed_and_copied(source: Path, to: Path) -> None:
    """Another program looks into the store: as the last one it copies the log into the file."""
    with closing(sqlite3.connect(source)) as old:
        assert old.execute("SELECT count(*) FROM node").fetchone()[0] > 1
    assert not source.with_name("store.db-wal").exists()
    shutil.copy(source, to)


@pytest.mark.parametrize("copy", [copied_by_sqlite, vacuumed_into, closed_and_copied])
@pytest.mark.parametrize("is_grown", [False, True])
def test_a_whole_file_without_a_log_is_no_loss(
    project: Project, copy: Callable[[Path, Path], None], is_grown: bool
) -> None:
    """Found while attacking uwf: a backup by SQLite, and a look by `sqlite3 store.db`."""
    store = (grown(project) if is_grown else project).home / "store.db"
    backup = project.home.with_name("backup")
    backup.mkdir(mode=0o700)
    copy(store, backup / "store.db")
    holds_everything(project, 1)
    project.env["UWF_HOME"] = str(backup)
    holds_everything(project, 1)
    assert project.uwf("run", "one", "-p", "Go").exit_code == 0
    holds_everything(project, 2)
    project.home = backup
    reports_the_log(copied(grown(project), "store.db"))


def test_a_process_that_stays_never_leaves_a_file_that_looks_whole(project: Project) -> None:
    """mmeyerlein/meclaw #60: the log is copied into the file also while a server runs."""
    with project.client() as client:
        for number in range(600):
            client._engine.store.put_text(f"{number} " * 3000)
            if number % 100 == 99:
                assert (project.home / "store.db-wal").stat().st_size < 5_000_000
                copy = project.home.with_name(f"copy-{number}")
                copy.mkdir(mode=0o700)
                shutil.copy(project.home / "store.db", copy)
    for copy in project.home.parent.glob("copy-*"):
        project.env["UWF_HOME"] = str(copy)
        assert "store.db-wal" in project.uwf("store", "check").stderr, copy.name


def test_a_link_to_a_store_shares_its_log_and_its_locks(project: Project) -> None:
    """gem/oq-engine #11752: SQLite's log is beside the file, not beside the link."""
    real, other = project.home, project.home.with_name("other")
    other.mkdir(mode=0o700)
    (other / "store.db").symlink_to(real / "store.db")
    project.env["UWF_HOME"] = str(other)
    project.home = other
    with project.client() as client:
        assert client._engine.store.location() == str((real / "store.db").resolve())
        for number in range(300):
            client._engine.store.put_text(f"{number} " * 3000)
    assert (real / "store.db-wal").stat().st_size < 5_000_000
    holds_everything(project, 1)
    assert not [*other.glob("store.db-*"), *other.glob("store.db.*")]


def test_the_log_of_another_store_is_reported(project: Project, tmp_path: Path) -> None:
    """gem/oq-engine #11752: two files that do not belong together."""
    other = home_with_a_thread(tmp_path / "other")
    copied(project, "store.db")
    shutil.copy(other.home / "store.db-wal", project.home / "store.db-wal")
    ended = project.uwf("store", "check")
    assert ended.exit_code != 0
    assert "another store" in ended.stderr


def test_a_truncated_log_is_reported(project: Project) -> None:
    """mmeyerlein/meclaw #60: what a copy that was cut off leaves."""
    copied(project, "store.db", "store.db-wal")
    (project.home / "store.db-wal").write_bytes(b"")
    reports_the_log(project)


def test_a_store_with_its_log_is_whole_also_after_a_large_change(project: Project) -> None:
    """A long log is shortened when the process ends, and never missing."""
    grown(project)
    copied(project, "store.db", "store.db-wal")
    for words in (("cas", "verify"), ("store", "check"), ("thread", "list", "--all")):
        ended = project.uwf(*words)
        assert (ended.exit_code, ended.stderr) == (0, ""), words


READING = [
    "thread list --all", "thread show @last", "thread read @last", "thread why @last", "usage",
    "step list @last", "step show @last", "step turns @last", "inbox", "watch @last", "log list",
    "workflow list", "workflow check one", "config show", "agent list", "plugin list", "doctor",
    "cas verify", "store check", "replay @last", "eval list", "improve list",
]  # fmt: skip


def read_only(home: Path, script: str, project: Project, seconds: float) -> str:
    """What a script prints in a namespace in which nothing can be written in the home."""
    mount = f"mount --bind {home} {home} && mount -o remount,ro,bind {home} && {{ {script}; }}"
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", mount],
        cwd=project.folder, env=project.env, capture_output=True, text=True, timeout=seconds,
        check=False,
    )  # fmt: skip
    if done.returncode != 0 and "unshare" in done.stderr:
        pytest.skip("this machine does not allow mount namespaces")
    return done.stdout + done.stderr


@pytest.mark.parametrize("index", ["with the index of the log", "without it"])
def test_everything_that_reads_works_in_a_home_that_cannot_be_written(
    project: Project, index: str
) -> None:
    """Found while attacking uwf: a home on a read-only file system, and a copy of one."""
    if index == "without it":
        (project.home / "store.db-shm").unlink()
    uwf = shlex.join(project.command())
    lines = (
        f"{uwf} {words} > out 2>&1 || {{ echo 'failed: {words}'; cat out; }}" for words in READING
    )
    assert read_only(project.home, "; ".join(lines), project, 300) == ""


def test_the_pages_of_a_home_that_cannot_be_written_are_served(project: Project) -> None:
    """Found while attacking uwf: `uwf web` needed to write its lock, its key and its tokens."""
    pytest.importorskip("uwf_web")
    program = """
import http.client, json, sys, urllib.parse
url = urllib.parse.urlsplit(json.load(sys.stdin)["url"])
def get(path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", url.port, timeout=20)
    connection.request("GET", path, headers={"Host": url.netloc, **headers})
    return connection.getresponse()
cookie = get(f"/?{url.query}").headers["Set-Cookie"].partition(";")[0]
print(get("/threads", Cookie=cookie).read())
"""
    link = 'python3 -c \'import re; t = open("out").read(); print(t[t.index("{"):])\''
    script = (
        f"{shlex.join(project.command('web', '--port', '0'))} > out 2> notes & pid=$!; "
        "for i in $(seq 100); do grep -q pid out && break; sleep 0.2; done; "
        f"{link} | python3 -c {shlex.quote(program)}; kill $pid; wait $pid; cat notes"
    )
    shown = read_only(project.home, script, project, 120)
    assert "Threads" in shown or "threads" in shown, shown
    assert "nothing can be written" in shown


CONFIG = """\
workspace: {record: true}  # of the user
providers:
  mine: {baseUrl: "http://127.0.0.1:1", apiKey: sk-a-secret-of-yours}
"""


def test_a_copy_of_a_home_is_complete_while_others_write(project: Project) -> None:
    """mmeyerlein/meclaw #60, gem/oq-engine #11752: a backup that is one command."""
    project.config(CONFIG)
    (project.home / ".env").write_text("A_KEY=sk-another-secret\n")
    (project.home / ".env").chmod(0o600)
    assert project.uwf("run", "one", "-p", "Recorded").exit_code == 0
    writing = [project.start_uwf("run", "one", "-p", f"Beside {number}") for number in range(3)]
    ended = project.uwf("store", "copy", "--all", "backup")
    assert ended.exit_code == 0, ended.stderr
    for each in writing:
        each.communicate(timeout=60)
        assert each.returncode == 0
    backup = project.folder / "backup"
    everything = b"".join(each.read_bytes() for each in backup.rglob("*") if each.is_file())
    assert b"secret" not in everything
    threads = {row["thread"] for row in project.uwf("thread", "list", "--all").document["threads"]}
    project.env["UWF_HOME"] = str(backup)
    kept = project.uwf("thread", "list", "--all").document["threads"]
    assert {row["thread"] for row in kept} <= threads
    assert {"Go", "Recorded"} <= {row["task"] for row in kept}
    [recorded] = [row["thread"] for row in kept if row["task"] == "Recorded"]
    for words in (("cas", "verify"), ("store", "check"), ("step", "diff", recorded)):
        ended = project.uwf(*words)
        assert (ended.exit_code, ended.stderr) == (0, ""), words
    assert project.uwf("thread", "resume", recorded, "-p", "more").exit_code == 0
    assert project.uwf("config", "get", "workspace.record").document["value"] is True
    assert "# of the user" in (backup / "config.yaml").read_text()


def test_a_copy_of_a_home_changes_no_folder_that_has_something(project: Project) -> None:
    """A second backup to the same place would mix two homes."""
    (project.folder / "backup").mkdir()
    (project.folder / "backup" / "mine").write_text("x")
    ended = project.uwf("store", "copy", "--all", "backup")
    assert ended.exit_code == 2
    assert "not empty" in ended.stderr
    assert [each.name for each in (project.folder / "backup").iterdir()] == ["mine"]


MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:50 / /home rw,relatime shared:2 master:1 - nfs4 server:/home rw,vers=4.2
41 40 8:2 / /home/me/on\\040disk rw - xfs /dev/sdb1 rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/home/me/.uwf", "nfs4"), ("/home/me/on disk/uwf", "xfs"), ("/homes", "ext4")],
)
def test_a_home_on_a_network_file_system_is_known(path: str, kind: str) -> None:
    """Found while attacking uwf: SQLite's log needs shared memory, which a network lacks."""
    assert kind_in(MOUNTS, path) == kind


@pytest.mark.parametrize(
    "words",
    [
        ("copy", "sqlite:stroe.db", "sqlite:new.db"),
        ("copy", "--move", "sqlite:stroe.db", "sqlite:new.db"),
        ("check", "sqlite:stroe.db"),
    ],
)
def test_a_mistyped_source_is_no_empty_store(project: Project, words: tuple[str, ...]) -> None:
    ended = project.uwf("store", *words)
    assert (ended.exit_code, f"no store at {project.home}/stroe.db" in ended.stderr) == (2, True)
    assert "you use the store sqlite:store.db" in ended.stderr
    made = [
        each.name for each in project.home.iterdir() if each.match("stroe*") or each.match("new*")
    ]
    assert (made, (project.home / "config.yaml").exists()) == ([], False)
    assert len(project.uwf("thread", "list", "--all").document["threads"]) == 1


def test_only_the_store_in_use_moves(project: Project) -> None:
    assert project.uwf("store", "copy", "sqlite:store.db", "sqlite:a.db").exit_code == 0
    other = project.uwf("store", "copy", "--move", "sqlite:a.db", "sqlite:b.db")
    assert (other.exit_code, "moves only the store that you use" in other.stderr) == (2, True)
    assert not (project.home / "config.yaml").exists()
    moved = project.uwf("store", "copy", "--move", "sqlite:store.db", "sqlite:b.db")
    assert moved.document["moved"] is True
    assert "sqlite:b.db" in (project.home / "config.yaml").read_text()
    assert len(project.uwf("thread", "list", "--all").document["threads"]) == 1
