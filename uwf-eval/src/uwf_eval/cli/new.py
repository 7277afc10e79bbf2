"""`uwf-eval new`."""

import os
from pathlib import Path

import click

from uwf_core.commands import Session, command, working_folder


@command("new", "uwf-eval new my-task", "uwf-eval new tasks/review")
@click.argument("task", metavar="TASK")
def new(session: Session, task: str) -> None:
    """Write a task that runs as it is, without a model and a key. TASK is a new folder."""
    from uwf_eval.task.starter import write_starter

    folder = Path(os.path.normpath(Path(working_folder(), task)))
    write_starter(folder)
    document = {
        "name": folder.name,
        "folder": str(folder),
        "hint": f"uwf-eval run {task} --repeat 3",
    }
    session.emit(document, lambda each, _: f"{each['folder']}\ngo on: {each['hint']}")
