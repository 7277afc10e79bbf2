"""The plugin of `loose_options`."""

from kit_agents.names import CAPABILITIES
from uwf_core.api import AgentSpec, hookimpl


@hookimpl
def uwf_agents():
    return [
        AgentSpec(
            name="loose_options",
            summary="for the kit's own test",
            factory="kit_agents.wrong:loose_options",
            options="kit_agents.options:LooseOptions",
            capabilities=CAPABILITIES,
        )
    ]
