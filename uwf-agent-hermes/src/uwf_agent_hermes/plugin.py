"""What this distribution announces to uwf. Importing it imports neither agent nor client."""

from collections.abc import Sequence

from uwf_core.api import AgentSpec, hookimpl


@hookimpl
def uwf_agents() -> Sequence[AgentSpec]:
    """`hermes`: the agent of this distribution."""
    return [
        AgentSpec(
            name="hermes",
            summary="the Hermes agent, over the Agent Client Protocol",
            factory="uwf_agent_hermes.agent:HermesAgent",
            options="uwf_agent_hermes.options:HermesOptions",
            capabilities=frozenset(("continue", "fork", "ask", "stream", "usage", "skills")),
            checks="uwf_agent_hermes.checks:checks",
            env=("HERMES_*",),
        )
    ]
