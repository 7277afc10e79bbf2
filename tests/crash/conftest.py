"""Projects that are killed, interrupted and watched; nothing of them may run after the test."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

pytest.register_assert_rewrite("rig")

from rig import Rig, eventually  # noqa: E402


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path)
    yield rig
    try:
        assert eventually(lambda: not rig.living(), 15), f"left behind: {rig.living()}"
    finally:
        rig.kill_all()
