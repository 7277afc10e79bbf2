"""The tool contract: further tools for the builtin agent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from uwf_core import API_VERSION
from uwf_core.process.cancel import Cancel


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """A tool as its distribution announces it.

    Attributes:
        name: the name that the model calls.
        description: what it does, for the model.
        parameters: the JSON Schema of its arguments.
        factory: `module:attribute`, called without arguments, gives a `Tool`.
        api: the version of this contract that the tool was written for.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    factory: str
    api: str = API_VERSION


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """Where a tool works.

    Attributes:
        cwd: the workspace, which the tool must not leave.
        env: the environment of the step, without secrets of others.
        cancel: set when the call is stopped or its time is over.
    """

    cwd: str
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cancel: Cancel = field(default_factory=Cancel, repr=False)


Tool = Callable[[Mapping[str, Any], ToolContext], str]
"""Called with the arguments and the context; the text is the answer to the model. An exception's
text is an answer as well, marked as an error."""


@dataclass(frozen=True, kw_only=True)
class LoadedTool:
    """A tool of a plugin, ready to be called.

    Attributes:
        spec: its announcement.
        tool: what its factory gave.
    """

    spec: ToolSpec
    tool: Tool
