"""Lets the tests of this folder share `judges_kit.py`; one thread is run for all of them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from judges_kit import TrialContext, run_thread


@pytest.fixture(scope="session")
def thread(tmp_path_factory):
    """A finished thread with a correction and a failed attempt, in a store of its own."""
    with run_thread(tmp_path_factory.mktemp("thread")) as finished:
        yield finished


@pytest.fixture
def bench(thread, tmp_path):
    """A task to write judges for, and what they may look at."""
    return TrialContext(thread, tmp_path)
