"""Runs the task's setup and teardown commands in the trial's folder."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from uwf_core.api import Cancel, End, ProcessLimits, Program, run_program
from uwf_core.errors import AgentInterrupted, UwfError
from uwf_eval.task.model import Command

_TAIL = 2000


class CommandError(UwfError):
    """A setup or teardown command failed."""

    code = "command"


def run_commands(
    commands: Sequence[Command], cwd: Path, env: Mapping[str, str], cancel: Cancel
) -> None:
    """Run commands in order; processes that a command leaves running are ended with it.

    Raises:
        CommandError: one failed or timed out; later ones do not run.
        AgentInterrupted: cancelled.
    """
    for command in commands:
        program = Program(argv=("/bin/sh", "-c", command.text), cwd=os.fspath(cwd), env=env)
        result = run_program(program, ProcessLimits(total_seconds=command.timeout), cancel=cancel)
        if result.end is End.CANCELLED:
            raise AgentInterrupted(cancel.reason or "interrupted")
        if result.end is not End.EXITED or result.exit_code != 0:
            raise CommandError(_words(command, result.end, result.exit_code, result.stderr))


def _words(command: Command, end: End, exit_code: int, stderr: bytes) -> str:
    said = stderr.decode("utf-8", "replace").strip()[-_TAIL:]
    if end is End.TIMED_OUT:
        how = f"took longer than {command.timeout:g} s"
    elif end is End.EXITED:
        how = f"ended with code {exit_code}"
    else:
        how = f"was ended ({end.value})"
    return f"`{command.text}` {how}" + (f": {said}" if said else "")
