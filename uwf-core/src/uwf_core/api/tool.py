"""The tool contract: further tools for the builtin agent."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from uwf_core.api.agent import API_VERSION
from uwf_core.api.record import record
from uwf_core.process.cancel import Cancel


@record
class ToolSpec:
    """A tool: `parameters` is the JSON Schema of its arguments; `factory` is `module:attribute`
    and returns a `Tool` when called without arguments.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    factory: str
    api: str = API_VERSION


@record
class ToolContext:
    """The workspace of a tool call, the cleaned environment, and the cancel token."""

    cwd: str
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cancel: Cancel = field(default_factory=Cancel, repr=False)


Tool = Callable[[Mapping[str, Any], ToolContext], str]
"""Called with the arguments and the context; the text is the answer to the model. An exception's
text is an answer as well, marked as an error."""


@record
class LoadedTool:
    """A tool of a plugin, ready to be called."""

    spec: ToolSpec
    tool: Tool
