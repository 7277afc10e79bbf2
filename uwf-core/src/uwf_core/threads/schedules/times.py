"""When a schedule fires, and what it does then. Pure."""

from datetime import UTC, datetime
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from uwf_core.errors import UsageError

Missed = Literal["skip", "once"]
"""What happens to times at which nobody looked: nothing, or one start for all of them."""

Overlap = Literal["skip", "queue"]
"""What happens while the thread before is open: nothing, or a start after its end."""

GRACE_MS = 600_000
"""A time that is so long past was missed: `uwf tick` usually runs every five minutes."""

MOST_WAITING = 100
"""So many starts wait for the end of the thread before."""

_FIELDS = 5


class Timing(NamedTuple):
    """The rules of a schedule, and where it is.

    Attributes:
        cron: minute, hour, day of month, month, day of week. zone: an IANA time zone.
        missed, overlap: see there.
        next_ms: the next time, in ms since 1970. waiting: starts that wait for an end.
    """

    cron: str
    zone: str
    missed: Missed
    overlap: Overlap
    next_ms: int
    waiting: int = 0


class Decision(NamedTuple):
    """What to do with a schedule now.

    Attributes:
        fires: whether to start its thread.
        next_ms, waiting: as in `Timing`, afterwards.
        skipped: why a time was skipped; None: none was.
    """

    fires: bool
    next_ms: int
    waiting: int
    skipped: Literal["missed", "overlap"] | None = None


def decide(timing: Timing, now_ms: int, *, is_open: bool) -> Decision:
    """What to do at `now_ms`. `is_open`: the thread before has not ended.

    Raises:
        UsageError: the expression or the time zone is unknown here.
    """
    if timing.next_ms > now_ms:
        fires = timing.waiting > 0 and not is_open
        return Decision(fires, timing.next_ms, timing.waiting - fires)
    following = next_time(timing.cron, timing.zone, now_ms)
    bound = now_ms - GRACE_MS
    is_on_time = timing.next_ms >= bound or next_time(timing.cron, timing.zone, bound) <= now_ms
    if not is_on_time and timing.missed == "skip":
        fires = timing.waiting > 0 and not is_open
        return Decision(fires, following, timing.waiting - fires, "missed")
    if not is_open:  # one that waits goes first, and this one waits instead
        return Decision(True, following, timing.waiting)
    if timing.overlap == "skip":
        return Decision(False, following, timing.waiting, "overlap")
    waiting = min(timing.waiting + 1, MOST_WAITING)
    return Decision(False, following, waiting, None if waiting > timing.waiting else "overlap")


def next_time(cron: str, zone: str, after_ms: int) -> int:
    """The first time after `after_ms`, in ms since 1970.

    When clocks go forward, a time within the hour that is left out is the first minute after it;
    when they go back, one within the repeated hour is its first occurrence. An expression whose
    minute or hour begins with `*` follows real time through both.

    Raises:
        UsageError: not a cron expression, one that never occurs, or an unknown time zone.
    """
    from cronsim import CronSim, CronSimError  # 0.03 CPU seconds, where a schedule is due

    start = datetime.fromtimestamp(after_ms / 1000, UTC).astimezone(zone_of(zone))
    if len(cron.split()) != _FIELDS:
        raise _not_cron(cron, f"it has {len(cron.split())} fields, not {_FIELDS}")
    try:
        found = next(CronSim(cron, start))
    except CronSimError as error:
        raise _not_cron(cron, str(error)) from error
    except StopIteration:
        raise UsageError(f"the times of {cron!r} do not occur within 50 years") from None
    return int(found.timestamp() * 1000)


def _not_cron(cron: str, cause: str) -> UsageError:
    return UsageError(
        f"{cron!r} is not a cron expression: {cause}",
        hint="write minute, hour, day of month, month, day of week: '30 6 * * 1-5'",
    )


def zone_of(name: str) -> ZoneInfo:
    """A time zone.

    Raises:
        UsageError: it is unknown on this machine.
    """
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise UsageError(
            f"unknown time zone {name!r}", hint="use an IANA name, such as Europe/Berlin or UTC"
        ) from None
