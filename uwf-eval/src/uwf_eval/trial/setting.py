"""What a trial's agent, commands and judges are given to work with: words and environments. Pure,
but for looking whether a file is there.
"""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from uwf_core.api import passed_on
from uwf_eval.judges.context import search_path
from uwf_eval.task.model import Task

_HIDDEN: Final = ("UWF_STORE", "UWF_EVAL_TASK")


def agent_env(env: Mapping[str, str], task: Task) -> dict[str, str]:
    """The environment that agents get theirs from: the caller's, with the task's own variables."""
    kept = {name: value for name, value in env.items() if name not in _HIDDEN}
    return {**kept, **_declared(task)}


def command_env(env: Mapping[str, str], task: Task) -> dict[str, str]:
    """The environment of setup and teardown: the usual variables and the task's own. A teardown
    runs where the agent could write, so that no `python3` imports a module of that folder.
    """
    return {
        **passed_on(env, ()),
        "PATH": search_path(env, programs=Path(sys.executable).parent),
        "PYTHONSAFEPATH": "1",
        **_declared(task),
        "UWF_EVAL_TASK": str(task.folder),
    }


def _declared(task: Task) -> dict[str, str]:
    """The task's own variables; a value that begins with `./` is a path within the task."""
    return {
        name: str(task.folder / value) if value.startswith("./") else value
        for name, value in task.env.items()
    }


def judge_env(env: Mapping[str, str], store: str) -> dict[str, str]:
    """The environment of judges that are programs: the caller's, with the trial's store as the
    one that `uwf` uses. Python leaves no caches beside them.
    """
    kept = {name: value for name, value in env.items() if name not in _HIDDEN}
    return {**kept, "UWF_STORE": store, "PYTHONDONTWRITEBYTECODE": "1"}


def agent_word(word: str | None, task: Task, cwd: Path) -> str | None:
    """The word of an agent as the engine takes it: in a command line, what names a file is that
    file's absolute path, since a trial has a folder of its own.

    Args:
        word: as `--agent` or the task says it. task: whose word it may be.
        cwd: what paths in the words of `--agent` are relative to.
    """
    if word is None or not ("/" in word or any(letter.isspace() for letter in word)):
        return word
    folder = task.folder if word == task.agent else cwd
    try:
        parts = shlex.split(word)
    except ValueError:  # the engine says what is wrong with it
        return word
    return shlex.join(_absolute(part, folder) for part in parts)


def _absolute(part: str, folder: Path) -> str:
    looks_like_a_path = "/" in part or "." in part
    file = folder / part
    return str(file) if looks_like_a_path and not part.startswith("-") and file.is_file() else part
