"""The clock jumps: far, back, at any call, or stands still."""

import itertools
import os
import random
import time
from collections.abc import Callable, Iterator

from tests.faults.forked import spread
from tests.faults.table import Case, Effort
from tests.faults.world import World, unsound

_HOUR = 3600
JUMPS = {
    "a year forward": 365 * 24 * _HOUR,
    "a century forward": 100 * 365 * 24 * _HOUR,
    "an hour forward": _HOUR,
    "a second back": -1,
    "an hour back": -_HOUR,
    "a year back": -365 * 24 * _HOUR,
    "to 1970": -1 << 60,
}
"""Seconds by which the clock jumps; never before 1970."""

WAYS = ("once", "to and fro", "at random", "and stands still")


def clocks(world: World, effort: Effort) -> Iterator[Case]:
    """Let the clock jump within start, exec, poke and fork; by each jump in each way."""
    cases = list(itertools.product(JUMPS, WAYS, range(_CALLS)))

    def look(case: tuple[str, str, int]) -> str | None:
        return _look(world.twin(world.root / f"home-{os.getpid()}"), case, effort.seed)

    for (jump, way, call), fault in spread(effort.sample(cases, 28), look, effort.workers):
        yield Case(f"{jump}, {way}, from call {call} of each command on", fault)


_CALLS = 4


def _look(world: World, case: tuple[str, str, int], seed: int) -> str | None:
    jump, way, call = case
    world.put(None)
    commands = [
        ("thread", "start", "loop", "-p", "The task."),
        *[("thread", "exec", "@last")] * 3,
        ("thread", "poke", "@last", "-p", "Better."),
        ("thread", "list", "--all"),
    ]
    clock = _Clock(JUMPS[jump] * 10**9, way, 3 * call + 1, random.Random(seed))

    def arm() -> None:
        time.time_ns = clock.now
        time.time = lambda: clock.now() / 1e9

    ended, acks = world.play(commands, arm)
    if ended.code or any(ack.code for ack in acks):
        return f"{[ack.code for ack in acks]} {ended.err[-600:]}"
    return unsound(world, acks)


class _Clock:
    """A wrong clock."""

    def __init__(self, jump_ns: int, way: str, calls: int, chance: random.Random) -> None:
        self._real: Callable[[], int] = time.time_ns
        self._jump, self._way, self._calls, self._chance = jump_ns, way, calls, chance
        self._count, self._stopped = 0, 0

    def now(self) -> int:
        """ns since 1970, or so it says."""
        self._count += 1
        true = self._real()
        wrong = max(1, true + self._jump)
        if self._count < self._calls:
            return true
        if self._way == "to and fro":
            return wrong if self._count % 2 else true
        if self._way == "at random":
            return self._chance.choice((wrong, true))
        if self._way == "and stands still":
            self._stopped = self._stopped or wrong
            return self._stopped
        return wrong
