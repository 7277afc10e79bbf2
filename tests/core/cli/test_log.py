"""The log: what commands did, bounded, whole under many writers, and private."""

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import time

import pytest
from cli_kit import WROTE
from tests.beside import beside

from uwf_core.engine.log_file import FORMAT, KEPT_FILES, LogFile, new_id
from uwf_core.errors import AmbiguousIdError, StoreError, UnknownIdError


def entry(at_ms=1_767_225_600_000, **changes):
    return {
        "version": FORMAT, "id": new_id(at_ms), "atMs": at_ms, "command": ["run", "x"],
        "cwd": "/home/me", "thread": None, "exitCode": 0, "durationMs": 5, "pid": 1,
        "uwf": "0.1.0", "error": None, "traceback": None, **changes,
    }  # fmt: skip


def keep(text):
    return text


def test_entries_come_newest_first_and_are_found_by_prefix(tmp_path):
    log = LogFile(str(tmp_path), keep)
    entries = [entry(1_767_225_600_000 + number) for number in range(3)]
    for each in entries:
        log.append(each)
    assert list(log.entries()) == entries[::-1]
    assert log.find("@last") == entries[-1]
    assert log.find(entries[1]["id"].lower()) == entries[1]
    with pytest.raises(AmbiguousIdError):
        log.find(entries[1]["id"][:3])
    with pytest.raises(UnknownIdError):
        log.find("ZZZZ")


def test_ids_sort_by_time():
    ids = [new_id(at_ms) for at_ms in (0, 1, 1_767_225_600_000, 1_767_225_600_001, 2**44)]
    assert ids == sorted(ids)


def test_files_are_private_and_bounded(tmp_path):
    log = LogFile(str(tmp_path), keep, file_bytes=2_000)
    for number in range(100):
        log.append(entry(number))
    files = sorted((tmp_path / "logs").iterdir())
    assert len(files) == KEPT_FILES
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    assert max(file.stat().st_size for file in files) < 3_000
    kept = [each["atMs"] for each in log.entries()]
    assert kept == list(range(99, 99 - len(kept), -1))


def test_secrets_are_taken_out_and_long_texts_cut(tmp_path):
    log = LogFile(str(tmp_path), lambda text: text.replace("s3cret", "[redacted]"))
    log.append(entry(command=["run", "-p", "s3cret"], traceback="x" * 50_000))
    written = (tmp_path / "logs" / "uwf.log").read_text()
    assert "s3cret" not in written
    assert len(written) < 20_000


def test_damaged_lines_and_lines_of_a_newer_uwf_spoil_nothing(tmp_path):
    log = LogFile(str(tmp_path), keep)
    log.append(entry())
    with open(tmp_path / "logs" / "uwf.log", "ab") as file:
        file.write(b'\xff\xfe\n{"version": 99, "id": "x"}\n[]\n{"cut')
    assert len(list(log.entries())) == 1


def test_reading_makes_nothing(tmp_path):
    assert list(LogFile(str(tmp_path / "home"), keep).entries()) == []
    assert not (tmp_path / "home").exists()


def test_a_log_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "logs").write_text("a file in its place")
    with pytest.raises(StoreError, match="the log cannot be written"):
        LogFile(str(tmp_path), keep).append(entry())


def test_lines_of_many_processes_stay_whole_and_none_is_lost(tmp_path):
    code = (
        "import sys; from uwf_core.engine.log_file import LogFile\n"
        f"log = LogFile({str(tmp_path)!r}, lambda text: text, file_bytes=20_000)\n"
        "for n in range(20): log.append({'version': 1, 'id': f'{sys.argv[1]}-{n}', 'x': 'y' * 400})"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(number)]) for number in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    lines = [
        json.loads(line)["id"]
        for file in (tmp_path / "logs").iterdir()
        for line in file.read_text().splitlines()
    ]
    assert sorted(lines) == sorted(f"{writer}-{n}" for writer in range(4) for n in range(20))


