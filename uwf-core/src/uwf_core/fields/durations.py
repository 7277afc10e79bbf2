"""Durations: seconds as a number, or a text with a unit."""

# ruff: noqa: D102

from typing import Annotated, Any

from uwf_core.fields.kinds import JsonSchema, Scalar
from uwf_core.fields.mismatch import SPAN, Path, Reading

Seconds = Annotated[float, SPAN]
"""A number of seconds that files can also write as `30s`, `45m`, `4h` or `2d`."""

_SPAN = "^[0-9]{1,6}[smhd]$"
_SPAN_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class Duration(Scalar):
    """Seconds as a number, or a text such as `30s`, `10m`, `4h`, `2d`; the value is in seconds."""

    def __init__(self) -> None:
        super().__init__(float)
        self.wanted = "a duration such as 90, 30s, 4h or 2d"
        self.is_text = True

    def read(self, value: Any, path: Path, reading: Reading) -> Any:
        seconds = seconds_of(value) if isinstance(value, str) else value
        return (
            self.wrong(value, path, reading)
            if seconds is None
            else super().read(seconds, path, reading)
        )

    def _schema(self, stored: bool) -> JsonSchema:
        number = super()._schema(stored)
        return number if stored else {"anyOf": [number, {"type": "string", "pattern": _SPAN}]}


def seconds_of(text: str) -> int | None:
    """The seconds of a duration such as `4h`; None if it is none."""
    count, unit = text[:-1], _SPAN_SECONDS.get(text[-1:])
    is_number = count.isascii() and count.isdigit() and len(count) < 7
    return int(count) * unit if unit is not None and is_number else None
