from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.core.files.delivering import delivering
from tests.core.files.recorded import EDIT, TWICE, Recorder, repository, write

from uwf_core.client import Client
from uwf_core.testing.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with the workflow `deliver`."""
    return delivering(tmp_path)


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    with project.client() as client:
        yield client


@pytest.fixture(params=["in git", "outside of git"])
def twice(request: Any, tmp_path: Path) -> Project:
    """A project whose thread has made two edits."""
    project = Project(tmp_path)
    project.workflow("twice", TWICE)
    for name, content in (("edit.sh", EDIT), ("file", b"begin\n"), ("run", b""), ("old", b"old\n")):
        write(project.folder, name, content)
    if request.param == "in git":
        repository(project.folder)
    project.trust()
    return project


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """A folder, and a home in which it is recorded; the user has no rules."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return Recorder(tmp_path)
