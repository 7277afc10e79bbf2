"""Lets the tests of this folder share `acp_editor.py`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from acp_editor import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A project, and editors that uwf serves in this process or in one of its own."""
    opened = Desk(tmp_path)
    yield opened
    opened.close()
