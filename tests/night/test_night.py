"""A short night, so that the long one, which is run by hand, still works."""

from pathlib import Path

from tests.night.night import Night, Plan

HARD = Plan(2, 4, 3, unavailable=0.2, cut=0.1, silent=0.05, killed=0.2, ticks_killed=0.3, minutes=5)


def test_threads_run_to_their_end_by_tick_alone_over_failures_and_kills(tmp_path: Path):
    night = Night(tmp_path, HARD)
    night.play(print)
    faults = night.faults()
    assert faults == [], "\n".join(night.report(faults))
