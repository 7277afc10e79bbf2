"""Files that are no longer what was written: every read gives the right value or an error.

What is shown may never be wrong; it may be missing, if an error says which. A store's log that is
damaged looks like one that was never longer: then everything that is shown must be of one and the
same earlier moment, a state that the store was in after some commit.
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
from tests.store_file import settle

from uwf_core.client import Client
from uwf_core.errors import UwfError

Change = Callable[[bytes, random.Random], bytes]
_PAGE = 4096
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
    truths = {home: list(_moments(world, home)) for home in homes}
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
    settle(world.home / "store.db")
    return [world.keep("settled"), logged]


def _files(home: Path) -> list[str]:
    """The files with something in them; the store's own count most."""
    files = [path for path in sorted(home.rglob("*")) if path.is_file() and path.stat().st_size]
    files = [path for path in files if path.suffix != ".db-shm"]
    store = [path for path in files if path.name.startswith("store.db")]
    return [str(path.relative_to(home)) for path in [*files, *store * 20]]


# -- everything that can be read ------------------------------------------------------------------

Reads = dict[str, Any]


_ABSENT = "an error says that it is not there"


def _moments(world: World, home: Path) -> Iterator[Reads]:
    """Everything as it is, and as it was after each commit that is only in the log, newest first:
    all of the keys, also those of what was not there yet.
    """
    log = home / "store.db-wal"
    data = log.read_bytes() if log.exists() else b""
    keys: list[str] | None = None
    for end in sorted(_commits(data), reverse=True) or [0]:
        mine = world.twin(world.root / "moment")
        mine.put(home)
        (mine.home / log.name).write_bytes(data[:end])
        with mine.client() as uwf:
            keys = keys or list(_keys(uwf, mine.home))
            yield {key: _value(uwf, key) for key in keys}


def _commits(log: bytes) -> Iterator[int]:
    """Where in a log its commits end: the last frame of each says how large the store is."""
    size = int.from_bytes(log[8:12], "big") + _FRAME_HEADER
    for at in range(_LOG_HEADER, len(log) - size + 1, size):
        if log[at + 8 : at + 16] == log[16:24] and any(log[at + 4 : at + 8]):  # of this log's run
            yield at + size


_LOG_HEADER, _FRAME_HEADER = 32, 24


def _keys(uwf: Client, home: Path) -> Iterator[str]:
    """Whatever can be read: every node, name, thread and step."""
    yield from (f"node {ref}" for ref in _refs(home))
    yield from (f"name {each.name}" for each in uwf.nodes.names("@"))
    for row in uwf.list():
        thread = row["thread"]
        yield f"row {thread}"
        yield from _reads_of_thread(uwf, thread)
        for step in uwf.steps(thread)[1:]:
            yield from _reads_of_step(uwf, step["step"])


def _value(uwf: Client, key: str) -> Any:
    try:
        return _read(uwf, key)
    except UwfError:
        return _ABSENT


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


def _look(world: World, damage: Damage, moments: list[Reads]) -> str | None:
    mine = world.twin(world.root / f"home-{os.getpid()}")
    mine.put(damage.home)
    file = mine.home / damage.file
    change, _ = CHANGES[damage.change]
    file.write_bytes(change(file.read_bytes(), random.Random(damage.seed)))
    if not damage.file.endswith("-wal"):
        moments = moments[:1]
    try:
        return _wrong(mine, moments) or _crashes(mine)
    finally:
        shutil.rmtree(mine.home)


def _wrong(world: World, moments: list[Reads]) -> str | None:
    """The first read that gives something else than any moment that fits with all reads before it,
    or an error that names nothing.
    """
    with world.client() as uwf:
        for key in moments[0]:
            if key.startswith("row "):
                continue
            try:
                value = _read(uwf, key)
            except UwfError as error:
                if all(each[key] != _ABSENT for each in moments) and (
                    fault := _unnamed(error, key)
                ):
                    return fault
                continue
            if _says_so(key, value, moments[0][key]):
                continue
            fitting = [each for each in moments if each[key] == value]
            if not fitting:
                right = " or ".join(sorted({str(each[key])[:300] for each in moments}))
                return f"{key} gives {str(value)[:300]} instead of {right}"
            moments = fitting
        return _wrong_list(uwf, moments)


def _read(uwf: Client, key: str) -> Any:
    word, name = key.split(" ", 1)
    if word == "node":
        return uwf.nodes.get(name)
    if word == "name":
        return uwf.nodes.name(name)
    if word == "row":
        return next((row for row in uwf.list() if row["thread"] == name), _ABSENT)
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


def _says_so(key: str, value: Any, right: Any) -> bool:
    """Whether a value that is not the right one says that something is missing or damaged."""
    if key.startswith("name "):
        return value is None and right is not None
    return key.startswith("show ") and value["status"] == "corrupt" and bool(value["hint"])


def _wrong_list(uwf: Client, moments: list[Reads]) -> str | None:
    try:
        rows = uwf.list()
    except UwfError as error:
        return _unnamed(error, "list of threads")
    for row in rows:
        right = [each.get(f"row {row['thread']}", _ABSENT) for each in moments]
        known = any(each != _ABSENT for each in right)
        if row["status"] == "corrupt" and (known or "its id" in (row["suspendMessage"] or "")):
            continue  # it says so
        if not known:
            return f"a thread is listed that never was: {row['thread']}"
        if row not in right:
            return f"the list says {row} instead of {right[0]}"
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
    if ended.code or "Traceback" in ended.err or "internal error in uwf" in ended.err:
        return f"{ended.code} after {len(acks)} of {_COMMANDS}: {ended.err[-600:]}"
    return None
