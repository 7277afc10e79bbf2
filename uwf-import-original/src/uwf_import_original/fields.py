"""Fields of payloads in which an older version may have written something else, or nothing."""

from collections.abc import Mapping
from typing import Any

from uwf_core.errors import UwfError

LATEST_MS = 253_402_300_799_999
"""The end of the year 9999, the last that a date can have."""


class NotImported(UwfError):
    """A thread or workflow of the original that has no form here."""

    code = "not-imported"


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """`value` as a mapping.

    Raises:
        NotImported: it is something else.
    """
    if not isinstance(value, dict):
        raise NotImported(f"{what} is not a mapping")
    return value


def text(payload: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is text, else an empty one."""
    return next((payload[name] for name in names if isinstance(payload.get(name), str)), "")


def number(payload: Mapping[str, Any], name: str) -> int | None:
    """A field that is a whole number of at least 0, else None."""
    value = payload.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return None


def moment(payload: Mapping[str, Any], name: str) -> int | None:
    """A field that is a time in ms since 1970, else None."""
    value = number(payload, name)
    return None if value is None or value > LATEST_MS else value


def texts(value: Any) -> list[str]:
    """The texts of a list; nothing of anything else."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
