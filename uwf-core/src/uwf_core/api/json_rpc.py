"""JSON-RPC as peers really write it, for the clients of ACP and MCP. The ids of our requests count
from 1; some peers return them as text or as floats, and some print every field of a message, the
unused ones as null. Pure.
"""

import re
from collections.abc import Mapping
from typing import Any

FIRST_ID = 1
"""Some peers take 0 for a missing id."""
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.0)?")


def request_number(id_: Any) -> int | None:
    """The number of our request that the id of an answer names; None if it names none."""
    if isinstance(id_, str):
        return int(id_.partition(".")[0]) if _NUMBER.fullmatch(id_) else None
    if isinstance(id_, bool) or not isinstance(id_, int | float):
        return None
    return int(id_) if isinstance(id_, int) or id_.is_integer() else None


def is_call(message: Mapping[str, Any]) -> bool:
    """Whether it is a request or a notification of the peer, and not an answer."""
    return isinstance(message.get("method"), str)


def is_answer(message: Mapping[str, Any], number: int) -> bool:
    """Whether it answers our request of this number."""
    return not is_call(message) and request_number(message.get("id")) == number


def error_of(message: Mapping[str, Any]) -> Any:
    """The error that an answer reports; None if it reports none."""
    return message.get("error")
