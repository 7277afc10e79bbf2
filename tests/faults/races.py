"""Several who would write one thread at once: in each round one wins, and the others are told; who
collects or imports beside them always succeeds, and takes nothing from anybody.
"""

import json
import os
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from tests.faults.forked import Ended, spread, start
from tests.faults.scenarios import start as start_thread
from tests.faults.table import Case, Effort
from tests.faults.world import World, command, unsound

ROUNDS = (
    ("exec", "exec", "poke"),
    ("exec", "gc", "exec"),
    ("resume", "resume", "exec"),
    ("exec", "exec", "exec"),
    ("exec", "import", "gc"),
    ("resume", "gc", "import"),
)
"""Who works at the same moment, round after round."""
WORDS = {
    "exec": ("thread", "exec", "{thread}"),
    "poke": ("thread", "poke", "{thread}", "-p", "Again."),
    "resume": ("thread", "resume", "{thread}", "-p", "Go on."),
    "gc": ("cas", "gc", "--grace", "0s"),
    "import": ("cas", "import", "{home}/bundle.tar", "--as-new"),
}
_ALWAYS = ("gc", "import")
_SERIES = 240
_WRONG_STATE, _BUSY = 2, 75


class Round(NamedTuple):
    """A round of a series in one home."""

    number: int
    fault: str | None


def races(world: World, effort: Effort) -> Iterator[Case]:
    """Rounds of exec, poke, resume, gc and import, all let go at the same moment."""
    shares = [-(-effort.of(_SERIES, least=12) // effort.workers)] * effort.workers
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
    mine.say("thread", "export", thread, "-o", "{home}/bundle.tar")
    rounds = [Round(number, _round(mine, thread, number)) for number in range(count)]
    rounds.append(Round(count, unsound(mine, [ack])))
    return rounds


def _round(world: World, thread: str, number: int) -> str | None:
    """One round: what is wrong with how it ended."""
    who = ROUNDS[number % len(ROUNDS)]
    if "resume" in who:  # there must be something to resume
        world.play([("thread", "exec", thread, "--agent", "false -x")])
    with world.client() as uwf:
        before = uwf.show(thread)["steps"]
    reader, writer = os.pipe()

    def work(name: str, gift: int) -> int:
        os.environ.clear()
        os.environ.update(world.env)
        os.chdir(world.project)
        os.close(writer)
        os.read(reader, 1)  # ends when the parent lets go
        places = {"thread": thread, "home": str(world.home)}
        code, text = command([word.format_map(places) for word in WORDS[name]])
        os.write(gift, text.encode())
        return code

    children = [start(partial(work, name)) for name in who]
    os.close(reader)
    os.close(writer)
    ended = [child.wait() for child in children]
    return _judged(world, thread, before, list(zip(who, ended, strict=True)))


def _judged(world: World, thread: str, before: int, ends: list[tuple[str, Ended]]) -> str | None:
    for name, end in ends:
        if name in _ALWAYS and end.code:
            return f"{name} ended with {end.code}: {end.err[-300:]}"
    steppers = [(name, end) for name, end in ends if name not in _ALWAYS]
    won = [(name, end) for name, end in steppers if end.code == 0]
    if not won:
        return f"nobody won: {[end.code for _, end in ends]}: {steppers[0][1].err[-300:]}"
    for name, end in steppers:
        # Whoever resumes after another one has gone on finds nothing to resume.
        lost = (_BUSY, _WRONG_STATE) if name == "resume" else (_BUSY,)
        if end.code and (end.code not in lost or '"error"' not in end.err):
            return f"{name} lost with {end.code}: {end.err[-300:]}"
    added = sum(name != "poke" for name, _ in won)
    with world.client() as uwf:
        after = uwf.show(thread)["steps"]
        rows = {row["step"] for row in uwf.steps(thread)[1:]}
        replaced = (
            {uwf.step(row)["attempt"]["replaces"] for row in rows} if added < len(won) else set()
        )
    if after != before + added:
        return f"{added} of them took a step, and there are {after - before} more"
    for _, end in won:
        if json.loads(end.gave)["steps"][0]["step"] not in rows | replaced:
            return "the step of one who won is lost"
    return None
