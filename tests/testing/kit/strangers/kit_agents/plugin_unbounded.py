"""The plugin of `unbounded`."""

from kit_agents.names import CAPABILITIES
from uwf_core.api import AgentSpec, hookimpl


@hookimpl
def uwf_agents():
    return [
        AgentSpec(
            name="unbounded",
            summary="for the kit's own test",
            factory="kit_agents.wrong:unbounded",
            capabilities=CAPABILITIES,
        )
    ]
