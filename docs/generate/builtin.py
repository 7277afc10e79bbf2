"""The page of the builtin agent: its options, its tools, the services that `uwf setup` knows."""

from collections.abc import Iterator, Mapping
from typing import Any

from generate.options import options_table
from generate.tables import table
from uwf_agent_builtin.options import BuiltinOptions
from uwf_agent_builtin.tools.registry import BUILTIN_TOOLS
from uwf_core.config.providers import PRESETS

INTRODUCTION = """\
# The builtin agent

How to use it: [the guide](../guides/builtin.md).
"""
OPTIONS = """\
## Options

Set them at an alias: `agents: {coder: {use: builtin, options: {allowShell: workspace}}}`.
"""
TOOLS = """\
## Tools

`?` marks optional arguments. A role restricts the tools: `tools: [read_file, grep]`.
"""
SERVICES = """\
## Services

`uwf setup --provider NAME` knows these. For another service, or your own server, use
`--base-url` and, unless it speaks chat completions, `--protocol`.
"""


def markdown() -> str:
    """The whole page."""
    options = options_table(BuiltinOptions)
    tools = table(["tool", "arguments", "description for the model"], _tools())
    services = table(["name", "address", "variable of the key", "protocol"], _services())
    parts = (INTRODUCTION, OPTIONS, options, TOOLS, tools, SERVICES, services)
    return "\n".join(f"{part}\n" for part in parts)


def _tools() -> Iterator[tuple[str, str, str]]:
    for tool in BUILTIN_TOOLS:
        yield f"`{tool.name}`", _arguments(tool.parameters), tool.description


def _arguments(parameters: Mapping[str, Any]) -> str:
    required = parameters["required"]
    names = (f"`{name}{'' if name in required else '?'}`" for name in parameters["properties"])
    return " ".join(names)


def _services() -> Iterator[tuple[str, str, str, str]]:
    for name, preset in PRESETS.items():
        variable = "none" if preset.key_variable is None else f"`{preset.key_variable}`"
        yield f"`{name}`", f"`{preset.base_url}`", variable, f"`{preset.protocol}`"
