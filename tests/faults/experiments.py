"""Every row of the table. A new experiment is a line here."""

import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tests.faults.borders import borders
from tests.faults.clocks import clocks
from tests.faults.crashes import at_any_moment, at_every_point
from tests.faults.damage import flips, other_damage
from tests.faults.hostile_bundles import hostile_bundles
from tests.faults.hostile_schemas import hostile_schemas
from tests.faults.hostile_text import hostile_text
from tests.faults.io_errors import disk_full, io_errors, making, short_writes
from tests.faults.leaks import leaks
from tests.faults.power_cuts import power_cuts
from tests.faults.processes import processes
from tests.faults.races import races
from tests.faults.recorded_files import damaged_files, recorders_at_once
from tests.faults.scenarios import SCENARIOS, scene
from tests.faults.table import Experiment
from tests.faults.world import World, unsound


def experiments(folder: Path) -> Iterator[Experiment]:
    """All of them, each with a world of its own below `folder`."""
    yield Experiment("crash points", 300, partial(at_every_point, World(folder / "points")))
    yield Experiment("kills at any moment", 1_000, partial(at_any_moment, World(folder / "kills")))
    yield Experiment("power cuts", 10_000, partial(power_cuts, World(folder / "power")))
    yield Experiment("I/O errors", 2_000, partial(io_errors, World(folder / "errors")))
    made = World(folder / "made")
    yield Experiment("I/O errors, making a store", 100, partial(making, made))
    yield Experiment("short writes", 60, partial(short_writes, World(folder / "short")))
    yield Experiment("disk full", 80, partial(disk_full, World(folder / "full")))
    yield Experiment("wrong clocks", 100, partial(clocks, World(folder / "clocks")))
    yield Experiment("flipped bits", 500, partial(flips, World(folder / "flips")))
    yield Experiment("other damage", 400, partial(other_damage, World(folder / "damage")))
    yield Experiment("writers at once", 200, partial(races, World(folder / "races")))
    files = World(folder / "recorded")
    yield Experiment("damaged recorded files", 200, partial(damaged_files, files))
    at_once = World(folder / "recorders")
    yield Experiment("recorders at once", 50, partial(recorders_at_once, at_once))
    yield Experiment("real processes", 38, partial(processes, World(folder / "processes")))
    yield Experiment("hostile YAML and frontmatter", 150, partial(hostile_text, folder / "text"))
    yield Experiment("hostile schemas", 60, partial(hostile_schemas, folder / "schemas"))
    bundles = World(folder / "bundles")
    yield Experiment("hostile archives", 60, partial(hostile_bundles, bundles))
    yield Experiment("secrets told", 120, partial(leaks, World(folder / "leaks")))
    yield Experiment("names, templates, modes", 250, partial(borders, World(folder / "borders")))


def warm(folder: Path) -> None:
    """Import here whatever a command imports, so that no child has to."""
    world = World(folder)
    for name in SCENARIOS:
        there = scene(world, name)
        world.put(there.home)
        fault = unsound(world, there.acks)
        if fault is not None:
            raise AssertionError(f"{name}: a home that nothing happened to is not sound: {fault}")
        for module in _imported(world, [*there.commands, *READS]):
            importlib.import_module(module)


READS = (
    ("thread", "list", "--all"),
    ("thread", "show", "@last"),
    ("thread", "read", "@last"),
    ("step", "turns", "@last"),
    ("thread", "wait", "@last", "--timeout", "1"),
    ("log", "list"),
    ("config", "show"),
)


def _imported(world: World, commands: Sequence[Sequence[str]]) -> list[str]:
    """What a child that runs these commands has imported besides, in its order."""
    fd = os.memfd_create("modules")

    def tell() -> None:
        os.write(fd, "\n".join(sys.modules).encode())

    world.play(commands, after=tell)
    with open(fd, "rb") as file:
        file.seek(0)
        return [name for name in file.read().decode().split() if name not in sys.modules]
