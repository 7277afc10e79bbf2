"""Hostile bundles: refused, whatever is wrong with them, and the store stays as it was.

The attacks are those of `tests/core/engine/attacks.py` and `attacks_on_files.py`; a new one is a
line there.
"""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.core.engine.archives import Archive
from tests.core.engine.attacks import ATTACKS
from tests.core.engine.attacks_on_files import FILE_ATTACKS
from tests.core.engine.conftest import DONE, LOOP, REJECTED
from tests.faults.forked import spread
from tests.faults.scenarios import start
from tests.faults.table import Case, Effort
from tests.faults.world import World

from uwf_core.errors import BundleError
from uwf_core.testing.project import Project

_ATTACKS = {**ATTACKS, **{f"files: {name}": each for name, each in FILE_ATTACKS.items()}}


def hostile_bundles(world: World, effort: Effort) -> Iterator[Case]:
    """Import every one of them into a store that has a thread of its own."""
    bundle = world.root / "good.tar"
    _write_good(world.root / "attacker", bundle)
    world.put(None)
    start(world)
    home = world.keep("victim")
    for name, fault in spread(list(_ATTACKS), partial(_look, world, home, bundle), effort.workers):
        yield Case(name, fault)


def _write_good(root: Path, bundle: Path) -> None:
    """The bundle that the attacks begin with: two steps and a failed attempt."""
    project = Project(root)
    project.workflow("loop", LOOP.replace("name: loop", "name: loop\nrecord: true"))
    (project.folder / "inner").mkdir()
    (project.folder / "inner" / "file").write_text("content")
    project.script([DONE, REJECTED, {"role": "developer", "fail": {"kind": "crashed"}}])
    with project.client() as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread, count=3)
        uwf.export_thread(thread, bundle, with_files=True)


def _look(world: World, home: Path, good: Path, name: str) -> str | None:
    mine = world.twin(world.root / f"home-{os.getpid()}")
    mine.put(home)
    file = mine.home / "hostile.tar"
    file.write_bytes(_ATTACKS[name](Archive(good)))
    there = _files(mine)
    with mine.client() as uwf:
        store = uwf._engine.store
        before = sorted(store.edges()), store.rows("")
        for as_new in (False, True):
            try:
                uwf.import_bundle(file, as_new=as_new)
            except BundleError as error:
                if not error.message:
                    return "refused without a word"
            else:
                return "it was imported"
        if (sorted(store.edges()), store.rows("")) != before:
            return "it was refused, and has changed the store"
    return None if _files(mine) == there else "it has written files"


def _files(world: World) -> set[str]:
    """The files near by, save those that the store itself makes to be read, and the folder of load
    markers, which stays empty.
    """
    near = [*world.home.rglob("*"), *world.project.rglob("*"), *world.root.glob("*.*")]
    own = world.home / "loading"
    return {str(path) for path in near if path != own and not path.name.startswith("store.db")}
