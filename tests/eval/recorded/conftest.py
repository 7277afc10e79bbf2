"""Recorded runs for the tests of trials of recorded steps."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "run"))
sys.path.insert(0, str(Path(__file__).parent))

from office import Office


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)
