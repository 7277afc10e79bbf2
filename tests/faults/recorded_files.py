"""Recorded files: damage of `files.git`, and many who record, restore and free at once."""

import os
import random
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.core.files.recorded import Content, content_of, write
from tests.faults.damage import CHANGES
from tests.faults.forked import spread, start
from tests.faults.scenarios import begun_in
from tests.faults.table import Case, Effort
from tests.faults.world import World, command, unsound

from uwf_core.errors import StoreError
from uwf_core.files.restore import restore
from uwf_core.files.snapshot import record

_DAMAGES = 250
_SERIES = 60
_STEPS = 3


class Recorded(NamedTuple):
    """A home, a thread in it, the folder of the thread, and what each tree of it holds."""

    home: Path
    thread: str
    folder: Path
    trees: dict[str, Content]


class Damage(NamedTuple):
    """A file of `files.git` that changes."""

    file: str
    change: str
    seed: int


def damaged_files(world: World, effort: Effort) -> Iterator[Case]:
    """Whatever is damaged: a tree is restored as it was or rejected, `verify` reports what is
    rejected, and the next snapshot is right.
    """
    there = _recorded(world)
    files = [each for each in sorted((there.home / "files.git").rglob("*")) if each.is_file()]
    names = [str(each.relative_to(there.home)) for each in files if each.stat().st_size]
    chance = random.Random(effort.seed)
    damages = [
        Damage(chance.choice(names), chance.choice([*CHANGES]), chance.randrange(1 << 31))
        for _ in range(effort.of(_DAMAGES, least=30))
    ]
    for each, fault in spread(damages, partial(_look, world, there), effort.workers):
        yield Case(f"{each.file}, {each.change} ({each.seed})", fault)


def _recorded(world: World) -> Recorded:
    """A thread of three steps, before each of which the user has written files of every kind."""
    world.put(None)
    folder = world.root / "damaged"
    folder.mkdir()
    write(folder, "deep/er/crlf.txt", b"one\r\ntwo\r\n")
    write(folder, b"odd\xff", b"\0\xff", mode=0o755)
    (folder / "link").symlink_to("nowhere")
    _, thread, edit = begun_in(world, folder, "recorded")
    trees = dict[str, Content]()
    for number in range(_STEPS):
        world.play([edit(str(number))])
        world.say("thread", "exec", thread)
        after = record(str(world.home), thread, str(folder))
        trees[str(after["tree"])] = content_of(folder)
    return Recorded(world.keep("damaged"), thread, folder, trees)


def _look(world: World, there: Recorded, damage: Damage) -> str | None:
    mine = world.twin(world.root / f"home-{os.getpid()}")
    mine.put(there.home)
    file, (change, _) = mine.home / damage.file, CHANGES[damage.change]
    file.chmod(0o600)
    file.write_bytes(change(file.read_bytes(), random.Random(damage.seed)))
    try:
        rejected, fault = _restored(mine, there)
        return fault or _recorded_again(mine, there, is_damaged=rejected)
    finally:
        shutil.rmtree(mine.home)


def _restored(mine: World, there: Recorded) -> tuple[bool, str | None]:
    """Whether a tree is rejected, and what is wrong."""
    rejected = dict[str, str]()
    for tree, content in there.trees.items():
        folder = mine.home.with_name(f"{mine.home.name}-restored")
        folder.mkdir()
        try:
            restore(str(mine.home), tree, str(folder))
            if content_of(folder) != content:
                return False, f"{tree} was restored with other files"
        except StoreError as error:
            rejected[tree] = error.message
        finally:
            shutil.rmtree(folder)
    with mine.client() as uwf:
        reported = uwf.verify()["problems"]
    missed = [why for tree, why in rejected.items() if tree[:12] not in str(reported)]
    missing = f"verify does not report what cannot be restored: {missed}" if missed else None
    return bool(rejected), missing


def _recorded_again(mine: World, there: Recorded, *, is_damaged: bool) -> str | None:
    """A snapshot of the folder as it is, and of one with another file: right, or with a reason."""
    wanted = [*there.trees][-1]
    found = record(str(mine.home), there.thread, str(there.folder))
    if found["tree"] not in (wanted, None):
        return f"the next snapshot has the tree {found['tree']} instead of {wanted}"
    changed = mine.home.with_name(f"{mine.home.name}-changed")
    shutil.copytree(there.folder, changed, symlinks=True)
    try:
        write(changed, "new", b"new")
        found, tree = record(str(mine.home), there.thread, str(changed)), None
        if found["tree"] is None:
            return None if found["reason"] else "there is neither a tree nor a reason"
        tree = found["tree"]
        content = content_of(changed)
        shutil.rmtree(changed)
        changed.mkdir()
        restore(str(mine.home), tree, str(changed))
        return None if content_of(changed) == content else "a new snapshot is wrong"
    except StoreError as error:
        # It refers to the damaged objects, of which git knows nothing yet.
        return None if is_damaged else f"a new snapshot cannot be restored: {error.message}"
    finally:
        shutil.rmtree(changed)


# -- at once ---------------------------------------------------------------------------------------


def recorders_at_once(world: World, effort: Effort) -> Iterator[Case]:
    """Rounds in which threads of one folder record, while the user writes, others fork with files,
    and threads are removed, verified and collected.
    """
    shares = [-(-effort.of(_SERIES, least=4) // effort.workers)] * effort.workers
    for _, faults in spread(shares, partial(_series, world), effort.workers):
        if isinstance(faults, str):
            yield Case("a series", faults)
            continue
        for number, fault in enumerate(faults):
            yield Case(f"round {number}", fault)


def _series(world: World, count: int) -> list[str | None]:
    mine = world.twin(world.root / f"home-{os.getpid()}")
    folder = mine.home.with_name(f"{mine.home.name}-folder")
    folder.mkdir(exist_ok=True)
    mine.put(None)
    one, thread, edit = begun_in(mine, folder, "recorded")
    two, other, _ = begun_in(mine, folder, "recorded")
    step = mine.say("thread", "exec", thread).document["steps"][0]["step"]
    found = list[str | None]()
    for number in range(count):
        gone = begun_in(mine, folder, "recorded")[1]
        mine.say("thread", "exec", gone)
        mine.say("thread", "cancel", gone)
        found.append(_round(mine, [
            ("thread", "exec", thread),
            ("thread", "exec", other),
            ("thread", "fork", step, "--with-files"),
            ("thread", "rm", gone),
            ("cas", "gc", "--grace", "0s"),
            edit(str(number)),
        ]))  # fmt: skip
    return [*found, unsound(mine, [one, two])]


def _round(world: World, commands: list[tuple[str, ...]]) -> str | None:
    """Let go of all commands at the same moment: each succeeds, and every tree is there."""
    reader, writer = os.pipe()

    def work(words: tuple[str, ...], _gift: int) -> int:
        os.environ.clear()
        os.environ.update(world.env)
        os.chdir(world.project)
        os.close(writer)
        os.read(reader, 1)  # ends when the parent lets go
        return command(words)[0]

    children = [start(partial(work, words)) for words in commands]
    os.close(reader)
    os.close(writer)
    for words, child in zip(commands, children, strict=True):
        ended = child.wait()
        if ended.code:
            return f"{' '.join(words)} ended with {ended.code}: {ended.err[-400:]}"
    with world.client() as uwf:
        problems = uwf.verify()["problems"]
    return f"verify: {problems}" if problems else None
