"""A browser for the tests of this folder: `nox -s browser` finds one and names it."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "eval" / "report"))

from chromium import Browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory):
    program = os.environ.get("UWF_BROWSER")
    if not program:
        pytest.skip("UWF_BROWSER names no browser; `nox -s browser` finds one")
    found = Browser(program, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures go: UWF_PICTURES, else a temporary folder."""
    named = os.environ.get("UWF_PICTURES")
    folder = Path(named) if named else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
