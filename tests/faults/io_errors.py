"""The disk refuses: one call after the other, in every way; and it is full from a call on."""

import json
import os
from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

from tests.faults.forked import spread
from tests.faults.scenarios import Scene, scene
from tests.faults.shim import DISK_FULL, FAULTS, DiskFault, Kind, Shim
from tests.faults.table import Case, Effort
from tests.faults.world import Ack, World, unsound

SCENES = (
    "start",
    "exec",
    "program",
    "failures",
    "names",
    "collect",
    "import",
    "calls",
    "recorded",
    "worktree",
)
EVERY = 4
"""Not each call but every fourth; with which one it begins, the seed says."""
_STEPS = 3
"""Of the longer scenes only the first commands: later ones do the same again."""


class Refusal(NamedTuple):
    """A call that fails: in which scene, in what way, which one (from 1)."""

    scene: Scene
    way: str
    at: int


def io_errors(world: World, effort: Effort) -> Iterator[Case]:
    """Let every k-th call that touches a file of the home fail, in every way that is known."""
    return _refused(world, effort, FAULTS)


def disk_full(world: World, effort: Effort) -> Iterator[Case]:
    """Let the disk be full from every k-th write on; reading may fail then, in words of ours."""
    return _refused(world, effort, DISK_FULL)


def making(world: World, effort: Effort) -> Iterator[Case]:
    """Let the calls by which a store is made fail once, even in the short form every one."""
    shim = Shim()
    there = scene(world, "start")
    there = there._replace(commands=there.commands[:1])
    ways = {way: FAULTS[way] for way in ("EIO", "ENOSPC")}
    refusals = [Refusal(there, way, at) for way in ways for at in range(1, _MAKING + 1)]
    for refusal, fault in spread(refusals, partial(_look, shim, ways), effort.workers):
        yield Case(f"{refusal.way}, call {refusal.at}", fault)


_MAKING = 60
"""More calls than it takes to make a store and the first names in it."""


def short_writes(world: World, effort: Effort) -> Iterator[Case]:
    """Let each write that starting and running a thread takes store half of it and say so, even in
    the short form every one: what is written in one go by nature is so by luck.
    """
    shim = Shim()
    there = scene(world, "start")
    ways = {"short write": FAULTS["short write"]}
    calls = _calls(there, shim, ways)["short write"]
    refusals = [Refusal(there, "short write", at) for at in range(1, calls + 1)]
    for refusal, fault in spread(refusals, partial(_look, shim, ways), effort.workers):
        yield Case(f"{refusal.way}, call {refusal.at}", fault)


def _refused(world: World, effort: Effort, ways: Mapping[str, DiskFault]) -> Iterator[Case]:
    shim = Shim()
    refusals = []
    for name in effort.chosen(SCENES):
        there = scene(world, name)
        there = there._replace(
            commands=there.commands[:_STEPS] if name == "exec" else there.commands
        )
        for way, calls in _calls(there, shim, ways).items():
            first = effort.seed % EVERY + 1
            refusals += [Refusal(there, way, at) for at in range(first, calls + 1, EVERY)]
    look = partial(_look, shim, ways)
    for refusal, fault in spread(effort.sample(refusals, 40), look, effort.workers):
        yield Case(f"{refusal.scene.name}, {refusal.way}, call {refusal.at}", fault)


def _calls(there: Scene, shim: Shim, ways: Mapping[str, DiskFault]) -> dict[str, int]:
    """How many calls the commands of a scene make that may fail, for each way."""
    fd = os.memfd_create("calls")
    world = there.world
    world.put(there.home)

    def arm() -> None:
        shim.share(world.root / "bin")
        shim.arm(world.home, next(iter(ways.values())), 1 << 40)

    def tell() -> None:
        seen = {way: shim.seen(fault.kinds) for way, fault in ways.items()}
        os.write(fd, json.dumps(seen).encode())

    ended, acks = world.play(there.commands, arm, tell)
    assert len(acks) == len(there.commands), ended
    with open(fd, "rb") as file:
        file.seek(0)
        return dict(json.load(file))


def _look(shim: Shim, ways: Mapping[str, DiskFault], refusal: Refusal) -> str | None:
    there, fault = refusal.scene.own(), ways[refusal.way]
    reads = [("thread", "list"), ("thread", "show", "@last")] if fault in DISK_FULL.values() else []
    commands = [*there.commands, *reads]
    mine = there.stage()

    def arm() -> None:
        shim.share(mine.root / "bin")
        shim.arm(mine.home, fault, refusal.at)

    ended, acks = mine.play(commands, arm)
    # What may never be removed again stays, and so does a folder that can never be opened.
    stays = fault.lasting and bool(fault.kinds & (Kind.UNLINK | Kind.OPEN))
    return _bad_end(len(commands), ended.code, ended.err, acks) or unsound(
        mine, [*there.acks, *acks], there.doomed, gone=stays
    )


def _bad_end(wanted: int, code: int, err: str, acks: list[Ack]) -> str | None:
    """What is wrong with how the commands ended: each must, with a code and words of ours."""
    if code != 0 or len(acks) < wanted:
        return f"ended with {code} after {len(acks)} of {wanted} commands: {err[-500:]}"
    if "Traceback" in err or "internal error in uwf" in err:
        return f"not an error of ours: {err[-700:]}"
    for ack in acks:
        if ack.code and ack.document is None and '"error"' not in err:
            return f"{' '.join(ack.words)} failed with {ack.code} and said nothing"
    return None
