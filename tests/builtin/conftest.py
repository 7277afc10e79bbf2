"""Lets the tests of this folder share `builtin_kit.py`."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from builtin_kit import Desk


@pytest.fixture
def desk(tmp_path):
    """An agent in a folder of its own, with a scripted model to come."""
    desk = Desk(tmp_path)
    yield desk
    desk.close()


@pytest.fixture(autouse=True)
def no_descriptor_is_left_open():
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    yield
    assert len(os.listdir("/proc/self/fd")) <= before + 8  # noqa: PTH208 (threads on their way out)
