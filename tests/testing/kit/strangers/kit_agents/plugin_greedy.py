"""The plugin of `greedy`."""

import kit_agents.wrong  # noqa: F401
from kit_agents.names import CAPABILITIES
from uwf_core.api import AgentSpec, hookimpl


@hookimpl
def uwf_agents():
    return [
        AgentSpec(
            name="greedy",
            summary="for the kit's own test",
            factory="kit_agents.wrong:greedy",
            capabilities=CAPABILITIES,
        )
    ]
