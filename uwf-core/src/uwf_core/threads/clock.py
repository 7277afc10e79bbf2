"""Whether the clock of this machine has jumped ahead since the last pass of `tick`: then what looks
due is not. Each pass stores the wall time beside the time since boot, which nobody can set.
"""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.config.home import write_private
from uwf_core.errors import UsageError
from uwf_core.process.folders import make_folder
from uwf_core.process.identity import boot_id

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

FILE = "clock.json"
SLACK_MS = 60_000
"""So much may the clock be put right."""


class ClockJumped(UsageError):
    """The wall time has advanced by more than the time since boot."""

    code = "clock"


class Clocks(NamedTuple):
    """The wall time and the time since boot (sleep included) of one moment, in ms, and which
    boot: empty if the system does not say.
    """

    wall_ms: int
    boot_ms: int
    boot: str


def check_clock(engine: "Engine", *, accept: bool = False) -> None:
    """Compare the clocks with those of the last pass, and store them; the next pass finds a jump
    again that nobody has accepted. Nothing is compared across a boot.

    Raises:
        ClockJumped: the wall time has advanced too far.
    """
    boot_clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    boot_ms = time.clock_gettime_ns(boot_clock) // 1_000_000
    now, file = Clocks(engine.now_ms(), boot_ms, boot_id()), Path(engine.home, FILE)
    before = None if accept else _read(file)
    if before is not None and now.boot and now.boot == before.boot:
        jump_ms = now.wall_ms - before.wall_ms - (now.boot_ms - before.boot_ms)
        if jump_ms > SLACK_MS:
            from uwf_core.api.moments import date_text  # for the error alone

            raise ClockJumped(
                f"the clock of this machine was put ahead by {jump_ms // 1000} s since the last "
                f"pass, to {date_text(now.wall_ms)}: nothing was fired, expired or continued",
                hint="put the clock right; or, if it is right: uwf tick --accept-clock",
            )
    make_folder(engine.home)
    write_private(str(file), json.dumps(now))


def _read(file: Path) -> Clocks | None:
    try:
        return Clocks(*json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError):  # the first pass, or of another version
        return None
