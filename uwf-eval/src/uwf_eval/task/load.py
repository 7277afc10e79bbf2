"""Find a task: a folder, a tar archive, or the name of an installed one; write a first one.

A run uses a copy that is made when it starts, so nobody who edits the task meanwhile, and no agent
that finds it, changes a trial. The first task runs as it is, without a model and a key.
"""

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from uwf_core.client import Client
from uwf_core.errors import UnknownIdError, UsageError
from uwf_eval.task.check import NAME, NAME_HINT
from uwf_eval.task.checked_file import Checked
from uwf_eval.task.model import Source, Task
from uwf_eval.task.read import TASK_FILE, Origin, read_task
from uwf_eval.task.tree import CACHE, copy_tree, digest_of_tree

GROUP: Final = "uwf.eval_tasks"
NOT_COPIED: Final = frozenset((CACHE,))


class Found(NamedTuple):
    """Where a task comes from: `place` is the folder or archive; for people and to load it again
    where it is a distribution's, its name.
    """

    source: Source
    place: str
    path: Path


def find_task(word: str, client: Client, cwd: Path) -> Found:
    """What the word of a task means.

    Args:
        word: a path (relative to `cwd`), or the name of an installed task.
        client: knows what is installed. cwd: the caller's folder.

    Raises:
        UsageError: blank, or nothing is there. PluginError: the name is claimed twice, …
    """
    if not word.strip():
        raise UsageError("the task name is blank", hint="name a folder, an archive or a task")
    path = Path(os.path.normpath(cwd / Path(word).expanduser()))
    if path.name == TASK_FILE and path.is_file():
        path = path.parent
    if path.is_dir():
        if not (path / TASK_FILE).is_file():
            raise UnknownIdError(
                f"the folder {word!r} contains no {TASK_FILE}",
                where=str(path),
                hint=f"`uwf eval new {word}` creates a task" if not any(path.iterdir()) else
                "type the folder that contains it",
            )  # fmt: skip
        return Found("folder", str(path), path)
    if path.is_file():
        return Found("archive", str(path), path)
    if "/" not in word and word in client.installation.names(GROUP):
        return Found("distribution", word, _package_folder(word, client))
    raise _unknown(word, client, path)


def _unknown(word: str, client: Client, path: Path) -> UnknownIdError:
    from difflib import get_close_matches

    names = client.installation.names(GROUP)
    beside = (
        [each.name for each in path.parent.iterdir() if each != path]
        if path.parent.is_dir()
        else []
    )
    near = get_close_matches(Path(word).name, [*names, *beside], 2, 0.6)
    usual = "a task is a folder with a task.yaml, a tar archive, or an installed task"
    installed = f" ({', '.join(names)})" if names else ""
    return UnknownIdError(
        f"unknown task {word!r}",
        where=str(path),
        hint=f"did you mean {' or '.join(near)}?" if near else usual + installed,
    )


def _package_folder(name: str, client: Client) -> Path:
    """The folder of the package that an installed task points to; nothing of it is imported
    save the packages above it.
    """
    target = client.installation.entry_point(GROUP, name).partition(":")[0]
    try:
        spec = find_spec(target)
    except (ImportError, ValueError) as error:
        raise UsageError(
            f"the package {target} of task {name!r} cannot be found: {error}",
            hint="reinstall its distribution",
        ) from error
    places = list(spec.submodule_search_locations or ()) if spec else []
    for place in places:
        if Path(place, TASK_FILE).is_file():
            return Path(place)
    raise UsageError(
        f"the package {target} of task {name!r} contains no {TASK_FILE}",
        hint="report it to the author of the distribution",
    )


def take_task(
    found: Found, target: Path, client: Client, edit: Callable[[Path], None] | None = None
) -> Checked[Task]:
    """Copy a task into a new folder, `edit` the copy, and read it there; `client` is as in
    `read_task`.

    Raises:
        TreeError: it cannot be copied, or is an archive that is refused.
        OSError: the copy cannot be written.
    """
    if found.source == "archive":
        from uwf_eval.task.archive import unpack

        unpack(found.path, target)
        target = task_top(target, found.place)
    else:
        copy_tree(found.path, target, without=NOT_COPIED)
    if edit is not None:
        edit(target)
    checked = read_task(Origin(target, found.source, found.place, digest_of_tree(target)), client)
    problems = (
        each._replace(file=each.file.replace(str(target), str(found.path), 1))
        for each in checked.problems
    )
    return checked._replace(problems=tuple(problems))  # of the user's files, not of the copy


def check_task(found: Found, scratch: Path, client: Client) -> Checked[Task]:
    """All that is wrong with a task; a folder is looked at where it is.

    Raises:
        TreeError, OSError: as `take_task`.
    """
    if found.source == "archive":
        return take_task(found, scratch, client)
    return read_task(Origin(found.path, found.source, found.place, ""), client)


def task_top(folder: Path, place: str) -> Path:
    """The folder of a copied or unpacked task that holds it: its top, or the only one in it.

    Raises:
        UsageError: neither does; `place` is where it came from.
    """
    inner = [each for each in folder.iterdir() if each.is_dir()]
    if not (folder / TASK_FILE).is_file() and len(inner) == 1:
        folder = inner[0]
    if not (folder / TASK_FILE).is_file():
        raise UsageError(
            f"the archive contains no {TASK_FILE} at its top level",
            where=place,
            hint="pack the task's folder: tar -czf task.tar.gz -C TASK .",
        )
    return folder


def check_new(folder: Path) -> None:
    """Check that a task can be created in a folder.

    Raises:
        UsageError: the folder holds something, or its name is none for a task.
    """
    if not NAME.match(folder.name):
        raise UsageError(f"{folder.name!r} is not a valid task name", hint=NAME_HINT)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError("the folder is not empty", where=str(folder), hint="choose another folder")


_TEMPLATE: Final = Path(__file__).with_name("templates") / "task"


def write_starter(folder: Path) -> None:
    """Write a task into a folder that is not there yet, or empty; its name is the task's.

    Raises:
        UsageError: as `check_new`, or the folder cannot be written.
    """
    check_new(folder)
    try:
        copy_tree(_TEMPLATE, folder, without=NOT_COPIED)
        folder.chmod(0o755)
        file = folder / TASK_FILE
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("name: NAME", f"name: {folder.name}", 1), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write the task: {error.strerror}", where=str(folder)) from error
