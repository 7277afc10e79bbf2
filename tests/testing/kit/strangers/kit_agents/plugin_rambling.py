"""The plugin of `rambling`."""

from kit_agents.names import CAPABILITIES
from uwf_core.api import AgentSpec, hookimpl


@hookimpl
def uwf_agents():
    return [
        AgentSpec(
            name="rambling",
            summary="for the kit's own test,\nand for nothing else",
            factory="kit_agents.wrong:rambling",
            capabilities=CAPABILITIES,
        )
    ]
