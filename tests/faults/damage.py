"""Files that are no longer what was written: every read gives the right value or an error.

What is shown may never be wrong; it may be missing, if an error says which; a store's log may show
an earlier state of a thread, since a log that ends early looks like one that was never longer.
"""

import os
import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.faults.forked import spread
from tests.faults.scenarios import start
from tests.faults.table import Case, Effort
from tests.faults.world import World

from uwf_core.client import Client
from uwf_core.errors import UwfError

Change = Callable[[bytes, random.Random], bytes]
_PAGE = 8192
_NAME = len("@uwf/thread/") + 26
"""Bytes that the name of a thread's head has."""


def _flip(data: bytes, chance: random.Random) -> bytes:
    header = chance.random() < 0.2
    place = chance.randrange(min(len(data), 400) if header else len(data))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.choice((0, chance.randrange(len(data)), len(data) // _PAGE // 2 * _PAGE))]


def _zero(data: bytes, chance: random.Random) -> bytes:
    size = chance.choice((1, 16, 512, 4096, _PAGE, len(data)))
    place = chance.randrange(len(data)) // size * size
    return data[:place] + bytes(min(size, len(data) - place)) + data[place + size :]


def _swap(data: bytes, chance: random.Random) -> bytes:
    """Two stretches in each other's place."""
    size = min(chance.choice((16, 512, _PAGE)), max(1, len(data) // 2))
    one, other = sorted(chance.randrange(len(data) // size) * size for _ in range(2))
    if one == other:
        return data[::-1]
    middle = data[one + size : other]
    return (
        data[:one]
        + data[other : other + size]
        + middle
        + data[one : one + size]
        + data[other + size :]
    )


def _noise(data: bytes, chance: random.Random) -> bytes:
    size = min(len(data), chance.choice((1, 8, 512, _PAGE)))
    place = chance.randrange(len(data) - size + 1)
    return data[:place] + chance.randbytes(size) + data[place + size :]


def _misname(data: bytes, chance: random.Random) -> bytes:
    """A bit of a thread's name flips: in a row, in an index, in a page that is used no more."""
    names = [found.start() for found in re.finditer(rb"@uwf/thread/", data)]
    if not names:
        return _flip(data, chance)
    place = min(chance.choice(names) + chance.randrange(_NAME), len(data) - 1)
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


CHANGES: dict[str, tuple[Change, int]] = {
    "a flipped bit": (_flip, 600),
    "cut short": (_cut, 100),
    "filled with zeros": (_zero, 150),
    "parts swapped": (_swap, 100),
    "overwritten": (_noise, 150),
    "a name altered": (_misname, 200),
}
"""What happens to a file, and how often. A new kind of damage is a line here."""


class Damage(NamedTuple):
    """A home in which a file is no longer what it was."""

    home: Path
    file: str
    change: str
    seed: int


def flips(world: World, effort: Effort) -> Iterator[Case]:
    """Bits that flip, in every file of the home."""
    return _damages(world, effort, ["a flipped bit"])


def other_damage(world: World, effort: Effort) -> Iterator[Case]:
    """All other damage, and whole files in the place of others."""
    return _damages(world, effort, [each for each in CHANGES if each != "a flipped bit"])


def _damages(world: World, effort: Effort, changes: list[str]) -> Iterator[Case]:
    homes = _homes(world)
    truths = {home: _everything(world, home) for home in homes}
    chance = random.Random(effort.seed)
    damages = []
    for change in changes:
        for number in range(effort.of(CHANGES[change][1], least=15)):
            home = homes[number % len(homes)]
            file = chance.choice(_files(home))
            damages.append(Damage(home, file, change, chance.randrange(1 << 31)))
    for each, fault in spread(
        damages, lambda one: _look(world, one, truths[one.home]), effort.workers
    ):
        yield Case(f"{each.file} of {each.home.name}, {each.change} ({each.seed})", fault)


def _homes(world: World) -> list[Path]:
    """A home whose log is copied into the file, and one with a long log."""
    world.put(None)
    world.say("config", "set", "limits.graceSeconds", "1")
    threads = [start(world)[1] for _ in range(3)]
    for thread in threads:
        world.say("thread", "exec", thread, "-c", "2")
    logged = world.keep("logged")
    connection = sqlite3.connect(world.home / "store.db")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return [world.keep("settled"), logged]


def _files(home: Path) -> list[str]:
    """The files with something in them; the store's own count most."""
    files = [path for path in sorted(home.rglob("*")) if path.is_file() and path.stat().st_size]
    files = [path for path in files if path.suffix != ".db-shm"]
    store = [path for path in files if path.name.startswith("store.db")]
    return [str(path.relative_to(home)) for path in [*files, *store * 20]]


# -- everything that can be read ------------------------------------------------------------------

Reads = dict[str, Any]


def _everything(world: World, home: Path) -> Reads:
    """Every node, name, thread and step, as it was before."""
    mine = world.twin(home)
    with mine.client() as uwf:
        refs = [ref for ref in _refs(home) if ref]
        found: Reads = {f"node {ref}": uwf.nodes.get(ref) for ref in refs}
        found |= {f"name {each.name}": each for each in uwf.nodes.names("@")}
        for row in uwf.list():
            found[f"row {row['thread']}"] = row
            found |= {key: read() for key, read in _reads_of_thread(uwf, row["thread"]).items()}
            for step in uwf.steps(row["thread"])[1:]:
                found |= {key: read() for key, read in _reads_of_step(uwf, step["step"]).items()}
    return found


def _refs(home: Path) -> list[str]:
    from uwf_core.ids import ref_of_number

    connection = sqlite3.connect(f"file://{home / 'store.db'}?mode=ro", uri=True)
    try:
        return [ref_of_number(number) for (number,) in connection.execute("SELECT ref FROM node")]
    finally:
        connection.close()


def _reads_of_thread(uwf: Client, thread: str) -> dict[str, Callable[[], Any]]:
    return {
        f"show {thread}": lambda: uwf.show(thread),
        f"steps {thread}": lambda: uwf.steps(thread),
        f"read {thread}": lambda: uwf.read(thread),
        f"turns {thread}": lambda: uwf.turns(thread),
    }


def _reads_of_step(uwf: Client, step: str) -> dict[str, Callable[[], Any]]:
    return {
        f"step {step}": lambda: uwf.step(step),
        f"prompt {step}": lambda: uwf.prompt(step),
    }


def _look(world: World, damage: Damage, truth: Reads) -> str | None:
    mine = world.twin(world.root / f"home-{os.getpid()}")
    mine.put(damage.home)
    file = mine.home / damage.file
    change, _ = CHANGES[damage.change]
    file.write_bytes(change(file.read_bytes(), random.Random(damage.seed)))
    try:
        return _wrong(mine, truth, damage) or _crashes(mine)
    finally:
        shutil.rmtree(mine.home)


def _wrong(world: World, truth: Reads, damage: Damage) -> str | None:
    """The first read that gives something else than the truth, or an error that names nothing."""
    with world.client() as uwf:
        for key, right in truth.items():
            if key.startswith("row "):
                continue
            try:
                value = _read(uwf, key)
            except UwfError as error:
                fault = _unnamed(error, key)
            else:
                fault = None if value == right else _difference(key, value, right, damage)
            if fault is not None:
                return fault
        return _wrong_list(uwf, truth, damage)


def _read(uwf: Client, key: str) -> Any:
    word, name = key.split(" ", 1)
    if word == "node":
        return uwf.nodes.get(name)
    if word == "name":
        return uwf.nodes.name(name)
    reads = {**_reads_of_thread(uwf, name), **_reads_of_step(uwf, name)}
    return reads[key]()


def _unnamed(error: UwfError, key: str) -> str | None:
    """Whether an error says neither which node or thread nor which file is damaged."""
    told = f"{error.message} {error.where or ''}"
    name = key.split(" ", 1)[1]
    if name in told or "store.db" in told or "config.yaml" in told:
        return None
    words = [word.strip("'\".,:;()") for word in told.split()]
    if any(len(word) == 13 and word.isupper() for word in words):
        return None  # a node below it
    return f"{key}: the error names nothing: {error.document()['error']}"


def _difference(key: str, value: Any, right: Any, damage: Damage) -> str | None:
    """Why another value than the right one is wrong, None where it is an earlier state."""
    if key.startswith("name ") and value is None:
        return None  # it says that there is none
    if key.startswith("show ") and value["status"] == "corrupt" and value["hint"]:
        return None  # it says so, and what to do
    if damage.file.endswith("-wal"):
        earlier = key.startswith(("show ", "name ", "read ", "turns "))
        prefix = key.startswith("steps ") and value == right[: len(value)]
        if earlier or prefix:
            return None
    return f"{key} gives {str(value)[:300]} instead of {str(right)[:300]}"


def _wrong_list(uwf: Client, truth: Reads, damage: Damage) -> str | None:
    try:
        rows = uwf.list()
    except UwfError as error:
        return _unnamed(error, "list of threads")
    for row in rows:
        right = truth.get(f"row {row['thread']}")
        if row["status"] == "corrupt" and (right or "its id" in (row["suspendMessage"] or "")):
            continue  # it says so
        if right is None:
            return f"a thread is listed that never was: {row['thread']}"
        if row != right and not damage.file.endswith("-wal"):
            return f"the list says {row} instead of {right}"
    return None


_COMMANDS = (
    ("thread", "list", "--all"),
    ("log", "list"),
    ("config", "show"),
    ("thread", "exec", "@last"),
    ("thread", "wait", "@last", "--timeout", "1"),
)


def _crashes(world: World) -> str | None:
    """Whether a command answers with a traceback."""
    ended, acks = world.play(_COMMANDS)
    if ended.code or "Traceback" in ended.err or "a fault of uwf itself" in ended.err:
        return f"{ended.code} after {len(acks)} of {_COMMANDS}: {ended.err[-600:]}"
    return None
