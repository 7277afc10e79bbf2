"""The power goes: after every file operation, with everything that a disk may make of it."""

import os
import random
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.faults.forked import attempted, spread
from tests.faults.replay import LEAST, Disk, Operation, Replay, State, disk_of, operations
from tests.faults.scenarios import Scene, scene
from tests.faults.shim import Shim
from tests.faults.table import Case, Effort
from tests.faults.world import Ack, World, unsound

CUT = ("start", "exec", "names", "collect", "import", "calls", "recorded")
_HOME = "home"
_FEW = {"recorded": 2}
"""In the short form, only so many commands of a scenario: each state takes several programs."""
_EVERY = 3
"""In the short form, of the states after each operation only every third; the seed says which."""
_ROUNDS = 4
"""How often the disk chooses at random after each operation."""


class Recording(NamedTuple):
    """A scenario's file operations, and after how many of them each command had ended."""

    scene: Scene
    before: Disk
    operations: list[Operation]
    acks: list[tuple[int, Ack]]

    def states(self, seed: int) -> Iterator[tuple[str, State, list[Ack]]]:
        """Every state that a power cut may leave, each once; with what is acknowledged by then."""
        chance, seen = random.Random(seed), set[tuple[int, int]]()
        replay = Replay(self.before)
        for number, operation in enumerate(self.operations, 1):
            replay.do(operation)
            told = [ack for at, ack in self.acks if at <= number]
            for state in replay.states(operation, chance, _ROUNDS):
                if (state.key, len(told)) not in seen:
                    seen.add((state.key, len(told)))
                    place = f"operation {number} ({operation.kind.name} {operation.path})"
                    name = f"{self.scene.name}, {place} of {len(self.operations)}, {state.what}"
                    yield name, state, [*self.scene.acks, *told]


def power_cuts(world: World, effort: Effort) -> Iterator[Case]:
    """Record each scenario once, then look at what every power cut would leave of it.

    The home lies in a folder of its own, which is watched as well: the home's own name may be lost.
    """
    shim = Shim()
    world = world.twin(world.root / "disk" / _HOME)
    world.home.parent.mkdir()
    for name in effort.chosen(CUT):
        there = scene(world, name)
        if effort.share < 1:
            there = there._replace(commands=there.commands[: _FEW.get(name)])
        recording = _recorded(there, shim)
        found = [state.what for _, state, _ in recording.states(effort.seed)]
        # What POSIX promises and no more is looked at most, however little else is.
        least = [number for number, what in enumerate(found) if what == LEAST]
        if effort.share < 1:
            least = least[effort.seed % _EVERY :: _EVERY]
        chosen = sorted({*least, *effort.sample(range(len(found)), 30)})
        shares = [list(chosen[number :: effort.workers]) for number in range(effort.workers)]
        look = partial(_look, recording, effort.seed)
        for share, faults in spread(shares, look, effort.workers):
            if isinstance(faults, str):
                yield Case(name, faults)
            else:
                yield from faults if len(faults) == len(share) else [Case(name, "some are missing")]


def _recorded(scene: Scene, shim: Shim) -> Recording:
    """Run a scenario and write down what it does to its files."""
    world, acks, found = scene.world, list[tuple[int, Ack]](), list[Operation]()
    before = disk_of(scene.home, _HOME)
    world.put(scene.home if before else None)
    for words in scene.commands:
        fd = os.memfd_create("log")

        def watch(fd: int = fd) -> None:
            shim.share(world.root / "bin")
            shim.record(world.home.parent, fd)

        ended, done = world.play([words], watch)
        if not done or done[0].code:
            raise AssertionError(f"{scene.name}: {words} fails by itself: {done} {ended.err}")
        with open(fd, "rb") as file:
            file.seek(0)
            found += operations(file.read(), world.home.parent)
        acks.append((len(found), done[0]))
    return Recording(scene, before, found, acks)


def _look(recording: Recording, seed: int, share: list[int]) -> list[Case]:
    """Look at the states of these numbers."""
    mine = recording.scene.world.twin(recording.scene.world.root / f"disk-{os.getpid()}" / _HOME)
    wanted, cases, doomed = set(share), [], recording.scene.doomed
    for number, (name, state, acks) in enumerate(recording.states(seed)):
        if number in wanted:
            write(state.disk(), mine.home.parent)
            cases.append(Case(name, attempted(partial(unsound, mine, acks, doomed, cut=True))))
            shutil.rmtree(mine.home.parent)
    return cases


def write(disk: Disk, folder: Path) -> None:
    """Put a disk below a folder."""
    folder.mkdir(mode=0o700)
    for path, content in sorted(disk.items()):
        target = folder / path
        if content is None:
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
            continue
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.write_bytes(content)
