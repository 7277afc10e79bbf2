"""A tool as a record, and what it works with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from uwf_agent_builtin.options import BuiltinOptions
    from uwf_agent_builtin.workspace import Workspace
    from uwf_core.api import Call


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What a tool works with.

    Attributes:
        workspace: the only way to files.
        call: the call of the agent, for programs, with its environment cleaned.
        options: what the user says.
        seconds_left: of the whole call.
    """

    workspace: "Workspace"
    call: "Call"
    options: "BuiltinOptions"
    seconds_left: Callable[[], float]


Arguments = Mapping[str, Any]


class HouseTool(NamedTuple):
    """A tool of this distribution, or one of a plugin made alike.

    Attributes:
        parameters: the JSON Schema of its arguments.
        run: does it; the text is the answer to the model.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[Arguments, Bench], str]


def parameters(required: tuple[str, ...] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of arguments: an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def cut(text: str, most: int, what: str) -> str:
    """`text`, its middle left out if it is longer than `most` characters: how a program ends says
    as much as how it begins.
    """
    if len(text) <= most:
        return text
    head, tail = most * 2 // 5, most * 3 // 5
    left = len(text) - head - tail
    return f"{text[:head]}\n[… {left} characters of {what} left out …]\n{text[-tail:]}"
