"""Tests with the real programs; `nox -s real_agents` installs them and names them here.

The file's name says which program it needs: `test_claude_code_…`, `test_hermes_…`; those of
`test_acp_…` say it by the parameter `program`.
"""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

VARIABLES = {"claude_code": "UWF_REAL_CLAUDE_CODE", "hermes": "UWF_REAL_HERMES"}


def pytest_collection_modifyitems(items):
    for item in items:
        program = getattr(item, "callspec", None) and item.callspec.params.get("program")
        if not item.path.name.startswith("test_claude_code"):
            # What a file's tests share stays with one worker (`--dist loadgroup`).
            item.add_marker(pytest.mark.xdist_group(program or item.path.stem))
        for name, variable in VARIABLES.items():
            if item.path.name.startswith(f"test_{name}") and variable not in os.environ:
                reason = f"{variable} does not name the real program: see `nox -s real_agents`"
                item.add_marker(pytest.mark.skip(reason=reason))
