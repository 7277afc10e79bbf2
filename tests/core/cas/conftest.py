import sys
from pathlib import Path

import pytest
from tests.testing.kit.strangers.kit_stores.dicts import DictBackend

from uwf_core.cas.store import Store

sys.path.insert(0, str(Path(__file__).parent))


class Clock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.ms = 1_780_000_000_000

    def __call__(self) -> int:
        return self.ms


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def backend():
    return DictBackend()


@pytest.fixture
def store(backend, clock):
    return Store(backend, clock)
