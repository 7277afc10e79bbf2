"""The process dies: at every named crash point, and at any moment."""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from tests.faults.forked import spread
from tests.faults.scenarios import SCENARIOS, WITH_CALLS, Scene, Words, dying, scene
from tests.faults.table import Case, Effort
from tests.faults.world import World, left_over, unsound

from uwf_core.engine import progress
from uwf_core.testing.crashes import POINTS, at_points


class Death(NamedTuple):
    """A process that dies: in which scene, where (`point:count`), or after how many seconds."""

    scene: Scene
    where: str = ""
    seconds: float = 0.0

    def once_less(self) -> "Death | None":
        """The time before, if there is one. What is told in quick succession is kept at once: how
        often a point is reached depends on time, and this is about the last time that it is.
        """
        point, _, count = self.where.partition(":")
        fewer = int(count or 0) - 1
        return self._replace(where=f"{point}:{fewer}") if fewer > 0 else None


def at_every_point(world: World, effort: Effort) -> Iterator[Case]:
    """Die at every crash point of every scenario: the first, the middle and the last time that it
    is reached; in the long form every time. Once without a call, and once during one.
    """
    deaths, found = list[Death](), {False: set[str](), True: set[str]()}
    for name in SCENARIOS:
        there = scene(world, name)
        counts, reached = _trace(there), found[name in WITH_CALLS]
        new = set(counts) - reached
        reached |= set(counts)
        for point, count in sorted(counts.items()):
            times = range(1, count + 1) if effort.share >= 1 else {1, (count + 1) // 2, count}
            if effort.share >= 1 or point in new:
                deaths += [Death(there, f"{point}:{each}") for each in times]
    for point in set(POINTS) - found[False] - found[True] - _ELSEWHERE:
        yield Case(point, "no scenario comes to this point")
    for point in found[False] - found[True] - _WITHOUT_CALLS:
        yield Case(point, "no scenario comes to this point during a call")
    chosen = effort.sample(deaths, len(deaths))
    for death, fault in spread(chosen, _die, effort.workers):
        yield Case(f"{death.scene.name}, {death.where}", fault)


_ELSEWHERE = {"notice-sent"}
"""Tried by `tests/core/notices`: the process that sends is another one."""
_WITHOUT_CALLS = {"store-draft", "store-made", "snapshot", "worktree", "worktree-made"}
"""Points that are passed before there is a thread, or that a call does not change."""


def _trace(there: Scene) -> Counter[str]:
    """How often the commands of a scene come to each point, everything going well."""
    fd = os.memfd_create("points")

    def arm() -> None:
        _keep_at_once()
        at_points(lambda name: _note(fd, name))

    there.world.put(there.home)
    ended, acks = there.world.play(there.commands, arm)
    assert len(acks) == len(there.commands), ended
    with open(fd, "rb") as file:
        file.seek(0)
        return Counter(file.read().decode().split())


def _note(fd: int, name: str) -> None:
    os.write(fd, f"{name}\n".encode())


def at_any_moment(world: World, effort: Effort) -> Iterator[Case]:
    """SIGKILL after a random time, in every scenario in turn."""
    chance = random.Random(effort.seed)
    names = [name for name in SCENARIOS if name != "worktree"]  # its git would go on, in a new home
    scenes = [(there, _usual_seconds(there)) for there in map(partial(scene, world), names)]
    deaths = []
    for number in range(effort.of(_KILLS)):
        there, seconds = scenes[number % len(scenes)]
        deaths.append(Death(there, seconds=chance.uniform(0, seconds)))
    for death, fault in spread(deaths, _die, effort.workers):
        yield Case(f"{death.scene.name}, killed after {death.seconds * 1000:.1f} ms", fault)


_KILLS = 1_000


def _usual_seconds(there: Scene) -> float:
    there.world.put(there.home)
    started = time.monotonic()
    there.world.play(there.commands)
    return time.monotonic() - started


def _die(death: Death) -> str | None:
    there = death.scene.own()
    mine = there.stage()
    arm = partial(_die_at, death.where) if death.where else partial(_die_in, death.seconds)
    ended, acks = mine.play(there.commands, arm)
    if ended.code == 0 and (earlier := death.once_less()):
        return _die(earlier)
    if not ended.gone and (death.where or len(acks) < len(there.commands)):
        return f"it did not die, but ended with {ended.code}: {ended.err[-300:]}"
    fault = unsound(mine, [*there.acks, *acks], there.doomed, gone=True)
    return fault or _litter(mine, there.commands)


def _litter(world: World, commands: Sequence[Words]) -> str | None:
    """What a killed process was about to write is taken away by the next that writes it."""
    if left_over(world.home, own=False) is None:
        return None
    world.play(commands)
    return left_over(world.home, own=False)


def _die_at(where: str) -> None:
    """Let this process be killed at a crash point."""
    _keep_at_once()
    dying(where)()


def _keep_at_once() -> None:
    """Keep each turn when it comes: what waits for the next depends on how busy the machine is."""
    progress.FLUSH_SECONDS = 0.0


def _die_in(seconds: float) -> None:
    """Let this process be killed in a while, whatever it does then."""

    def kill() -> None:
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
