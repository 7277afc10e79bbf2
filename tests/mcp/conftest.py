"""A project with a workflow that a person approves."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from uwf_core.testing.project import Project

sys.path.insert(0, str(Path(__file__).parent))

from mcp_peer import REVIEWED, Peer, connected


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.workflow("reviewed", REVIEWED)
    play = {"role": "writer", "output": {"$status": "done", "text": "Hello."}}
    made.script([play], by_role=True, repeat=True)
    return made


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """A server that only reads, of a home without threads, for all tests of a file."""
    with connected(Project(tmp_path_factory.mktemp("empty"))) as peer:
        yield peer
