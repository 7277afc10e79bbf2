"""Take the tasks of a set: each case becomes a task, copied before any trial."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uwf_core.client import Client
from uwf_core.definitions import YamlMapping, load_file, to_value
from uwf_core.errors import UsageError
from uwf_eval.task.load import NOT_COPIED, find_task, take_task
from uwf_eval.task.model import Case, Task, fixture_digest
from uwf_eval.task.read import TASK_FILE
from uwf_eval.task.tree import copy_tree, digest_of_tree
from uwf_improve.gate.sides import SourcedTask

_KEY_BYTES: Final = 32
_SOURCE: Final = "source:"


@dataclass(frozen=True, kw_only=True)
class TakenTask:
    """A copied case: its name, its folder, its marks for the split, and where it came from."""

    name: str
    folder: Path
    sourced: SourcedTask
    origin: str
    digest: str


def take_tasks(client: Client, words: Sequence[str], cwd: Path, target: Path) -> list[TakenTask]:
    """Copy the cases of tasks into folders of `target`, one task of one case each.

    Raises:
        UsageError: unknown task, a name that occurs twice, or a recorded step as a case.
        DefinitionError: a task is not valid.
    """
    taken: dict[str, TakenTask] = {}
    for index, word in enumerate(words):
        whole = target / f".{index}"
        found = find_task(word, client, cwd)
        task = take_task(found, whole, client).require()
        for each in _cases(task, target, found.place):
            taken[each.name] = each
        shutil.rmtree(whole)
    return list(taken.values())


def _cases(task: Task, target: Path, place: str) -> Iterator[TakenTask]:
    for case in task.cases:
        if case.step is not None:
            raise UsageError(
                f"the case {case.name!r} of task {task.name!r} is a recorded step",
                hint="a sealed test runs whole threads; use such tasks for `uwf eval run`",
            )
        name = f"{task.name}.{case.name}" if len(task.cases) > 1 else task.name
        folder = target / name
        if folder.exists():
            raise UsageError(f"two tasks are called {name!r}", hint="give each its own name")
        copy_tree(task.folder, folder, without=NOT_COPIED)
        if len(task.cases) > 1:
            _keep_case(folder / TASK_FILE, case, name)
        yield TakenTask(
            name=name,
            folder=folder,
            sourced=SourcedTask(id=name, source=_source(task, name), digest=_content(task, case)),
            origin=place,
            digest=digest_of_tree(folder),
        )


def _keep_case(file: Path, case: Case, name: str) -> None:
    """Write the task with one of its cases. JSON is YAML."""
    node = load_file(str(file)).node
    assert isinstance(node, YamlMapping)
    value = to_value(node)
    value["cases"] = [each for each in value["cases"] if each["name"] == case.name]
    value["name"] = name
    file.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _source(task: Task, name: str) -> str:
    """What versions of a task share: its tag `source:…`, else its name."""
    tags = [each for each in task.tags if each.startswith(_SOURCE)]
    return tags[0].removeprefix(_SOURCE) if tags and len(task.cases) == 1 else name


def _content(task: Task, case: Case) -> str:
    """The same content under another name is the same task."""
    return json.dumps(
        [" ".join((case.prompt or "").split()), fixture_digest(task, case), case.input],
        sort_keys=True,
    )


def split_key(home: Path) -> bytes:
    """The secret key of the split, made when it is first needed.

    Raises:
        UsageError: it cannot be read or written.
    """
    file = home / "improve" / "key"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = file.with_name(f".key.{os.getpid()}")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(os.urandom(_KEY_BYTES))
        try:
            os.link(part, file)  # the first process wins
        except FileExistsError:
            pass
        finally:
            part.unlink()
        return file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot make the key of sealed tasks: {error.strerror}", where=str(file)
        ) from error
