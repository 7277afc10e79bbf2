"""What this distribution announces to uwf. Importing it imports neither agent nor protocol."""

from collections.abc import Sequence
from typing import NamedTuple

from uwf_core.api import AgentSpec, hookimpl


class _Entry(NamedTuple):
    """An entry: its constant in `known`, whether it forks and has a mode that only reads, and
    which variables its program reads.

    Older versions of claude-agent-acp (0.49) store a fork only with its first prompt: then another
    process does not find it, and the role starts a fresh session with the whole history.
    """

    name: str
    constant: str
    summary: str
    forks: bool
    reads: bool
    env: tuple[str, ...]


_ENTRIES = (
    _Entry("acp", "ANY", "an agent of the Agent Client Protocol, by its command", True, False, ()),
    _Entry("acp:gemini", "GEMINI", "Gemini CLI", False, True, ("GEMINI_*", "GOOGLE_*")),
    _Entry("acp:codex", "CODEX", "Codex", False, True, ("CODEX_*", "OPENAI_*")),
    _Entry("acp:opencode", "OPENCODE", "opencode", True, True, ("OPENCODE_*",)),
    _Entry("acp:goose", "GOOSE", "goose", False, True, ("GOOSE_*", "OPENAI_*")),
    _Entry("acp:qwen", "QWEN", "Qwen Code", False, True, ("QWEN_*", "OPENAI_*", "DASHSCOPE_*")),
    _Entry(
        *("acp:claude-code", "CLAUDE_CODE", "Claude Code", True, True),
        ("ANTHROPIC_*", "CLAUDE_*", "DISABLE_*", "API_TIMEOUT_MS", "IS_SANDBOX"),
    ),
)


@hookimpl
def uwf_agents() -> Sequence[AgentSpec]:
    """One entry per agent, and `acp` for any other."""
    return [_spec(entry) for entry in _ENTRIES]


def _spec(entry: _Entry) -> AgentSpec:
    able = ["continue", "stream", "usage"]
    able += ["skills"] if entry.env else []  # of another agent by its command nobody knows
    able += ["fork"] if entry.forks else []
    able += ["ask"] if entry.reads else []
    over = "" if entry.name == "acp" else ", over the Agent Client Protocol"
    return AgentSpec(
        name=entry.name,
        summary=f"{entry.summary}{over}",
        factory=f"uwf_agent_acp.agent.known:{entry.constant}.agent",
        options="uwf_agent_acp.agent.options:AcpOptions",
        capabilities=frozenset(able),
        checks=f"uwf_agent_acp.agent.known:{entry.constant}.checks",
        env=entry.env,
    )
