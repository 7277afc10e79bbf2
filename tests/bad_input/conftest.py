"""Projects on which wrong things are tried."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent.parent / "crash")]

pytest.register_assert_rewrite("refusals", "rig")

from refusals import World  # noqa: E402
from rig import eventually  # noqa: E402


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One for all tests of a module: nothing that they do may change it."""
    world = World(tmp_path_factory.mktemp("world"))
    world.fill()
    yield world
    world.close()


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[World]:
    """A project of the test's own, empty as yet."""
    yield from project(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A project of all tests of a module that need no more than a thread of their own."""
    yield from project(tmp_path_factory.mktemp("shared"))


def project(folder: Path) -> Iterator[World]:
    """A project of which nothing may be left running."""
    rig = World(folder)
    yield rig
    rig.close()
    try:
        # A thread is free a moment before the process that ran it in the background has ended.
        assert eventually(lambda: not rig.living(), 15), f"left behind: {rig.living()}"
    finally:
        rig.kill_all()
