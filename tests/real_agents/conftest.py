"""Tests with the real programs; `nox -s real_agents` installs them and names them here.

The file's name says which program it needs: `test_claude_code_…`, `test_hermes_…`; those of
`test_acp_…` say it by the parameter `program`.
"""

import os
import re
import sys
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

sys.path.insert(0, str(Path(__file__).parent))

from acp_world import PROGRAMS

VARIABLES = {"claude_code": "UWF_REAL_CLAUDE_CODE", "hermes": "UWF_REAL_HERMES"}


class ByProgram(LoadScopeScheduling):
    """What tests share is made by one worker: the home of a program, the runs of a file."""

    def _split_scope(self, nodeid):
        """The tests of Claude Code share nothing."""
        file, _, test = nodeid.partition("::")
        if "/test_claude_code" in file:
            return nodeid
        named = PROGRAMS.keys() & re.split(r"[\[\]-]", test) if "/test_acp" in file else ()
        return min(named, default=file)


def pytest_xdist_make_scheduler(config, log):
    """The groups of xdist itself do nothing with pytest 9.2."""
    return ByProgram(config, log)


def pytest_collection_modifyitems(items):
    for item in items:
        for name, variable in VARIABLES.items():
            if item.path.name.startswith(f"test_{name}") and variable not in os.environ:
                reason = f"{variable} does not name the real program: see `nox -s real_agents`"
                item.add_marker(pytest.mark.skip(reason=reason))
