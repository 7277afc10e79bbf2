"""What this distribution announces to uwf. Importing it imports neither the agent nor its parts."""

from collections.abc import Sequence

from uwf_core.api import AgentSpec, hookimpl


@hookimpl
def uwf_agents() -> Sequence[AgentSpec]:
    """`claude-code`: the agent of this distribution."""
    return [
        AgentSpec(
            name="claude-code",
            summary="Claude Code, by its own command line",
            factory="uwf_agent_claude_code.agent:ClaudeCodeAgent",
            options="uwf_agent_claude_code.options:ClaudeCodeOptions",
            checks="uwf_agent_claude_code.checks:checks",
            capabilities=frozenset(
                ("continue", "fork", "ask", "stream", "structured", "usage", "tools")
            ),
        )
    ]
