"""The command line of one run. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from uwf_agent_claude_code.options import ClaudeCodeOptions

READING = ("Read", "Grep", "Glob")
"""The tools that a question is answered with: nothing is changed by it."""

_BUILTIN_TOOLS = {
    "read_file": "Read", "write_file": "Write", "edit_file": "Edit", "list_files": "Glob",
    "grep": "Grep", "run_command": "Bash", "fetch_url": "WebFetch",
}  # fmt: skip


def narrowed(tools: Sequence[str] | None) -> tuple[str, ...] | None:
    """The names that a role is narrowed to, as the program has them: those of uwf's own agent are
    translated, so that a workflow need not know which agent plays its roles.
    """
    if tools is None:
        return None
    return tuple(dict.fromkeys(_BUILTIN_TOOLS.get(name, name) for name in tools))


def command_line(
    options: ClaudeCodeOptions,
    session: Sequence[str],
    tools: Sequence[str] | None,
    schema: Mapping[str, Any] | None,
    *,
    trusted: bool,
) -> list[str]:
    """The program with its arguments; the prompt is not among them, it goes in by stdin.

    Args:
        options: the user's options.
        session: the arguments that select the session.
        tools: the only tools to offer; None does not restrict.
        schema: of the object to deliver; None for text.
        trusted: whether the working folder's own settings, hooks and servers may take effect: with
            `-p` the program asks nobody whether it trusts them.
    """
    return [
        *(options.command, "-p", "--output-format", "stream-json", "--verbose"),
        *session,
        *([] if trusted else ["--setting-sources", "user"]),
        *_given("--model", options.model),
        *_given("--permission-mode", options.permission_mode),
        *_given("--max-turns", options.max_turns),
        *_given("--max-budget-usd", options.budget),
        *_given("--settings", options.settings),
        *_tools(options, tools),
        *_several("--allowedTools", options.allowed_tools),
        *_several("--disallowedTools", options.disallowed_tools),
        *_several("--add-dir", options.add_dir),
        *([] if schema is None else ["--json-schema", json.dumps(schema, ensure_ascii=False)]),
        *options.extra_arguments,
    ]


def _tools(options: ClaudeCodeOptions, tools: Sequence[str] | None) -> list[str]:
    """`--tools` knows the program's own tools alone: servers are left out unless one is named."""
    servers = _several("--mcp-config", options.mcp_config)
    if tools is None:
        return servers
    own = [name for name in tools if not name.startswith("mcp__")]
    if len(own) == len(tools):
        servers = ["--strict-mcp-config"]
    return ["--tools", ",".join(own), *servers]


def _given(name: str, value: str | float | None) -> list[str]:
    return [] if value is None else [name, str(value)]


def _several(name: str, values: Sequence[str]) -> list[str]:
    return [name, *values] if values else []
