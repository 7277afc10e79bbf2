"""A project with a workflow that a person approves, and the site of it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from web_site import WebSite


@pytest.fixture
def web(tmp_path: Path) -> WebSite:
    return WebSite(tmp_path)
