"""A tool as a record, and the context of its calls."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from uwf_agent_builtin.options import BuiltinOptions
    from uwf_agent_builtin.sessions.permission import Permission
    from uwf_agent_builtin.workspace import Workspace
    from uwf_core.api import Call
    from uwf_llm.chat import Image


@dataclass(frozen=True, kw_only=True)
class CallContext:
    """The context of a tool call.

    Attributes:
        workspace: the only access to files.
        call: the agent's call with a cleaned environment, to start programs.
        options: the user's options.
        seconds_left: returns the seconds left for the whole call.
        permission: what a person allowed, if commands need that.
        sandbox: the beginning of the command line of a confined command.
    """

    workspace: "Workspace"
    call: "Call"
    options: "BuiltinOptions"
    seconds_left: Callable[[], float]
    permission: "Permission | None" = None
    sandbox: tuple[str, ...] = ()


Arguments = Mapping[str, Any]


class ImageAnswer(NamedTuple):
    """An image as the answer to the model; turns record the text alone, which describes it."""

    text: str
    image: "Image"


class BuiltinTool(NamedTuple):
    """A tool of this distribution, or an adapted tool of a plugin.

    Attributes:
        parameters: the JSON Schema of its arguments.
        run: runs it; the result is the answer to the model.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[Arguments, CallContext], str | ImageAnswer]


class ServerTools(NamedTuple):
    """The tools of servers.

    Attributes:
        tools: ready to be called. problems: what was left out, for people.
        record: the tools as JSON text, for the record; None without servers.
    """

    tools: tuple[BuiltinTool, ...] = ()
    problems: tuple[str, ...] = ()
    record: str | None = None


def parameters(required: tuple[str, ...] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of arguments: an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_BOUNDS = frozenset(("additionalProperties", "minimum", "maximum", "exclusiveMinimum"))


def offered_schema(schema: Any) -> Any:
    """A schema of `parameters` as the model gets it. Every request pays for its characters, so it
    has no bounds and no empty list: arguments that violate them get an error that names them.
    """
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if name not in _BOUNDS and value != []}
    return {name: offered_schema(value) for name, value in kept.items()}


def cut(text: str, most: int, what: str) -> str:
    """`text` without its middle if it is longer than `most` characters: the end of an output is as
    informative as its beginning.
    """
    if len(text) <= most:
        return text
    head, tail = most * 2 // 5, most * 3 // 5
    left = len(text) - head - tail
    return f"{text[:head]}\n[… {left} characters of {what} left out …]\n{text[-tail:]}"
