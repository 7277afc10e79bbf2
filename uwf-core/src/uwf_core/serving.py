"""For adapters that are commands as well: what the engine provides in its own process.

from uwf_core.api.serve import serve_agent
from uwf_core.serving import installed_tools

def main() -> int:
    return serve_agent(uwf_agents()[0], tools=installed_tools)
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.engine.agents import plugin_tools
from uwf_core.engine.engine import open_engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uwf_core.api.tool import LoadedTool


def installed_tools() -> "Sequence[LoadedTool]":
    """The tools of the installed plugins, except blocked ones. A tool that cannot be loaded is
    reported on stderr and left out.

    Raises:
        ConfigError: the settings have errors.
    """
    engine = open_engine(
        env=os.environ,
        cwd=str(Path.cwd()),
        on_fault=lambda fault: print(f"note: {fault}", file=sys.stderr),
    )
    try:
        return plugin_tools(engine)
    finally:
        engine.close()
