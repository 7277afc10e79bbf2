"""Parse the arguments of a tool call; the text of an error is the answer to the model."""

import json
from typing import Any, NoReturn

from uwf_core.api.agent import ToolCall
from uwf_llm.characters import whole_value

_SHOWN = 200


class ToolArgumentsError(ValueError):
    """Arguments that are not a JSON object; its text tells the model what is wrong."""


def parse_arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments of `call` as a mapping; a blank text means no arguments.

    Raises:
        ToolArgumentsError: they are not a JSON object.
    """
    text = call.arguments.strip()
    if text in ("", "null"):
        return {}
    try:
        arguments = json.loads(text, parse_constant=_refuse_constant)
    except ValueError as fault:
        raise _wrong(call, f"are not JSON: {fault}") from fault
    except RecursionError as fault:
        raise _wrong(call, "are nested too deeply") from fault
    if not isinstance(arguments, dict):
        raise _wrong(call, f"are a JSON {type(arguments).__name__}, not an object")
    whole: dict[str, Any] = whole_value(arguments, text)
    return whole


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _wrong(call: ToolCall, fault: str) -> ToolArgumentsError:
    shown = call.arguments
    if len(shown) > _SHOWN:
        shown = f"{shown[:_SHOWN]}… ({len(call.arguments)} characters)"
    return ToolArgumentsError(
        f"The arguments of {call.name} {fault}. They were: {shown}\n"
        "Nothing was done. Call the tool again with one complete JSON object."
    )
