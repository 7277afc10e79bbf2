"""A home with a project, and the site of it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from web_site import WebSite


@pytest.fixture
def web(tmp_path: Path) -> WebSite:
    folder = tmp_path / "project"
    folder.mkdir()
    return WebSite(tmp_path / "home", folder)