def test_who_writes_has_the_folder_for_itself(tmp_path):
    """However little is done meanwhile: a file that was put aside must not be written any more."""
    log = LogFile(str(tmp_path), keep)
    log.append(entry())
    code = (
        "import signal, sys; from uwf_core.engine.log_file import LogFile\n"
        "signal.setitimer(signal.ITIMER_REAL, 1)  # ends who waits\n"
        f"LogFile({str(tmp_path)!r}, lambda text: text).append({{'version': 1}})"
    )
    folder = os.open(log.folder, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_SH)
        ended = subprocess.run([sys.executable, "-c", code], check=False)
    finally:
        os.close(folder)
    assert ended.returncode == -signal.SIGALRM
    assert len(list(log.entries())) == 1


def test_commands_that_run_things_are_logged_and_readers_are_not(uwf, project, monkeypatch):
    monkeypatch.setenv("UWF_BLOCK_PLUGINS", beside())
    for call in (
        "workflow list",
        "thread list --all",
        "doctor",
        "config show",
        "prompt usage",
        "agent list",
        "plugin list",
        "workflow check .workflow/pair.yaml",
    ):
        uwf(*call.split())
    assert not (project.home / "logs").exists()
    thread = uwf("run", "pair", "-p", "x").document["thread"]
    logged = uwf("log", "list").document["entries"]
    assert [each["command"][0] for each in logged] == ["run"]
    assert (logged[0]["thread"], logged[0]["exitCode"]) == (thread, 0)
    assert logged[0]["id"] in uwf("log", "list", "--format", "text").out
    assert "run pair" in uwf("log", "show", "@last", "--format", "text").out


def test_a_background_run_is_logged_as_somebody_would_type_it(uwf, project):
    project.script([WROTE])
    thread = uwf("thread", "start", "pair", "-p", "x").document["thread"]
    uwf("thread", "exec", thread, "--background")
    uwf("thread", "wait", thread)
    deadline = time.monotonic() + 30  # the run writes its entry after it has released the thread

    def logged() -> list[list[str]]:
        entries = uwf("log", "list", "--thread", thread).document["entries"]
        return [each["command"] for each in entries]

    while ["thread", "exec", thread] not in logged() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert ["thread", "exec", thread] in logged()
    assert "announce" not in uwf("log", "list", "--format", "text").out


def test_the_log_is_narrowed_to_a_thread_and_a_time(uwf, project):
    first = uwf("run", "pair", "-p", "x").document["thread"]
    second = uwf("thread", "start", "pair", "-p", "x").document["thread"]
    project.script([{"role": "writer", "fail": {"kind": "auth", "message": "no key"}}])
    assert uwf("thread", "exec", "@last").code == 6
    uwf("thread", "cancel", second[:22])

    def logged(*words: str) -> list[tuple[str, int]]:
        entries = uwf("log", "list", *words).document["entries"]
        return [(each["thread"], each["exitCode"]) for each in entries]

    assert logged("--thread", first) == [(first, 0)]
    of_second = [(second, 0), (second, 6), (second, 0)]
    assert logged("--thread", "@last") == logged("--thread", second) == of_second
    assert logged("--thread", "@last", "--errors", "--since", "1h") == [(second, 6)]
    assert logged("--since", "2999-01-01") == []


def test_a_failed_run_is_logged_with_its_failure(uwf, project):
    project.script([{"role": "writer", "fail": {"kind": "auth", "message": "no key"}}])
    assert uwf("run", "pair", "-p", "x").code == 6
    failed = uwf("log", "list", "--errors").document["entries"]
    assert failed[0]["error"]["code"] == "auth"


def test_a_log_that_cannot_be_written_is_one_line_and_no_failure(uwf, project):
    """Root as well writes no file below a file."""
    uwf("thread", "start", "pair", "-p", "x")
    (project.home / "logs").rename(project.home / "moved")
    (project.home / "logs").write_text("in the way")
    answer = uwf("thread", "exec", "@last")
    assert answer.code == 0
    assert answer.err.count("the log cannot be written") == 1


@pytest.mark.parametrize("key", ["exitCode", "atMs", "command", "error", "cwd", "pid"])
def test_a_line_whose_key_a_flipped_bit_has_changed_is_left_out(tmp_path, key):
    (tmp_path / "logs").mkdir()
    good = json.dumps(entry(id="A"))
    (tmp_path / "logs" / "uwf.log").write_text(f"{good.replace(key, key[:-1] + '~')}\n{good}\n")
    assert [each["id"] for each in LogFile(str(tmp_path), str).entries()] == ["A"]
