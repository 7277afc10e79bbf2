"""The plugin of `telepathic`."""

from kit_agents.names import CAPABILITIES
from uwf_core.api import AgentSpec, hookimpl


@hookimpl
def uwf_agents():
    return [
        AgentSpec(
            name="telepathic",
            summary="for the kit's own test",
            factory="kit_agents.wrong:telepathic",
            capabilities=CAPABILITIES | {"telepathy"},
        )
    ]
