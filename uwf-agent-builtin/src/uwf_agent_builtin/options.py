"""The options of the agent, as `agents.<alias>.options` of the configuration has them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from uwf_core.api import Seconds, require_numbers

_SERVER = re.compile(r"[A-Za-z0-9](-?[A-Za-z0-9]){0,31}")


@dataclass(frozen=True, kw_only=True)
class McpServer:
    """A server whose tools the model gets as `mcp__<server>__<tool>`.

    Attributes:
        command, args: the program that is the server (JSON-RPC by its stdin and stdout).
        env: names of variables that it gets besides the usual ones; the alias must have them too.
        url: the address of a server in place of a program (streamable HTTP).
        token_env: the name of a variable with the bearer token for that address.
        tools: the only tools of the server that are used, by its own names; None takes all.
        seconds: how long its start, and each call of a tool, may take.
    """

    command: str | None = None
    args: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    url: str | None = None
    token_env: str | None = None
    tools: tuple[str, ...] | None = None
    seconds: Seconds = 60.0

    def __post_init__(self) -> None:
        """Reject a server that is neither or both.

        Raises:
            ValueError: so it is.
        """
        if (self.command is None) == (self.url is None):
            raise ValueError("needs a `command` or a `url`, and not both")
        require_numbers(self, seconds=0)


@dataclass(frozen=True, kw_only=True)
class BuiltinOptions:
    """The options of an alias.

    Attributes:
        max_turns: replies of the model in one call of the agent.
        max_tokens: tokens of all kinds in one call of the agent; None means no budget.
        context_tokens: the window of the model; if it is nearly full, old output of tools is left
            out, then a summary of the model replaces its earlier work.
        max_output_tokens: of one reply of the model; None leaves it to the service.
        temperature: None leaves it to the service.
        max_attempts: requests for one reply if the service is busy or breaks off.
        stream: request streamed replies, so that you see them as they arrive.
        allow_shell: how commands run. false: not at all. `ask`: a person decides about each.
            `workspace`: in the workspace, to which they are not confined. `sandbox`: under
            bubblewrap; without it the agent is unavailable.
        sandbox_reads: further paths that commands in the sandbox can read, such as that of a tool
            in the home.
        command_seconds: the time limit of one command.
        fetch: allow to read pages of the public internet.
        rules: read the AGENTS.md of a trusted project.
        deny: further files that no tool touches, as patterns of .gitignore.
        allow_write: files that tools may change, as such patterns; None allows all but the denied.
        allow_protected: names of roles that may write files that other programs run or obey by
            their presence, such as `.workflow`, `.claude` or `.vscode`. Only the user's own
            configuration can set it.
        mcp: servers of the Model Context Protocol, by a name of letters, digits and hyphens.
        timeout: seconds for one call of the agent.
    """

    max_turns: int = 30
    max_tokens: int | None = None
    context_tokens: int = 128_000
    max_output_tokens: int | None = None
    temperature: float | None = None
    max_attempts: int = 5
    stream: bool = True
    allow_shell: Literal[False, "ask", "workspace", "sandbox"] = False
    sandbox_reads: tuple[str, ...] = ()
    command_seconds: Seconds = 120.0
    fetch: bool = True
    rules: bool = True
    deny: tuple[str, ...] = ()
    allow_write: tuple[str, ...] | None = None
    allow_protected: tuple[str, ...] = ()
    mcp: Mapping[str, McpServer] = field(default_factory=dict)
    timeout: Seconds | None = None

    def __post_init__(self) -> None:
        """Reject invalid numbers.

        Raises:
            ValueError: one of them.
        """
        require_numbers(self, max_turns=1, max_attempts=1, context_tokens=1000, command_seconds=1)
        require_numbers(self, max_tokens=0, max_output_tokens=0, timeout=0)
        for server in self.mcp:
            if not _SERVER.fullmatch(server):
                raise ValueError(f"mcp: {server!r} is not a name of letters, digits and hyphens")
