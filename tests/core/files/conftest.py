from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.core.files.delivering import delivering

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
