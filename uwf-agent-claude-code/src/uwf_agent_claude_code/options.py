"""The options of the agent, as `agents.<alias>.options` of the configuration has them."""

from dataclasses import dataclass, field

from uwf_core.api import Seconds, require_numbers

_OURS = frozenset(
    (
        *("-p", "--print", "--output-format", "--input-format", "--verbose"),
        *("-r", "--resume", "-c", "--continue", "--session-id", "--fork-session"),
        "--resume-session-at",
        *("--no-session-persistence", "--json-schema", "--tools", "--replay-user-messages"),
        *("--bg", "--background", "--cloud", "--worktree", "-w", "--from-pr"),
    )
)
"""Arguments on which it depends whether the answer is understood and the session is the role's."""


@dataclass(frozen=True, kw_only=True)
class ClaudeCodeOptions:
    """What a user may say. Whatever is not said here is as Claude Code's own settings have it.

    Attributes:
        command: the program, looked up on the PATH.
        model: as `--model` takes it (`opus`, `claude-opus-4-8`); models of uwf's configuration are
            those of other services and are not meant.
        permission_mode: what its tools may do without asking; nobody can be asked. `acceptEdits`
            lets it change files in the working folder; `bypassPermissions` lets it do everything.
        allowed_tools: tools and rules that need no leave: `Bash(git *)`, `mcp__github`.
        disallowed_tools: tools and rules that are denied.
        add_dir: folders beside the working folder that its tools may touch.
        max_turns: turns of the model in one call of the agent.
        budget: USD that one call of the agent may cost.
        settings: a file of settings, or settings as JSON text.
        mcp_config: files that name MCP servers, or JSON texts.
        extra_arguments: further arguments of the program, as they are.
        config_folder: its folder (`CLAUDE_CONFIG_DIR`); None leaves it to the environment, else
            `~/.claude`. Sessions lie there.
        environment: variables to add to the program's environment.
        memory: let it read and write its auto-memory, which all sessions in a folder share, so what
            one role notes there reaches other roles and threads.
        structured: let it deliver a typed object (`--json-schema`) in place of text with
            frontmatter.
        timeout: seconds for one call of the agent; the session is kept.
    """

    command: str = "claude"
    model: str | None = None
    permission_mode: str | None = "acceptEdits"
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    add_dir: tuple[str, ...] = ()
    max_turns: int | None = None
    budget: float | None = None
    settings: str | None = None
    mcp_config: tuple[str, ...] = ()
    extra_arguments: tuple[str, ...] = ()
    config_folder: str | None = None
    environment: dict[str, str] = field(default_factory=dict, repr=False)
    memory: bool = False
    structured: bool = False
    timeout: Seconds | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no sense, and arguments that are the adapter's own.

        Raises:
            ValueError: one of the options.
        """
        if not self.command.strip():
            raise ValueError("command must name a program")
        require_numbers(self, max_turns=0, budget=0, timeout=0)
        for word in self.extra_arguments:
            name = word.partition("=")[0]
            if name in _OURS:
                raise ValueError(f"extraArguments must not have {name}, which uwf sets itself")
