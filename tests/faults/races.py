"""Several who would write one thread at once: in each round one wins, and the others are told."""

import json
import os
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from tests.faults.forked import Ended, spread, start
from tests.faults.scenarios import start as start_thread
from tests.faults.table import Case, Effort
from tests.faults.world import World, command, unsound

WRITERS = 3
_ROUNDS = 240
_BUSY = 75


class Round(NamedTuple):
    """A round of a series in one home."""

    number: int
    fault: str | None


def races(world: World, effort: Effort) -> Iterator[Case]:
    """Rounds of exec, poke and resume on one thread, all let go at the same moment."""
    shares = [-(-effort.of(_ROUNDS, least=6) // effort.workers)] * effort.workers
    for _, rounds in spread(shares, partial(_series, world), effort.workers):
        if isinstance(rounds, str):
            yield Case("a series", rounds)
            continue
        yield from (Case(f"round {each.number}", each.fault) for each in rounds)


def _series(world: World, count: int) -> list[Round]:
    mine = world.twin(world.root / f"home-{os.getpid()}")
    mine.put(None)
    ack, thread = start_thread(mine)
    mine.say("thread", "exec", thread)
    rounds = [Round(number, _round(mine, thread, number)) for number in range(count)]
    rounds.append(Round(count, unsound(mine, [ack])))
    return rounds


def _round(world: World, thread: str, number: int) -> str | None:
    """One round: what is wrong with how it ended."""
    with world.client() as uwf:
        before = uwf.show(thread)["steps"]
    reader, writer = os.pipe()
    poke = ("thread", "poke", thread, "-p", "Again.")
    words = [("thread", "exec", thread), ("thread", "exec", thread), poke][:WRITERS]
    if number % 2:
        words[2] = words[0]

    def work(line: tuple[str, ...], gift: int) -> int:
        os.environ.clear()
        os.environ.update(world.env)
        os.chdir(world.project)
        os.close(writer)
        os.read(reader, 1)  # ends when the parent lets go
        code, text = command(line)
        os.write(gift, text.encode())
        return code

    children = [start(partial(work, line)) for line in words]
    os.close(reader)
    os.close(writer)
    ended = [child.wait() for child in children]
    return _judged(world, thread, before, list(zip(words, ended, strict=True)))


def _judged(
    world: World, thread: str, before: int, ends: list[tuple[tuple[str, ...], Ended]]
) -> str | None:
    won = [(words, end) for words, end in ends if end.code == 0]
    lost = [(words, end) for words, end in ends if end.code != 0]
    if not won:
        return f"nobody won: {[end.code for _, end in ends]}: {ends[0][1].err[-300:]}"
    for words, end in lost:
        if end.code != _BUSY or "held by" not in end.err:
            return f"{words[1]} lost with {end.code}: {end.err[-300:]}"
    added = sum(words[1] == "exec" for words, _ in won)
    with world.client() as uwf:
        after = uwf.show(thread)["steps"]
        rows = {row["step"] for row in uwf.steps(thread)[1:]}
        replaced = {uwf.step(row)["replaces"] for row in rows} if added < len(won) else set()
    if after != before + added:
        return f"{added} of them took a step, and there are {after - before} more"
    for _, end in won:
        if json.loads(end.gave)["steps"][0]["step"] not in rows | replaced:
            return "the step of one who won is lost"
    return None
