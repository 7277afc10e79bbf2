"""Whether workers run a failed step again, and after how long."""

from typing import TYPE_CHECKING, Final

from uwf_core.errors import FailureKind

if TYPE_CHECKING:
    from uwf_core.thread.state import ThreadState

MOST_TRIES: Final = 5
"""How often workers run a step that fails, before it waits for a person."""

TRANSIENT: Final = frozenset(
    (
        *(FailureKind.RATE_LIMIT, FailureKind.TIMEOUT, FailureKind.STALLED, FailureKind.CRASHED),
        *(FailureKind.TRUNCATED, FailureKind.EMPTY, FailureKind.SESSION_LOST),
        FailureKind.INTERRUPTED,
    )
)
"""The failures after which workers run the step again: the same may well succeed."""

_FIRST_PAUSE_SECONDS, _LIMITED_SECONDS = 1.0, 30.0


def retry_after(state: "ThreadState", kind: FailureKind, now_ms: int) -> tuple[bool, float]:
    """Whether a step that has failed is run again, and after how many seconds."""
    tries = state.tries
    if kind not in TRANSIENT or tries >= MOST_TRIES:
        return False, 0
    if kind is FailureKind.RATE_LIMIT:
        until = state.suspension.until_ms if state.suspension else None
        if until is not None:
            return True, max(_FIRST_PAUSE_SECONDS, (until - now_ms) / 1000)
        return True, float(_LIMITED_SECONDS * 2 ** max(0, tries - 1))
    if kind is FailureKind.INTERRUPTED and tries <= 1:  # its worker died or was ended
        return True, 0
    return True, float(_FIRST_PAUSE_SECONDS * 4 ** max(0, tries - 1))
