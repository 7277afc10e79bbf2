"""A browser for the tests of this folder: `nox -s browser` finds one and names it."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "eval" / "report"))
sys.path.insert(0, str(Path(__file__).parents[1] / "web"))


@pytest.fixture(scope="session")
def browser():
    program = os.environ.get("UWF_BROWSER")
    if not program:
        pytest.skip("UWF_BROWSER names no browser; `nox -s browser` finds one")
    from chromium import Browser

    found = Browser(program)
    yield found
    found.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core."""
    file = os.environ.get("UWF_AXE")
    if not file:
        pytest.skip("UWF_AXE names no axe.min.js; `nox -s browser` installs it")
    return Path(file).read_text("utf-8")


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures go: UWF_PICTURES, else a temporary folder."""
    named = os.environ.get("UWF_PICTURES")
    folder = Path(named) if named else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
