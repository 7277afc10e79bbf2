"""A project with a workflow that a person approves, and the site of it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from web_site import WebSite

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def web(tmp_path: Path) -> "WebSite":
    from web_site import WebSite  # needs httpx, which no wheel of ours brings

    return WebSite(tmp_path)
