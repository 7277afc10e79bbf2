"""What this distribution announces to uwf. Importing it imports neither agent nor protocol."""

from collections.abc import Sequence
from typing import NamedTuple

from uwf_core.api import AgentSpec, hookimpl


class Entry(NamedTuple):
    """An agent as an entry.

    Older versions of claude-agent-acp (0.49) store a fork only with its first prompt: then another
    process does not find it, and the role starts a fresh session with the whole history.

    Attributes:
        name: after `acp:`; "" is any other agent, by the option `command`.
        title: for messages.
        argv: how it is started.
        package: what npm installs.
        reading_mode: the mode in which it changes nothing, for questions.
        env: the variables that its program reads.
        forks: whether it forks sessions.
    """

    name: str
    title: str
    argv: tuple[str, ...] = ()
    package: str = ""
    reading_mode: str | None = None
    env: tuple[str, ...] = ()
    forks: bool = False

    @property
    def point(self) -> str:
        """The name of the entry point."""
        return f"acp:{self.name}" if self.name else "acp"


_OF_CLAUDE_CODE = ("ANTHROPIC_*", "CLAUDE_*", "DISABLE_*", "API_TIMEOUT_MS", "IS_SANDBOX")
ANY = Entry("", "the agent", forks=True)
GEMINI = Entry(
    *("gemini", "Gemini CLI", ("gemini", "--acp"), "@google/gemini-cli", "plan"),
    ("GEMINI_*", "GOOGLE_*"),
)
CODEX = Entry(
    *("codex", "Codex", ("codex-acp",), "@zed-industries/codex-acp", "read-only"),
    ("CODEX_*", "OPENAI_*"),
)
OPENCODE = Entry(
    *("opencode", "opencode", ("opencode", "acp"), "opencode-ai", "plan"), ("OPENCODE_*",), True
)
GOOSE = Entry(
    *("goose", "goose", ("goose", "acp"), "@aaif/goose-acp", "chat"), ("GOOSE_*", "OPENAI_*")
)
QWEN = Entry(
    *("qwen", "Qwen Code", ("qwen", "--acp"), "@qwen-code/qwen-code", "plan"),
    ("QWEN_*", "OPENAI_*", "DASHSCOPE_*"),
)
CLAUDE_CODE = Entry(
    "claude-code",
    "Claude Code",
    ("claude-agent-acp",),
    "@agentclientprotocol/claude-agent-acp",
    "plan",
    _OF_CLAUDE_CODE,
    forks=True,
)
_ENTRIES = (ANY, GEMINI, CODEX, OPENCODE, GOOSE, QWEN, CLAUDE_CODE)


@hookimpl
def uwf_agents() -> Sequence[AgentSpec]:
    """One entry per agent, and `acp` for any other."""
    return [_spec(entry) for entry in _ENTRIES]


def _spec(entry: Entry) -> AgentSpec:
    able = ["continue", "stream", "usage"]
    able += ["skills"] if entry.env else []  # of another agent by its command nobody knows
    able += ["fork"] if entry.forks else []
    able += ["ask"] if entry.reading_mode else []
    protocol, constant = "the Agent Client Protocol", entry.name.upper().replace("-", "_") or "ANY"
    by_command = f"an agent of {protocol}, by its command"
    return AgentSpec(
        name=entry.point,
        summary=f"{entry.title}, over {protocol}" if entry.name else by_command,
        factory=f"uwf_agent_acp.agent.known:{constant}.agent",
        options="uwf_agent_acp.agent.options:AcpOptions",
        capabilities=frozenset(able),
        checks=f"uwf_agent_acp.agent.checks:{constant}",
        env=entry.env,
    )
