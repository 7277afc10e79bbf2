"""Many processes on one store."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "crash"))

pytest.register_assert_rewrite("rig")

from rig import Rig  # noqa: E402


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path)
    yield rig
    assert rig.living() == []
