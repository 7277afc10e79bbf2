"""Announces them all."""

from kit_agents.names import ABOUT_SESSIONS, CAPABILITIES, NAMES
from uwf_core.api import AgentSpec, hookimpl


@hookimpl
def uwf_agents():
    return [
        AgentSpec(
            name=name,
            summary="for the kit's own test",
            factory=f"kit_agents.{'wrong_sessions' if name in ABOUT_SESSIONS else 'wrong'}:{name}",
            capabilities=CAPABILITIES,
        )
        for name in NAMES
    ]
