"""The plugin of `mutable_options`."""

from kit_agents.names import CAPABILITIES
from uwf_core.api import AgentSpec, hookimpl


@hookimpl
def uwf_agents():
    return [
        AgentSpec(
            name="mutable_options",
            summary="for the kit's own test",
            factory="kit_agents.wrong:mutable_options",
            options="kit_agents.options:MutableOptions",
            capabilities=CAPABILITIES,
        )
    ]
