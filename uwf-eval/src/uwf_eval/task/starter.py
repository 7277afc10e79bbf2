"""A first task to begin with: it runs as it is, without a model and a key."""

from pathlib import Path
from typing import Final

from uwf_core.errors import UsageError
from uwf_eval.task.check import NAME, NAME_HINT
from uwf_eval.task.read import TASK_FILE
from uwf_eval.task.tree import CACHE, copy_tree

_TEMPLATE: Final = Path(__file__).with_name("templates") / "task"


def write_starter(folder: Path) -> None:
    """Write a task into a folder that is not there yet, or empty; its name is the task's.

    Raises:
        UsageError: the folder holds something, cannot be written, or its name is none for a task.
    """
    if not NAME.match(folder.name):
        raise UsageError(f"{folder.name!r} is not a valid task name", hint=NAME_HINT)
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(
                "the folder is not empty", where=str(folder), hint="choose another folder"
            )
        copy_tree(_TEMPLATE, folder, without=frozenset((CACHE,)))
        folder.chmod(0o755)
        file = folder / TASK_FILE
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("name: NAME", f"name: {folder.name}", 1), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write the task: {error.strerror}", where=str(folder)) from error
