"""The environments of a trial's agent, commands and judges; the agent's command line; the task's
setup and teardown, which run in the trial's folder.
"""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from uwf_core.api import Cancel, End, ProcessLimits, Program, ProgramResult, passed_on, run_program
from uwf_core.errors import AgentInterrupted, UwfError
from uwf_eval.judges.context import search_path
from uwf_eval.task.model import Task

_TAIL = 2000


class CommandError(UwfError):
    """A setup or teardown command failed."""

    code = "command"


def run_commands(
    commands: Sequence[str], seconds: float, cwd: Path, env: Mapping[str, str], cancel: Cancel
) -> None:
    """Run setup or teardown commands in order, each for `seconds` at most; processes that one
    leaves running are ended with it.

    Raises:
        CommandError: one failed or timed out; later ones do not run.
        AgentInterrupted: cancelled.
    """
    for command in commands:
        program = Program(argv=("/bin/sh", "-c", command), cwd=os.fspath(cwd), env=env)
        result = run_program(program, ProcessLimits(total_seconds=seconds), cancel=cancel)
        if result.end is End.CANCELLED:
            raise AgentInterrupted(cancel.reason or "interrupted")
        if result.end is not End.EXITED or result.exit_code != 0:
            raise CommandError(f"`{command}` {_how(result, seconds)}")


def _how(result: ProgramResult, seconds: float) -> str:
    how = f"was ended ({result.end.value})"
    if result.end is End.TIMED_OUT:
        how = f"took longer than {seconds:g} s"
    elif result.end is End.EXITED:
        how = f"ended with code {result.exit_code}"
    said = result.stderr.decode("utf-8", "replace").strip()[-_TAIL:]
    return how + (f": {said}" if said else "")


_HIDDEN: Final = ("UWF_STORE", "UWF_EVAL_TASK")


def agent_env(env: Mapping[str, str], task: Task) -> dict[str, str]:
    """The environment for agents: the caller's with the task's variables."""
    kept = {name: value for name, value in env.items() if name not in _HIDDEN}
    return {**kept, **_declared(task)}


def command_env(env: Mapping[str, str], task: Task) -> dict[str, str]:
    """The environment of setup and teardown: the variables that every program needs, and the
    task's.

    A teardown runs in a folder to which the agent could write, so `python3` is ours and does not
    import modules of that folder.
    """
    return {
        **passed_on(env, ()),
        "PATH": search_path(env, programs=Path(sys.executable).parent),
        "PYTHONSAFEPATH": "1",
        **_declared(task),
        "UWF_EVAL_TASK": str(task.folder),
    }


def _declared(task: Task) -> dict[str, str]:
    """The task's variables; a value that starts with `./` is a path in the task."""
    return {
        name: str(task.folder / value) if value and value.startswith("./") else value or ""
        for name, value in task.env.items()
    }


def judge_env(env: Mapping[str, str], store: str) -> dict[str, str]:
    """The environment of judges that are programs: the caller's, with the trial's store as the
    store of `uwf`, and without byte-code caches.
    """
    kept = {name: value for name, value in env.items() if name not in _HIDDEN}
    return {**kept, "UWF_STORE": store, "PYTHONDONTWRITEBYTECODE": "1"}


def agent_word(word: str | None, task: Task, cwd: Path) -> str | None:
    """The agent for the engine: the files of a command line get absolute paths, because a trial has
    its own folder.

    Args:
        word: of `--agent` or of the task. task: the base of relative paths in its own word.
        cwd: the base of relative paths in `--agent`.
    """
    if word is None or not ("/" in word or any(letter.isspace() for letter in word)):
        return word
    folder = task.folder if word == task.agent else cwd
    try:
        parts = shlex.split(word)
    except ValueError:  # the engine reports the error
        return word
    return shlex.join(_absolute(part, folder) for part in parts)


def _absolute(part: str, folder: Path) -> str:
    looks_like_a_path = "/" in part or "." in part
    file = folder / part
    return str(file) if looks_like_a_path and not part.startswith("-") and file.is_file() else part
