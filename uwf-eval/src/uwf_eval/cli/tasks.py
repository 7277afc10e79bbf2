"""Commands about tasks: `new` and `check`."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from uwf_core.commands import Screen, Session, command, problem_lines, working_folder
from uwf_core.errors import ExitCode


@command("new", "uwf-eval new my-task", "uwf-eval new tasks/review")
@click.argument("task", metavar="TASK")
def new(session: Session, task: str) -> None:
    """Create an example task, without a model and a key. TASK is a new folder."""
    from uwf_eval.task.load import write_starter

    folder = Path(os.path.normpath(Path(working_folder(), task)))
    write_starter(folder)
    document = {
        "name": folder.name,
        "folder": str(folder),
        "hint": f"uwf-eval run {task} --repeat 3",
    }
    session.emit(document, lambda each, _: f"{each['folder']}\nnext: {each['hint']}")


@command("check", "uwf-eval check my-task", "uwf-eval check tasks/*")
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
def check(session: Session, tasks: tuple[str, ...]) -> int:
    """Validate tasks and report every error: folders, archives, installed ones."""
    from uwf_core.client import Client
    from uwf_eval.task.load import check_task, find_task

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


def _text(document: dict[str, object], screen: Screen) -> str:
    problems = document["problems"]
    assert isinstance(problems, list)
    lines = list(problem_lines(problems, screen))
    word = "valid" if document["valid"] else "invalid"
    return "\n".join([*lines, screen.status(word)])
