"""`--wait-limits`: wait until a service accepts calls again, with the lock of the thread held."""

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uwf_core.engine.context import Run

_LEAST_SECONDS = 1.0
"""A service that names a time in the past is not called again at once."""


def wait_for_service(run: "Run") -> float | None:
    """Wait until the rate limit of a service ends, or the run is stopped; how many seconds may
    still be waited in this call, None if that is too long.
    """
    suspension, allowed = run.head.state.suspension, _allowed(run)
    if suspension is None or suspension.until_ms is None or not allowed:
        return None
    seconds = max(_LEAST_SECONDS, (suspension.until_ms - run.engine.now_ms()) / 1000)
    thread = run.head.thread
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(suspension.until_ms / 1000))
    if seconds > allowed:
        run.watch.notice(
            f"{suspension.role}: the service asks to wait until {moment}, longer than the "
            f"{allowed:.0f} s of --wait-limits"
        )
        return None
    run.watch.notice(
        f"{suspension.role}: the service asks to wait; waiting {seconds:.0f} s, until {moment}; "
        f"to stop: uwf thread stop {thread}"
    )
    run.cancel.wait(seconds)
    return allowed - seconds


def _allowed(run: "Run") -> float:
    """The seconds that the command, else the configuration allows."""
    given = run.options.wait_limits
    return (run.engine.settings.wait_limits or 0) if given is None else given
