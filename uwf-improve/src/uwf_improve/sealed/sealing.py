"""Seal a set of tasks under a bar, or add tasks to it."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from uwf_core.client import Client
from uwf_core.errors import UsageError
from uwf_improve.gate.bar import Bar
from uwf_improve.gate.sides import Place, SidesError, assign, place_of, spend
from uwf_improve.sealed.catalog import Sets
from uwf_improve.sealed.origins import SOURCE, Origins
from uwf_improve.sealed.records import SetRecord, SetTask
from uwf_improve.sealed.tasks import TakenTask, split_key, take_tasks


def seal(
    client: Client, name: str, words: Sequence[str], bar: Bar, cwd: Path, dry_run: bool = False
) -> SetRecord:
    """Make a set: copy its tasks, give each a side, store the bar. `dry_run`: store nothing.

    Raises:
        UsageError: the set exists, or a task cannot be used.
    """
    sets = Sets(client)
    if sets.exists(name):
        raise UsageError(
            f"the set {name!r} exists, and its bar is fixed",
            hint="`uwf improve seal SET TASK... --add` adds tasks to it",
        )
    empty = SetRecord(
        set=name, number=0, prev=None, event="sealed", at_ms=0, bar=bar, tasks=(), places={}
    )
    if dry_run:
        with TemporaryDirectory() as scratch:
            return replace(
                empty, places=_assign(client, empty, take_tasks(client, words, cwd, Path(scratch)))
            )
    shutil.rmtree(sets.folder(name), ignore_errors=True)  # of a call that was killed
    return _with_tasks(client, empty, words, cwd)


def add_tasks(client: Client, name: str, words: Sequence[str], cwd: Path) -> SetRecord:
    """Add tasks to a set; new ones are sealed until it has as many as its bar asks for.

    Raises:
        UsageError: a test is running, or a task cannot be used. UnknownIdError: unknown set.
    """
    record = Sets(client).read(name)
    if record.running is not None:
        raise UsageError(
            f"test {record.running.number} of the set {name!r} is not finished",
            hint=f"`uwf improve decide {record.running.edit} --set {name}` finishes it",
        )
    return _with_tasks(client, record, words, cwd)


def _with_tasks(client: Client, record: SetRecord, words: Sequence[str], cwd: Path) -> SetRecord:
    sets = Sets(client)
    folder = sets.folder(record.set)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    scratch = Path(mkdtemp(prefix=".new-", dir=folder))
    try:
        taken = take_tasks(client, words, cwd, scratch)
        _check_new(record, taken)
        places = _assign(client, record, taken)
        tasks = [*record.tasks, *(_set_task(each, places) for each in taken)]
        _move(taken, folder / "tasks")
        return sets.append(
            record, "extended" if record.number else "sealed", tasks=tasks, places=places
        )
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _check_new(record: SetRecord, taken: Sequence[TakenTask]) -> None:
    known = {each.name for each in record.tasks}
    for each in taken:
        if each.name in known:
            raise UsageError(
                f"the set {record.set!r} has a task {each.name!r}",
                hint="a changed task needs a new name, and a tag `source:OLD-NAME`",
            )


def _assign(client: Client, record: SetRecord, taken: Sequence[TakenTask]) -> Mapping[str, Place]:
    others = [each for each in Sets(client).known() if each.set != record.set]
    elsewhere = {mark: place for each in others for mark, place in each.places.items()}
    for task in taken:
        for mark in task.sourced.marks:
            if mark in elsewhere and elsewhere[mark].side == "sealed":
                raise UsageError(
                    f"the task {task.name!r} belongs to another set",
                    hint="a task is sealed in one set, since each test of it spends alpha",
                )
    known = {mark: place for mark, place in elsewhere.items() if place.side == "open"}
    known |= _seen(client, taken)
    sourced, key = [each.sourced for each in taken], split_key(client.home)
    try:
        return assign({**known, **record.places}, sourced, key, record.bar.sealed)
    except SidesError as error:
        raise UsageError(str(error), where=f"set {record.set}") from error


def _seen(client: Client, taken: Sequence[TakenTask]) -> dict[str, Place]:
    """The places of tasks that were made of threads which a search has seen: they are open."""
    origins = Origins(client)
    seen = origins.seen()
    marks = [each.sourced.marks[0] for each in taken]
    return {
        mark: Place(side="open", unit=mark)
        for mark in marks
        if seen and seen & origins.marks(mark.removeprefix(SOURCE))
    }


def _set_task(task: TakenTask, places: Mapping[str, Place]) -> SetTask:
    place = place_of(places, task.sourced)
    return SetTask(
        name=task.name, side=place.side, unit=place.unit, origin=task.origin, digest=task.digest
    )


def _move(taken: Sequence[TakenTask], target: Path) -> None:
    target.mkdir(exist_ok=True)
    for each in taken:
        place = target / each.name
        shutil.rmtree(place, ignore_errors=True)  # of a call that was killed
        each.folder.rename(place)


def opened(record: SetRecord) -> dict[str, object]:
    """The changes that make all tasks of a set open."""
    return {
        "tasks": [replace(each, side="open") for each in record.tasks],
        "places": spend(record.places),
        "opened": len(record.tests),
    }
