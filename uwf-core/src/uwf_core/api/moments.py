"""Times that services and agents name: the end of a limit, how long to wait. Whatever the unit and
the form, a time is a bounded whole number of ms, or unknown. Pure.
"""

import re
from typing import Any

DAY_MS = 86_400_000
FARTHEST_MS = 8 * DAY_MS
"""How far ahead a time may be: plans with limits for a week exist."""
_UNITS = ((10**11, 1000, 1), (10**14, 1, 1), (10**17, 1, 10**3), (10**20, 1, 10**6))
"""Seconds, ms, µs and ns since 1970 differ by their size: for each its end, times, divided by."""
_NUMBER = re.compile(r"\s*[0-9]{1,20}(\.[0-9]{1,20})?\s*")
_SPAN = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(ms|s|m|h|d)[a-z]*\s*", re.IGNORECASE)
_SPANS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": DAY_MS}


def date_text(at_ms: int) -> str:
    """A time in ms since 1970 in the form of RFC 3339, in UTC."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")


def moment_ms(value: Any) -> int | None:
    """A time in ms since 1970: a number of s, ms, µs or ns since 1970, also as text, or a date of
    HTTP or RFC 3339. None for anything else.
    """
    number = _number(value)
    if number is None:
        return _date_ms(value) if isinstance(value, str) else None
    for end, times, divided_by in _UNITS:
        if 0 <= number < end:  # not of NaN
            return round(number * times / divided_by)
    return None


def plausible_ms(value: Any, now_ms: int) -> int | None:
    """The time as `moment_ms`, if it is at most a day ago and at most `FARTHEST_MS` ahead."""
    moment = moment_ms(value)
    near = moment is not None and now_ms - DAY_MS <= moment <= now_ms + FARTHEST_MS
    return moment if near else None


def wait_ms(value: Any, now_ms: int, unit_ms: int = 1000) -> int | None:
    """How long to wait: a number of `unit_ms` each, a span such as `6m0s`, or the time until which
    to wait. None if it cannot be right.
    """
    number = _number(value)
    spans = _SPAN.findall(value) if number is None and isinstance(value, str) else []
    if spans and not _SPAN.sub("", value).strip():
        sum_ms = sum(float(count) * _SPANS_MS[unit.lower()] for count, unit in spans)
        return round(sum_ms) if sum_ms <= FARTHEST_MS else None
    if number is not None and 0 <= number <= FARTHEST_MS / unit_ms:
        return round(number * unit_ms)
    until = plausible_ms(value, now_ms)
    return None if until is None else max(0, until - now_ms)


def _number(value: Any) -> int | float | None:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _date_ms(text: str) -> int | None:
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(text.strip())
            aware = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
            return round(aware.timestamp() * 1000)
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None
