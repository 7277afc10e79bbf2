"""What this distribution announces to uwf. Importing it imports neither the agent nor its parts."""

from collections.abc import Sequence

from uwf_core.api import AgentSpec, hookimpl

ENVIRONMENT = (
    *("ANTHROPIC_*", "CLAUDE_*", "DISABLE_*", "BASH_*", "API_TIMEOUT_MS", "IS_SANDBOX"),
    *("MAX_THINKING_TOKENS", "MAX_MCP_OUTPUT_TOKENS", "MCP_TIMEOUT", "MCP_TOOL_TIMEOUT"),
)
"""What Claude Code reads. Keys of clouds (`AWS_*`, …) are not among it: the user passes them on."""


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
                ("continue", "fork", "ask", "stream", "structured", "usage", "tools", "skills")
            ),
            env=ENVIRONMENT,
        )
    ]
