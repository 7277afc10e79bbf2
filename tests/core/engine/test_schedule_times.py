"""When schedules fire: time zones, clocks that change, missed times, and threads that overlap."""

from datetime import datetime

import pytest

from uwf_core.errors import UsageError
from uwf_core.threads.schedules.times import (
    GRACE_MS,
    MOST_WAITING,
    Decision,
    Timing,
    decide,
    next_time,
)

MINUTE = 60_000


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def times(cron: str, zone: str, after: str, count: int) -> list[str]:
    found, at = [], ms(after)
    for _ in range(count):
        at = next_time(cron, zone, at)
        found.append(datetime.fromtimestamp(at / 1000, datetime.fromisoformat(after).tzinfo))
    return [each.strftime("%d %H:%M") for each in found]


def test_a_time_is_that_of_its_zone():
    assert times("30 6 * * 1-5", "Asia/Kolkata", "2026-01-02T00:00+00:00", 3) == [
        "02 01:00", "05 01:00", "06 01:00",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("30 2 * * *", ["29 01:00", "30 00:30", "31 00:30"]),  # 02:30 is left out: 03:00 instead
        ("30 1,2,3 * * *", ["29 00:30", "29 01:00", "29 01:30"]),
        ("*/30 * * * *", ["28 23:30", "29 00:00", "29 00:30"]),
        ("15 * * * *", ["28 23:15", "29 00:15", "29 01:15"]),
    ],
)
def test_when_clocks_go_forward_no_time_is_lost(cron, expected):
    """Berlin, 29 March 2026: 02:00 is 03:00. Times in UTC."""
    assert times(cron, "Europe/Berlin", "2026-03-28T23:00+00:00", 3) == expected


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("30 2 * * *", ["25 00:30", "26 01:30", "27 01:30"]),  # once, not again an hour later
        ("30 1,2,3 * * *", ["24 23:30", "25 00:30", "25 02:30"]),
        ("*/30 * * * *", ["24 23:30", "25 00:00", "25 00:30"]),
        ("15 * * * *", ["24 23:15", "25 00:15", "25 01:15"]),
    ],
)
def test_when_clocks_go_back_no_time_is_doubled(cron, expected):
    """Berlin, 25 October 2026: 03:00 is 02:00. What runs each hour keeps its distance."""
    assert times(cron, "Europe/Berlin", "2026-10-24T23:00+00:00", 3) == expected


@pytest.mark.parametrize(
    ("cron", "zone", "part"),
    [
        ("* * * *", "UTC", "4 fields"),
        ("0 30 2 * * *", "UTC", "6 fields"),
        ("61 * * * *", "UTC", "Bad minute"),
        ("0 0 31 2 *", "UTC", "31 2"),
        ("0 0 * * *", "Mars/Olympus", "unknown time zone"),
        ("0 0 * * *", "../etc/passwd", "unknown time zone"),
        ("0 0 * * *", "", "unknown time zone"),
    ],
)
def test_what_is_no_time_is_rejected(cron, zone, part):
    with pytest.raises(UsageError, match=part):
        next_time(cron, zone, 0)


NOON = ms("2026-06-01T12:00+00:00")
HOURLY = Timing("0 * * * *", "UTC", "skip", "skip", NOON)


def at(timing: Timing, after_ms: int, *, is_open: bool = False) -> Decision:
    return decide(timing, NOON + after_ms, is_open=is_open)


def test_it_fires_at_its_time_and_not_before():
    assert at(HOURLY, -1) == Decision(False, NOON, 0)
    assert at(HOURLY, 0) == Decision(True, NOON + 60 * MINUTE, 0)
    assert at(HOURLY, GRACE_MS - 1).fires


@pytest.mark.parametrize("cron", ["* * * * *", "0 * * * *"])
def test_missed_times_are_skipped_or_fire_once(cron):
    """Also those of a schedule that is due again right now: it fires for this time alone."""
    timing = HOURLY._replace(cron=cron)
    late = 150 * MINUTE + 30_000
    following = next_time(cron, "UTC", NOON + late)
    skipped = at(timing, late)
    if cron == "0 * * * *":
        assert skipped == Decision(False, following, 0, "missed")
    else:
        assert skipped == Decision(True, following, 0)
    assert at(timing._replace(missed="once"), late) == Decision(True, following, 0)


def test_while_the_thread_before_is_open_a_time_is_skipped_or_waits():
    following = NOON + 60 * MINUTE
    assert at(HOURLY, 0, is_open=True) == Decision(False, following, 0, "overlap")
    queued = HOURLY._replace(overlap="queue")
    assert at(queued, 0, is_open=True) == Decision(False, following, 1)
    waits = queued._replace(next_ms=following, waiting=2)
    assert at(waits, 1, is_open=True) == Decision(False, following, 2)
    assert at(waits, 1) == Decision(True, following, 1), "the thread before has ended"
    assert at(waits, 60 * MINUTE) == Decision(True, following + 60 * MINUTE, 2)
    full = waits._replace(waiting=MOST_WAITING)
    assert at(full, 60 * MINUTE, is_open=True).skipped == "overlap"
