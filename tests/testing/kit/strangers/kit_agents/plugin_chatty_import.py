"""The plugin of `chatty_import`."""

from kit_agents.names import CAPABILITIES
from uwf_core.api import AgentSpec, hookimpl

print("hello")


@hookimpl
def uwf_agents():
    return [
        AgentSpec(
            name="chatty_import",
            summary="for the kit's own test",
            factory="kit_agents.wrong:chatty_import",
            capabilities=CAPABILITIES,
        )
    ]
