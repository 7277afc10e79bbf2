"""A project with its own home; `uwf` in this process (quick) or in one of its own (real)."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from uwf_core.testing.project import Project

sys.path.insert(0, str(Path(__file__).parent))

from cli_kit import APPROVED, WORKFLOW, WROTE, Answer, Uwf


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.workflow("pair", WORKFLOW)
    made.script([WROTE, APPROVED])
    return made


@pytest.fixture
def uwf(
    project: Project, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Uwf]:
    """`uwf` in this process, in the project's folder and environment."""
    from uwf_core.commands import main

    for name in list(os.environ):
        if name.startswith("UWF_") or name in ("COLUMNS", "NO_COLOR"):
            monkeypatch.delenv(name)
    for name, value in project.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project.folder)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def run(*words: str) -> Answer:
        capfd.readouterr()
        code = main(words)
        out, err = capfd.readouterr()
        return Answer(code, out, err)

    yield run
    for number, handler in before.items():
        signal.signal(number, handler)
