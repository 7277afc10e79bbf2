"""What cannot be started is refused before anything runs, naming the cause and the cure."""

import importlib.util
import marshal
import resource
import struct
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from uwf_core.client import Cancel
from uwf_core.errors import AgentInterrupted, BadRequest, InternalFailure, Unavailable
from uwf_core.process import launch, reaper

from .conftest import Runner, eventually, marked, open_files


def script(folder: Path, text: str, mode: int = 0o755) -> str:
    path = folder / "agent"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_a_missing_program_is_named_with_the_path_that_was_looked_at(runner: Runner) -> None:
    with pytest.raises(Unavailable) as caught:
        runner.run("no-such-agent", env={"PATH": "/opt/a:/opt/b"})
    assert "no-such-agent" in caught.value.message
    assert "install no-such-agent" in (caught.value.hint or "")
    assert "/opt/a:/opt/b" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "mode", "message", "cure"),
    [
        ("#!/bin/sh\n", 0o644, "is not executable", "chmod +x"),
        ("echo no shebang\n", 0o755, "not a program that this machine can run", "#!"),
        ("#!/opt/none/python3\n", 0o755, "interpreter '/opt/none/python3'", "first line"),
        ("#!/bin/sh\r\necho\r\n", 0o755, r"interpreter '/bin/sh\r'", "Unix line ends"),
        ("", 0o755, "not a program that this machine can run", "built for this system"),
    ],
)
def test_a_file_that_cannot_be_executed_is_refused_with_the_cure(
    runner: Runner, tmp_path: Path, text: str, mode: int, message: str, cure: str
) -> None:
    with pytest.raises(Unavailable) as caught:
        runner.run(script(tmp_path, text, mode))
    assert message in caught.value.message
    assert str(tmp_path) in caught.value.message
    assert cure in (caught.value.hint or "")


def test_a_folder_is_no_program(runner: Runner, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="is a folder"):
        runner.run(str(tmp_path))


def test_a_program_not_executable_on_the_path_does_not_hide_a_later_one(
    runner: Runner, tmp_path: Path
) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    script(tmp_path / "first", "#!/bin/sh\necho first\n", 0o644)
    script(tmp_path / "second", "#!/bin/sh\necho second\n")
    path = f"{tmp_path}/first:{tmp_path}/second:/bin"
    assert runner.run("agent", env={"PATH": path}).stdout == b"second\n"


def test_a_relative_program_is_looked_for_in_its_working_folder(
    runner: Runner, tmp_path: Path
) -> None:
    script(tmp_path, "#!/bin/sh\npwd\n")
    assert runner.run("./agent").stdout.decode().strip() == str(tmp_path)


def test_a_missing_working_folder_is_named(runner: Runner, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="working folder /nowhere/at/all"):
        runner.run("/bin/true", cwd="/nowhere/at/all")


def test_a_working_folder_that_vanishes_at_the_last_moment_is_named(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.path.isdir", lambda _path: True)
    with pytest.raises(Unavailable, match="folder /nowhere/at/all: No such file"):
        runner.run("/bin/true", cwd="/nowhere/at/all")


@pytest.mark.parametrize(
    ("what", "settings", "arguments"),
    [
        ("argument 1", {}, ("a\0b",)),
        ("argument 1", {}, ("\ud800",)),
        ("argument 1", {}, ("\udcff",)),
        ("working folder", {"cwd": "/tmp/\udcff"}, ()),
        ("environment variable 'X'", {"env": {"X": "a\0b"}}, ()),
        ("environment variable 'X'", {"env": {"X": "\ud800"}}, ()),
        ("'A=B' is not a valid name", {"env": {"A=B": "x"}}, ()),
        ("'' is not a valid name", {"env": {"": "x"}}, ()),
    ],
)
def test_a_text_that_no_program_can_be_given_is_refused_by_its_place(
    runner: Runner, what: str, settings: dict[str, Any], arguments: tuple[str, ...]
) -> None:
    with pytest.raises(BadRequest) as caught:
        runner.run("/bin/true", *arguments, **settings)
    assert what in caught.value.message


def test_arguments_that_are_too_long_are_refused_with_the_cure(runner: Runner) -> None:
    with pytest.raises(BadRequest) as caught:
        runner.run("/bin/true", "x" * 200_000)
    assert "too long" in caught.value.message
    assert "stdin" in (caught.value.hint or "")


def test_nothing_is_started_once_cancelled(runner: Runner, tmp_path: Path) -> None:
    cancel = Cancel()
    cancel.set("Ctrl-C")
    with pytest.raises(AgentInterrupted):
        runner.run("/usr/bin/touch", "was-here", cancel=cancel)
    time.sleep(0.1)
    assert not (tmp_path / "was-here").exists()


def test_a_cancel_is_heard_while_a_program_is_slow_to_start(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, cancel = tmp_path / "begun", Cancel()
    slow = f"#!/bin/sh\ntouch {begun}\nexec sleep 5\n"
    monkeypatch.setattr("sys.executable", script(tmp_path, slow))

    def cancel_it() -> None:
        assert eventually(begun.exists)
        cancel.set("Ctrl-C")

    thread = threading.Thread(target=cancel_it)
    thread.start()
    with pytest.raises(AgentInterrupted, match="while"):
        runner.run("/bin/true", cancel=cancel)
    thread.join()


def test_a_reaper_that_cannot_start_is_told_and_leaves_nothing(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = open_files()
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(InternalFailure, match="died before it could start it"):
        runner.run("/bin/true")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(InternalFailure, match="cannot start the reaper"):
        runner.run("/bin/true")
    assert open_files() == before
    assert marked(runner.marker) == []


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits per process are Linux's")
def test_a_system_out_of_open_files_is_told_and_leaves_nothing(runner: Runner) -> None:
    """One file after the other is missing: at each place the start is undone."""
    runner.run("/bin/true")
    before = open_files()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    refused = 0
    try:
        free = [number for number in range(64) if number not in before]
        for count in range(1, 16):
            resource.setrlimit(resource.RLIMIT_NOFILE, (free[count], hard))
            try:
                runner.run("/bin/true")
            except InternalFailure as error:
                refused += 1
                assert "open files" in (error.hint or "")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert refused >= 8
    assert open_files() == before
    assert eventually(lambda: not marked(runner.marker))


def test_a_compiled_reaper_of_another_source_is_not_run(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an upgrade into a folder whose compiled files cannot be replaced."""
    source = Path(reaper.__file__)
    assert reaper.__spec__ is not None
    stale = tmp_path / "reaper.pyc"
    compile_to(b"print('stale')\n", source, stale)
    monkeypatch.setattr(reaper.__spec__, "cached", str(stale))
    assert runner.run("/bin/echo", "fresh").stdout == b"fresh\n"
    compile_to(source.read_bytes(), source, stale)
    assert launch._script() == str(stale)
    assert runner.run("/bin/echo", "compiled").stdout == b"compiled\n"


def compile_to(text: bytes, source: Path, target: Path) -> None:
    """Compile `text` as the file `source`, with its own size and that file's time."""
    code = compile(text, str(source), "exec")
    header = struct.pack("<III", 0, int(source.stat().st_mtime), len(text))
    target.write_bytes(importlib.util.MAGIC_NUMBER + header + marshal.dumps(code))
