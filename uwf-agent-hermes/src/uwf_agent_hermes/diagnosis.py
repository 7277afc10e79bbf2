"""What Hermes writes to its log about the end of a turn. Pure.

Over the protocol a failed call of the model looks like an answer. Its log, on stderr, shows the
error; the forms below are those of 0.18 and 0.19.
"""

import re
from typing import NamedTuple

_TURN_ENDED = re.compile(r"Turn ended: reason=([a-z_]+)")
_CALL_FAILED = re.compile(r"API call failed \(attempt .*? error_type=(\w+).* summary=(.*)")
_GAVE_UP = re.compile(r"\[ERROR\] agent\.conversation_loop: (.*)")
_DECLINED = re.compile(r"Model declined to respond \(finish_reason=\w+\)")
_STATUS = re.compile(r"HTTP (\d{3})\b")


class Diagnosis(NamedTuple):
    """What the log says; None and False where it says nothing.

    Attributes:
        reason: why the turn ended, in Hermes' word (`text_response`, `max_iterations_reached`).
        error_type: the class of the last failed call of the model (`AuthenticationError`).
        summary: that failure in words.
        gave_up: Hermes' last word on a turn that it ended with an error.
        declined: the model refused.
    """

    reason: str | None = None
    error_type: str | None = None
    summary: str | None = None
    gave_up: str | None = None
    declined: bool = False


def read_log(text: str) -> Diagnosis:
    """The diagnosis of a log, of which the end counts."""
    call = _last(_CALL_FAILED, text)
    reason, gave_up = _last(_TURN_ENDED, text), _last(_GAVE_UP, text)
    return Diagnosis(
        reason=reason[1] if reason else None,
        error_type=call[1] if call else None,
        summary=call[2].strip() if call else None,
        gave_up=gave_up[1].strip() if gave_up else None,
        declined=_DECLINED.search(text) is not None,
    )


def status_of(text: str) -> int | None:
    """The HTTP status that a summary begins with or names."""
    found = _STATUS.search(text)
    return int(found[1]) if found else None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(pattern.finditer(text), key=re.Match.start, default=None)
