"""Sites for the tests of runs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from run_site import Site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)
