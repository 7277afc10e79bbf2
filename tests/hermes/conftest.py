"""Lets the tests of this folder share `hermes_kit.py`, and `acp_wire.py` of the protocol."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "acp"))
sys.path.insert(0, str(Path(__file__).parent))

from hermes_kit import Desk


@pytest.fixture
def desk(tmp_path):
    """The adapter, with transcripts of the real program played to it."""
    return Desk(tmp_path)
