"""`uwf eval check`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from uwf_core.client import Client
from uwf_core.commands import Screen, Session, problem_lines, working_folder
from uwf_core.errors import ExitCode
from uwf_eval.task.load import check_task, find_task


def check(session: Session, tasks: Sequence[str]) -> int:
    """Print every error of the tasks."""
    cwd = Path(working_folder())
    problems = []
    with Client.open(env=session.env, cwd=cwd) as client, TemporaryDirectory() as scratch:
        for index, word in enumerate(tasks):
            found = find_task(word, client, cwd)
            checked = check_task(found, Path(scratch, str(index)), client)
            problems += [each.document() for each in checked.problems]
    valid = not any(each["severity"] == "error" for each in problems)
    session.emit({"valid": valid, "problems": problems}, _text)
    return ExitCode.DONE if valid else ExitCode.INVALID


def _text(document: Mapping[str, Any], screen: Screen) -> str:
    word = "valid" if document["valid"] else "invalid"
    return "\n".join([*problem_lines(document["problems"], screen), screen.status(word)])
