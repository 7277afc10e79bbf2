"""Real programs; every process of a test is marked and must be gone after it."""

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from uwf_core.process.program import (
    ChildProgram,
    ProcessLimits,
    Program,
    ProgramResult,
    start_program,
)

PROGRAMS = Path(__file__).parent / "programs"
LIMITS = ("total_seconds", "idle_seconds", "grace_seconds", "output_bytes")
CALL = ("cancel", "on_start")


def is_running(pid: int) -> bool:
    """Whether there is such a process, and no zombie; without the help of the code tested."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] not in b"ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def marked(marker: str) -> list[int]:
    """The living processes that bear the marker, this one excepted."""
    wanted = f"UWF_ATTEMPT={marker}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if wanted in environment and is_running(int(folder.name)):
            found.append(int(folder.name))
    return found


def eventually(holds: Callable[[], object], seconds: float = 30.0) -> bool:
    """Whether something comes true, on a busy machine as well."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def open_files() -> list[int]:
    """The file descriptors that are open here."""
    return sorted(int(each.name) for each in Path("/proc/self/fd").iterdir())


class Runner:
    """Runs the scripts of programs/ (or any program), each marked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.marker = uuid.uuid4().hex
        self.env = {**os.environ, "UWF_ATTEMPT": self.marker}

    def argv(self, name: str, *arguments: object) -> tuple[str, ...]:
        """The command of a script of programs/, or of a program if `name` is no script."""
        words = tuple(str(each) for each in arguments)
        if name.endswith(".py"):
            return (sys.executable, "-I", "-S", str(PROGRAMS / name), *words)
        return (name, *words)

    def start(self, name: str, *arguments: object, **settings: Any) -> ChildProgram:
        limits = {key: settings.pop(key) for key in LIMITS if key in settings}
        call = {key: settings.pop(key) for key in CALL if key in settings}
        settings = {"cwd": str(self.folder), "env": self.env, **settings}
        program = Program(argv=self.argv(name, *arguments), **settings)
        return start_program(program, ProcessLimits(**{"grace_seconds": 5.0, **limits}), **call)

    def run(self, name: str, *arguments: object, **settings: Any) -> ProgramResult:
        on_line = settings.pop("on_line", None)
        return self.start(name, *arguments, **settings).run(on_line)

    def engine(
        self, words: str, name: str, *arguments: object, **settings: Any
    ) -> subprocess.Popen[str]:
        """Another process that runs the program as uwf would."""
        return subprocess.Popen(
            [
                sys.executable,
                str(PROGRAMS / "engine.py"),
                self.marker,
                words,
                *self.argv(name, *arguments),
            ],
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True, **settings},
        )


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    runner = Runner(tmp_path)
    yield runner
    assert eventually(lambda: not marked(runner.marker)), "processes are left behind"
