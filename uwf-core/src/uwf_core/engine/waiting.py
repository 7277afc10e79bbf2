"""Waits of a run, with the lock of its thread held: for the time of the next attempt or role, and
for the end of a service's limit (`--wait-limits`).
"""

import time
from typing import TYPE_CHECKING

from uwf_core.thread.lifecycle import check_due, wait_words

if TYPE_CHECKING:
    from uwf_core.engine.context import Run

_LOOK_SECONDS = 30.0
"""How often a wait looks at the clock, which continues while a machine sleeps."""
_LEAST_SECONDS = 1.0
"""A service that names a time in the past is not called again at once."""


def wait_until_due(run: "Run") -> None:
    """Wait until the next role may run, or the run is stopped.

    Raises:
        BusyError: it may not run yet, and the run does not wait for that.
    """
    state, now_ms = run.head.state, run.engine.now_ms()
    wait, options = state.wait, run.options
    if wait is None or wait.until_ms <= now_ms or options.now or options.worker is not None:
        return
    if not run.may_wait(wait):
        check_due(run.head.thread, state, now_ms)
    wait_to(run, wait.until_ms, wait_words(state))


def wait_to(run: "Run", until_ms: int, why: str) -> None:
    """Wait until a time, or the run is stopped."""
    seconds = max(0.0, (until_ms - run.engine.now_ms()) / 1000)
    run.watch.notice(
        f"{why}; waiting {seconds:.0f} s, until {_moment(until_ms)}; to stop: uwf thread stop "
        f"{run.head.thread}"
    )
    while seconds > 0 and not run.cancel.wait(min(seconds, _LOOK_SECONDS)):
        seconds = (until_ms - run.engine.now_ms()) / 1000


def wait_for_service(run: "Run") -> float | None:
    """Wait until the rate limit of a service ends, or the run is stopped; how many seconds may
    still be waited in this call, None if that is too long.
    """
    suspension, allowed = run.head.state.suspension, allowed_wait(run)
    if suspension is None or suspension.until_ms is None or not allowed:
        return None
    now_ms, until_ms = run.engine.now_ms(), suspension.until_ms
    seconds = max(_LEAST_SECONDS, (until_ms - now_ms) / 1000)
    if seconds > allowed:
        run.watch.notice(
            f"{suspension.role}: the service asks to wait until {_moment(until_ms)}, longer than "
            f"the {allowed:.0f} s of --wait-limits"
        )
        return None
    wait_to(run, now_ms + int(seconds * 1000), f"{suspension.role}: the service asks to wait")
    return allowed - seconds


def _moment(at_ms: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_ms / 1000))


def allowed_wait(run: "Run") -> float:
    """For how many seconds a run may wait for the end of a service's limit: as the command, else
    the configuration allows.
    """
    given = run.options.wait_limits
    return (run.engine.settings.wait_limits or 0) if given is None else given
