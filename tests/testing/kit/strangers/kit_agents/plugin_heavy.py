"""The plugin of `heavy`."""

import asyncio  # noqa: F401

from kit_agents.names import CAPABILITIES
from uwf_core.api import AgentSpec, hookimpl


@hookimpl
def uwf_agents():
    return [
        AgentSpec(
            name="heavy",
            summary="for the kit's own test",
            factory="kit_agents.wrong:heavy",
            capabilities=CAPABILITIES,
        )
    ]
