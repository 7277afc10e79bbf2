"""Folders for thousands of tests: pytest looks through all earlier ones for each `tmp_path`."""

import itertools
from pathlib import Path

import pytest

_NUMBERS = itertools.count()


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder of the test's own."""
    folder = tmp_path_factory.getbasetemp() / f"test-{next(_NUMBERS)}"
    folder.mkdir()
    return folder
